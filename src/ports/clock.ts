import type { Instant } from '#src/domain/instant.ts';

export interface Clock {
  now(): Instant;
}

/** A clock that goes by another one, and knows when it cannot be relied on. */
export interface MeasuredClock extends Clock {
  /** False until it was measured, while measurements contradict each other, and when the last is too long ago. */
  readonly isSure: boolean;
  /** By how much it is ahead of the clock of this machine. */
  readonly offsetMs: number;
}
