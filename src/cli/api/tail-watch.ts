/**
 * The deliveries that `sched tail` keeps an eye on, and when to look at each again. Never more than a fixed
 * number: beyond it, those that are due last are let go (and found again by the rolling walk, see `tail.ts`).
 *
 * A paused one is kept too, though nobody knows when it is due: resumed after its instant, it fires at once, and
 * may be over before a list shows it again. That it is paused no more, the walks say: one of them meets it as
 * something else, or none of them meets it.
 */
import type { Delivery } from '#sdk/index.ts';
import { parseInstant } from '#src/domain/instant.ts';

export const WATCHED_MAX = 10_000;
const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_MS_MAX = 30_000;
const NOBODY_KNOWS_MS = Number.MAX_SAFE_INTEGER;

export interface Watched {
  readonly id: string;
  /** AttemptRunner up to this one have been told. */
  readonly attemptsTold: number;
  readonly lookAtMs: number;
  /** When a list or a look last showed it. */
  readonly seenMs: number;
  /** How many looks in a row found it waiting though it was due: clocks differ, or it is held up. */
  readonly idleLooks: number;
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'dead_letter', 'expired', 'canceled']);

export function isEnded({ status }: Delivery): boolean {
  return ENDED.has(status);
}

export class Watch {
  readonly #byId = new Map<string, Watched>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Watched | undefined {
    return this.#byId.get(id);
  }

  /**
   * A delivery seen in a list. Of a new one, attempts up to `attemptsTold` are none of ours. A known one is looked at
   * when it has been tried, and else at the instant of its next attempt, which may have been moved: to what has
   * passed by now, too.
   */
  notice(delivery: Delivery, attemptsTold: number, nowMs: number): void {
    const known = this.#byId.get(delivery.id);
    const dueMs = dueOf(delivery, nowMs);
    if (known === undefined) {
      this.#set({ id: delivery.id, attemptsTold, lookAtMs: dueMs, seenMs: nowMs, idleLooks: 0 });
      return;
    }
    const isTried = delivery.attempt_count > known.attemptsTold;
    const isHeldUp = dueMs <= nowMs && known.idleLooks > 0;
    const movedMs = isHeldUp ? known.lookAtMs : dueMs;
    const idleLooks = isHeldUp ? known.idleLooks : 0;
    this.#set({ ...known, lookAtMs: isTried ? nowMs : movedMs, seenMs: nowMs, idleLooks });
  }

  /** After a look at it: what is told by now, and what it was found as. */
  looked(delivery: Delivery, attemptsTold: number, nowMs: number): void {
    if (isEnded(delivery)) {
      this.#byId.delete(delivery.id);
      return;
    }
    const dueMs = dueOf(delivery, nowMs);
    const known = this.#byId.get(delivery.id);
    const isIdle = dueMs <= nowMs && delivery.status !== 'claimed' && known?.attemptsTold === attemptsTold;
    const idleLooks = isIdle ? (known?.idleLooks ?? 0) + 1 : 0;
    const pauseMs = isIdle ? Math.min(LOOK_AGAIN_MS * 2 ** (idleLooks - 1), LOOK_AGAIN_MS_MAX) : 0;
    const lookAtMs = Math.max(dueMs, nowMs + pauseMs);
    this.#set({ id: delivery.id, attemptsTold, lookAtMs, seenMs: nowMs, idleLooks });
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }

  /** What no list has shown since then does not wait any more: it was canceled, or claimed early. */
  lookAtUnseen(sinceMs: number, nowMs: number): void {
    for (const watched of this.#byId.values()) {
      if (watched.seenMs < sinceMs && watched.lookAtMs > nowMs) this.#set({ ...watched, lookAtMs: nowMs });
    }
  }

  /** Those to look at now, the longest overdue first. */
  due(nowMs: number, max: number): readonly Watched[] {
    return [...this.#byId.values()]
      .filter(({ lookAtMs }) => lookAtMs <= nowMs)
      .sort((a, b) => a.lookAtMs - b.lookAtMs)
      .slice(0, max);
  }

  /** Lets go of those due last; whether there were any. */
  trim(): boolean {
    const surplus = this.#byId.size - WATCHED_MAX;
    if (surplus <= 0) return false;
    const last = [...this.#byId.values()].sort((a, b) => b.lookAtMs - a.lookAtMs).slice(0, surplus);
    for (const { id } of last) this.#byId.delete(id);
    return true;
  }

  #set(watched: Watched): void {
    this.#byId.set(watched.id, watched);
  }
}

/** When to look at it. */
function dueOf(delivery: Delivery, nowMs: number): number {
  if (delivery.status === 'paused') return NOBODY_KNOWS_MS;
  return parseInstant(delivery.next_fire_at ?? '') ?? nowMs;
}
