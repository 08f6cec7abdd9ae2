/**
 * The deliveries that `sched tail` watches, and when it checks each of them next. Their number is bounded. Beyond
 * the bound, the deliveries that are due last are dropped, and the scans of `tail.ts` find them again.
 *
 * Paused deliveries are watched too, although their next attempt has no known time. A delivery that is resumed after its
 * instant fires at once, and may end before a list shows it again. The scans notice that it was resumed: one of
 * them meets it with another status, or none of them meets it.
 */
import type { Delivery } from '#sdk/index.ts';
import { parseInstant } from '#src/domain/instant.ts';

export const WATCHED_MAX = 10_000;
const RECHECK_MS = 1_000;
const RECHECK_MS_MAX = 30_000;
const UNKNOWN_MS = Number.MAX_SAFE_INTEGER;

export interface Watched {
  readonly id: string;
  /** The number of the last attempt that was reported. */
  readonly attemptsReported: number;
  readonly checkAtMs: number;
  /** The last time that a list or a check showed the delivery. */
  readonly seenMs: number;
  /**
   * The number of checks in a row that found the delivery waiting although it was due. Either clocks differ, or the
   * delivery is deferred.
   */
  readonly idleChecks: number;
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
   * Takes in a delivery from a list. A new one is watched, and its attempts up to `attemptsReported` are not
   * reported. A known one is checked at once if it has new attempts. Otherwise it is checked at the instant of its
   * next attempt, which may have been moved, even into the past.
   */
  observe(delivery: Delivery, attemptsReported: number, nowMs: number): void {
    const known = this.#byId.get(delivery.id);
    const dueMs = dueOf(delivery, nowMs);
    if (known === undefined) {
      this.#set({ id: delivery.id, attemptsReported, checkAtMs: dueMs, seenMs: nowMs, idleChecks: 0 });
      return;
    }
    const hasNewAttempts = delivery.attempt_count > known.attemptsReported;
    const isDelayed = dueMs <= nowMs && known.idleChecks > 0;
    const nextMs = isDelayed ? known.checkAtMs : dueMs;
    const idleChecks = isDelayed ? known.idleChecks : 0;
    this.#set({ ...known, checkAtMs: hasNewAttempts ? nowMs : nextMs, seenMs: nowMs, idleChecks });
  }

  /** Records a check: the attempts reported so far, and the delivery as it was read. */
  recordCheck(delivery: Delivery, attemptsReported: number, nowMs: number): void {
    if (isEnded(delivery)) {
      this.#byId.delete(delivery.id);
      return;
    }
    const dueMs = dueOf(delivery, nowMs);
    const known = this.#byId.get(delivery.id);
    const isIdle =
      dueMs <= nowMs && delivery.status !== 'claimed' && known?.attemptsReported === attemptsReported;
    const idleChecks = isIdle ? (known?.idleChecks ?? 0) + 1 : 0;
    const pauseMs = isIdle ? Math.min(RECHECK_MS * 2 ** (idleChecks - 1), RECHECK_MS_MAX) : 0;
    const checkAtMs = Math.max(dueMs, nowMs + pauseMs);
    this.#set({ id: delivery.id, attemptsReported, checkAtMs, seenMs: nowMs, idleChecks });
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }

  /** A delivery that no list has shown since `sinceMs` no longer waits: it was canceled, or claimed early. */
  checkUnseen(sinceMs: number, nowMs: number): void {
    for (const watched of this.#byId.values()) {
      if (watched.seenMs < sinceMs && watched.checkAtMs > nowMs) this.#set({ ...watched, checkAtMs: nowMs });
    }
  }

  /** Returns the deliveries to check now, the longest overdue first. */
  due(nowMs: number, max: number): readonly Watched[] {
    return [...this.#byId.values()]
      .filter(({ checkAtMs }) => checkAtMs <= nowMs)
      .sort((a, b) => a.checkAtMs - b.checkAtMs)
      .slice(0, max);
  }

  /** Drops the deliveries that are due last. Returns whether there were any to drop. */
  trim(): boolean {
    const surplus = this.#byId.size - WATCHED_MAX;
    if (surplus <= 0) return false;
    const last = [...this.#byId.values()].sort((a, b) => b.checkAtMs - a.checkAtMs).slice(0, surplus);
    for (const { id } of last) this.#byId.delete(id);
    return true;
  }

  #set(watched: Watched): void {
    this.#byId.set(watched.id, watched);
  }
}

/** When to check the delivery next. */
function dueOf(delivery: Delivery, nowMs: number): number {
  if (delivery.status === 'paused') return UNKNOWN_MS;
  return parseInstant(delivery.next_fire_at ?? '') ?? nowMs;
}
