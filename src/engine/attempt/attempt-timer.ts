/** How far an attempt has come, and when: measured by the clock that its attempt was dated with. */
import type { AttemptTiming } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/clock.ts';

export class AttemptTimer {
  readonly #clock: Clock;
  readonly #firedAt: Instant;
  readonly #claimedMs: number;
  #connectedMs: number | null = null;
  #wasConnected = false;

  /** Its claim is stored, and it is about to be sent. */
  constructor(clock: Clock, firedAt: Instant, now: Instant) {
    this.#clock = clock;
    this.#firedAt = firedAt;
    this.#claimedMs = this.#since(now);
  }

  /** Only a connection that the request had not to wait for is one that was there before. */
  connected(wasOpen: boolean): void {
    this.#connectedMs = this.#since(this.#clock.now());
    this.#wasConnected = wasOpen;
  }

  /** An attempt that is answered ends with the first byte of the answer: its body is not waited for. */
  timing(endedAt: Instant, isAnswered: boolean): AttemptTiming {
    return {
      claimedMs: this.#claimedMs,
      connectedMs: this.#connectedMs,
      firstByteMs: isAnswered ? this.#since(endedAt) : null,
      wasConnected: this.#wasConnected,
    };
  }

  /** A clock may be set back meanwhile. */
  #since(at: Instant): number {
    return Math.max(at - this.#firedAt, 0);
  }
}
