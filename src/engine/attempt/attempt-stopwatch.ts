/** Measures the steps of an attempt, by the clock that dated the attempt. */
import type { AttemptTiming } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/system.ts';

export class AttemptStopwatch {
  readonly #clock: Clock;
  readonly #firedAt: Instant;
  readonly #claimedMs: number;
  #connectedMs: number | null = null;
  #wasConnected = false;

  /** Starts when the claim is stored and the request is about to be sent. */
  constructor(clock: Clock, firedAt: Instant, now: Instant) {
    this.#clock = clock;
    this.#firedAt = firedAt;
    this.#claimedMs = this.#since(now);
  }

  /** `wasOpen` is true only for a connection that the request did not wait for. */
  connected(wasOpen: boolean): void {
    this.#connectedMs = this.#since(this.#clock.now());
    this.#wasConnected = wasOpen;
  }

  /** An answered attempt ends with the first byte of the answer, so the answer's body does not count. */
  timing(endedAt: Instant, isAnswered: boolean): AttemptTiming {
    return {
      claimedMs: this.#claimedMs,
      connectedMs: this.#connectedMs,
      firstByteMs: isAnswered ? this.#since(endedAt) : null,
      wasConnected: this.#wasConnected,
    };
  }

  /** The clock may be set back meanwhile, so the result is never negative. */
  #since(at: Instant): number {
    return Math.max(at - this.#firedAt, 0);
  }
}
