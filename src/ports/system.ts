import type { Instant } from '#src/domain/instant.ts';

export interface Clock {
  now(): Instant;
}

/** A clock that goes by another one, and knows when it cannot be relied on. */
export interface MeasuredClock extends Clock {
  /** False until it was measured, while measurements contradict each other, and when the last is too long ago. */
  readonly isSynchronized: boolean;
  /** How long it has gone on without having been set; Infinity if it never was. */
  readonly sinceStepMs: number;
  /** Measures it now. Never rejects: when that fails, it stays as sure as it was. */
  measure(): Promise<void>;
  /** By how much it is ahead of the clock of this machine. */
  readonly offsetMs: number;
}

/** Timers of the process: monotonic, so that a step of the wall clock does not move them. */
export interface Timers {
  /**
   * Calls `act` once, after at least `ms` milliseconds; the answer calls it off. After none, everything that has
   * come in meanwhile, requests and answers, is seen to first.
   */
  after(ms: number, act: () => void): () => void;
}

/** Resolves after at least this time. */
export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve));
}

/** The clock that timers go by. It tells how long something took, not what time it is. */
export interface Stopwatch {
  /** Milliseconds since some beginning, with their fraction. Never goes back. */
  elapsed(): number;
}

/** Cryptographically strong in the product, seeded in simulations. */
export interface Random {
  bytes(count: number): Uint8Array;
}
