import type { Instant } from '#src/domain/instant.ts';

export interface Clock {
  now(): Instant;
}

/** A clock that goes by another one, and knows when it cannot be relied on. */
export interface MeasuredClock extends Clock {
  /** False until it was measured, while measurements contradict each other, and when the last is too long ago. */
  readonly isSure: boolean;
  /** How long it has gone on without having been set; Infinity if it never was. */
  readonly steadyMs: number;
  /** Measures it now. Never rejects: when that fails, it stays as sure as it was. */
  measure(): Promise<void>;
  /** By how much it is ahead of the clock of this machine. */
  readonly offsetMs: number;
}
