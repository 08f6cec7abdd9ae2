/**
 * Whether an origin keeps its connections after an answer.
 *
 * Some servers close each connection a moment after the answer and do not say so. A request that is sent
 * within that moment is lost, and nobody can tell whether it was heard. So a lane that was just answered is
 * passed straight on only where the origin has shown that it keeps them: one has served twice, or one that
 * has served stayed open for a while. One that breaks when it is used again ends the trust. A lane that has
 * not served yet shows nothing, however long it stays open: such servers wait for the first request.
 */
import type { Timers } from '#src/ports/timers.ts';

/** Servers that close without saying so do it within a few milliseconds. */
export const TRIAL_MS = 50;

export class Trust<Lane extends object> {
  readonly #timers: Timers;
  readonly #onGiven: () => void;
  readonly #served = new WeakSet<Lane>();
  #isGiven = false;
  #onTrial: Lane | null = null;
  #callOffTrial: (() => void) | null = null;

  constructor(timers: Timers, onGiven: () => void) {
    this.#timers = timers;
    this.#onGiven = onGiven;
  }

  /** Whether it may be used this very moment. */
  covers(lane: Lane): boolean {
    return this.#isGiven || !this.#served.has(lane);
  }

  answered(lane: Lane): void {
    if (this.#served.has(lane)) this.#give();
    else this.#served.add(lane);
  }

  /** It is idle from now on. */
  rests(lane: Lane): void {
    if (this.#isGiven || this.#onTrial !== null || !this.#served.has(lane)) return;
    this.#onTrial = lane;
    this.#callOffTrial = this.#timers.after(TRIAL_MS, () => this.#give());
  }

  /** It is no longer idle: in use, or closed. */
  leaves(lane: Lane): void {
    if (this.#onTrial === lane) this.#endTrial();
  }

  /** It ended before there was an answer. */
  broke(lane: Lane): void {
    if (this.#served.has(lane)) this.#isGiven = false;
  }

  #give(): void {
    this.#endTrial();
    if (this.#isGiven) return;
    this.#isGiven = true;
    this.#onGiven();
  }

  #endTrial(): void {
    this.#callOffTrial?.();
    this.#callOffTrial = null;
    this.#onTrial = null;
  }
}
