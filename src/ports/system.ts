import type { Instant } from '#src/domain/instant.ts';

export interface Clock {
  now(): Instant;
}

/** A clock that follows a reference clock, and knows when it cannot be relied on. */
export interface MeasuredClock extends Clock {
  /** False before the first measurement, while measurements contradict each other, and when the last one is too old. */
  readonly isSynchronized: boolean;
  /** The time since the clock was last set; Infinity if it never was. */
  readonly sinceStepMs: number;
  /** Measures the clock now. Never rejects: after a failure the clock stays as it was. */
  measure(): Promise<void>;
  /** The distance ahead of the clock of this machine. */
  readonly offsetMs: number;
}

/** The timers of the process. They are monotonic, so a step of the wall clock does not move them. */
export interface Timers {
  /**
   * Calls `act` once, after at least `ms` milliseconds. The returned function cancels it. With 0, all requests and
   * answers that have arrived are handled first.
   */
  after(ms: number, act: () => void): () => void;
}

/** Resolves after at least this time, or as soon as the signal is aborted. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const abort = () => {
      cancel();
      resolve();
    };
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The clock of the timers. It measures durations, not the time of day. */
export interface Stopwatch {
  /** Milliseconds since some start, with their fraction. The value never decreases. */
  elapsed(): number;
}

/** Random bytes: cryptographically strong in the product, seeded in simulations. */
export interface Random {
  bytes(count: number): Uint8Array;
}
