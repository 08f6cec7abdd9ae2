/**
 * Time that passes only from event to event. As in a real machine there are two clocks: timers follow the
 * monotonic one, and the wall clock may be set. Planned events wait in one queue, ordered by instant and then
 * by the order of planning. A run therefore does not depend on the machine.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import { Heap } from '#src/engine/queue/heap.ts';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { Prng } from '#test/fuzz/prng.ts';

/**
 * `timer` is a timer of the engine. `work` is a call that the disk or the network will answer. `script` is
 * planned by the simulation.
 */
export type EventKind = 'timer' | 'work' | 'script';

export type Act = () => void | Promise<void>;

interface PlannedEvent {
  at: number;
  sequence: number;
  readonly kind: EventKind;
  readonly scope: Scope;
  readonly act: Act;
  isCanceled: boolean;
}

/** A group of events, such as those of one process. When the scope ends, its events are canceled. */
export class Scope {
  readonly planned = new Set<PlannedEvent>();
  readonly counts: Record<EventKind, number> = { timer: 0, work: 0, script: 0 };
  hasEnded = false;
  /** Events that fell due while the scope was paused, in order. Null while it is not paused. */
  heldEvents: PlannedEvent[] | null = null;

  /** From now on none of its events run. */
  pause(): void {
    this.heldEvents ??= [];
  }

  end(): void {
    this.hasEnded = true;
    for (const event of this.planned) event.isCanceled = true;
    this.planned.clear();
    this.counts.timer = 0;
    this.counts.work = 0;
    this.counts.script = 0;
  }
}

export class VirtualTime implements Clock {
  readonly #events = new Heap<PlannedEvent>((a, b) => a.at - b.at || a.sequence - b.sequence);
  #elapsedMs = 0;
  #offsetMs: number;
  #sequence = 0;

  constructor(start: number) {
    this.#offsetMs = start;
  }

  /** The time of the wall clock. */
  now(): Instant {
    return instant(this.#elapsedMs + this.#offsetMs);
  }

  /** Monotonic time since the start of the simulation. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** The elapsed time at which the wall clock will show `at`, unless it is set. */
  elapsedAt(at: Instant): number {
    return at - this.#offsetMs;
  }

  setClock(byMs: number): void {
    this.#offsetMs += byMs;
  }

  after(ms: number, kind: EventKind, scope: Scope, act: Act): () => void {
    if (scope.hasEnded) return () => {};
    const at = this.#elapsedMs + Math.max(Math.ceil(ms), 0);
    const event: PlannedEvent = { at, sequence: this.#sequence++, kind, scope, act, isCanceled: false };
    this.#events.push(event);
    scope.planned.add(event);
    scope.counts[kind]++;
    return () => {
      if (event.isCanceled) return;
      event.isCanceled = true;
      scope.planned.delete(event);
      scope.counts[kind]--;
    };
  }

  /** Continues a paused scope. The events that it missed run now, one after the other. */
  resume(scope: Scope): void {
    const { heldEvents } = scope;
    scope.heldEvents = null;
    for (const event of heldEvents ?? []) {
      if (event.isCanceled) continue;
      event.at = this.#elapsedMs;
      event.sequence = this.#sequence++;
      this.#events.push(event);
    }
  }

  /** The elapsed time of the next event, or null when none is planned. */
  nextAt(): number | null {
    for (;;) {
      const next = this.#events.peek();
      if (next === undefined) return null;
      if (!next.isCanceled && next.scope.heldEvents === null) return next.at;
      if (!next.isCanceled) next.scope.heldEvents?.push(next);
      this.#events.pop();
    }
  }

  /** Removes the next event and advances the time to it. */
  next(): { readonly kind: EventKind; readonly act: Act } | null {
    if (this.nextAt() === null) return null;
    const event = this.#events.pop();
    if (event === undefined) return null;
    event.isCanceled = true;
    event.scope.planned.delete(event);
    event.scope.counts[event.kind]--;
    this.#elapsedMs = Math.max(this.#elapsedMs, event.at);
    return event;
  }

  /** Advances the time as if the machine slept. Events planned meanwhile run on waking. */
  sleepUntil(elapsedMs: number): void {
    this.#elapsedMs = Math.max(this.#elapsedMs, Math.floor(elapsedMs));
  }

  /** The elapsed time of the scope's first event that the simulation planned. */
  nextScript(scope: Scope): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { kind, at } of scope.planned) if (kind === 'script' && at < first) first = at;
    return first;
  }
}

/** Timers that fire a little late, and now and then later. */
export function lateTimers(time: VirtualTime, prng: Prng, scope: Scope): Timers & Stopwatch {
  return {
    after: (ms, act) => {
      const late = prng.chance(0.98) ? prng.int(2) : prng.int(30);
      return time.after(ms + late, 'timer', scope, act);
    },
    elapsed: () => time.elapsedMs,
  };
}

/**
 * Runs every callback that is ready. The engine awaits only virtual operations, so none is left afterwards.
 */
export function drainCallbacks(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
