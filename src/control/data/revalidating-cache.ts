/**
 * Answers that take work are worked out once for all who ask within a moment, the longer the more work they are. While
 * one that takes long is worked out anew, the one before it is given: a page that is open does not wait.
 */
import type { Stopwatch } from '#src/ports/system.ts';

const KEPT_MS = 500;
/** So many times as long as it took: no more than a small share of the time goes into it. */
const KEPT_RATIO = 50;
/** What takes longer than this is not waited for when there is an older answer. */
const WAITED_FOR_MS = 50;
/** One that nobody asked for in so many times as long as it is kept is too old to be given. */
const OUTDATED_AFTER = 3;
const ANSWERS_MAX = 64;

interface Kept<T> {
  readonly answer: T;
  readonly askedAt: number;
  readonly tookMs: number;
  /** What it takes at any time, by which it is kept. */
  readonly paceMs: number;
}

export class RevalidatingCache<T> {
  readonly #stopwatch: Stopwatch;
  /** In the order they were asked for. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #underWay = new Map<string, Promise<T>>();

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch;
  }

  async get(name: string, work: () => Promise<T>): Promise<T> {
    const now = this.#stopwatch.elapsed();
    const known = this.#kept.get(name);
    const ageMs = known === undefined ? Infinity : now - known.askedAt;
    const keptMs = Math.max(KEPT_MS, KEPT_RATIO * (known?.paceMs ?? 0));
    if (known !== undefined && ageMs < keptMs) return known.answer;
    const renewed = this.#underWay.get(name) ?? this.#renew(name, work, now);
    const isGoodEnough =
      known !== undefined && known.tookMs > WAITED_FOR_MS && ageMs < OUTDATED_AFTER * keptMs;
    if (!isGoodEnough) return renewed;
    // Whoever asks next is told of it, if it fails again.
    renewed.catch(() => {});
    return known.answer;
  }

  async #renew(name: string, work: () => Promise<T>, askedAt: number): Promise<T> {
    const answer = work();
    this.#underWay.set(name, answer);
    try {
      // One that took long, such as the first of all, says little; two in a row do.
      const given = await answer;
      const tookMs = this.#stopwatch.elapsed() - askedAt;
      this.#keep(name, {
        answer: given,
        askedAt,
        tookMs,
        paceMs: Math.min(tookMs, this.#kept.get(name)?.tookMs ?? 0),
      });
      return await answer;
    } finally {
      this.#underWay.delete(name);
    }
  }

  #keep(name: string, kept: Kept<T>): void {
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > ANSWERS_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}
