/**
 * Time that passes only when it is told to. Two clocks, as in a real machine: the monotonic one that timers
 * follow, and the wall clock, which somebody may set. What is to happen waits in one queue, ordered by instant
 * and then by the order it was asked for: nothing depends on the machine the simulation runs on.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import { Heap } from '#src/engine/queue/heap.ts';
import type { Clock } from '#src/ports/system.ts';

/**
 * `timer`: a timer of the engine. `work`: the disk or the network is at it, and will answer. `script`: what the
 * simulation has planned.
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

/** Whose events they are: when it ends, none of them happens any more. */
export class Scope {
  readonly planned = new Set<PlannedEvent>();
  readonly counts: Record<EventKind, number> = { timer: 0, work: 0, script: 0 };
  hasEnded = false;
  /** What would have happened while it stood still, in its order; null while it does not. */
  heldEvents: PlannedEvent[] | null = null;

  /** From now on nothing of it happens. */
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

  /** What the wall clock shows. */
  now(): Instant {
    return instant(this.#elapsedMs + this.#offsetMs);
  }

  /** Monotonic, from the start of the simulation. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** When the wall clock will show `at`, if nobody sets it. */
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

  /** It goes on where it was: what should have happened meanwhile happens now, one after the other. */
  resume(scope: Scope): void {
    const { heldEvents: late } = scope;
    scope.heldEvents = null;
    for (const event of late ?? []) {
      if (event.isCanceled) continue;
      event.at = this.#elapsedMs;
      event.sequence = this.#sequence++;
      this.#events.push(event);
    }
  }

  /** When the next event happens; null when nothing is planned. */
  nextAt(): number | null {
    for (;;) {
      const next = this.#events.peek();
      if (next === undefined) return null;
      if (!next.isCanceled && next.scope.heldEvents === null) return next.at;
      if (!next.isCanceled) next.scope.heldEvents?.push(next);
      this.#events.pop();
    }
  }

  /** Takes the next event out, and lets time pass until then. */
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

  /** The machine slept until then: what was planned meanwhile happens on waking. */
  sleepUntil(elapsedMs: number): void {
    this.#elapsedMs = Math.max(this.#elapsedMs, Math.floor(elapsedMs));
  }

  /** The first event the simulation has planned, of any scope given. */
  nextScript(scope: Scope): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { kind, at } of scope.planned) if (kind === 'script' && at < first) first = at;
    return first;
  }
}

/** Everything that has become runnable runs: whatever the engine awaits is virtual, so nothing is left after. */
export function drainCallbacks(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
