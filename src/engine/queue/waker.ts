/**
 * Wakes the dispatcher at the instant of the next delivery, and whenever more deliveries may go.
 *
 * Timers are monotonic and the dispatcher reads the clock again on waking. A clock that is set back or ahead therefore
 * sends nothing early and loses nothing.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';

/** No timer sleeps longer than this, because the clock may be set. */
const SLEEP_MS_MAX = 60_000;

export class Waker {
  readonly #dependencies: Pick<EngineDependencies, 'clock' | 'timers'>;
  /** Null before the start and after the stop. */
  #wake: (() => void) | null = null;
  #isWakingSoon = false;
  #wakeAt: Instant | null = null;
  #cancelTimer: () => void = () => {};

  constructor(dependencies: Pick<EngineDependencies, 'clock' | 'timers'>) {
    this.#dependencies = dependencies;
  }

  start(wake: () => void): void {
    this.#wake = wake;
  }

  stop(): void {
    this.#wake = null;
    this.#cancelTimer();
  }

  /** Wakes once after the current task, no matter how often it is called. */
  soon(): void {
    if (this.#isWakingSoon || this.#wake === null) return;
    this.#isWakingSoon = true;
    queueMicrotask(() => {
      this.#isWakingSoon = false;
      this.#wake?.();
    });
  }

  /** Wakes at this instant at the latest. */
  noLaterThan(at: Instant): void {
    if (at <= this.#dependencies.clock.now()) this.soon();
    else if (this.#wakeAt === null || at < this.#wakeAt) this.sleepUntil(at);
  }

  /** Replaces the instant of the timer; null means that nothing is known to come. */
  sleepUntil(at: Instant | null): void {
    this.#cancelTimer();
    this.#wakeAt = at;
    if (at === null || this.#wake === null) return;
    const { clock, timers } = this.#dependencies;
    const ms = Math.min(Math.max(at - clock.now(), 0), SLEEP_MS_MAX);
    this.#cancelTimer = timers.after(ms, () => this.#wake?.());
  }
}
