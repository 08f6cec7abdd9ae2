/** Timers of the process: monotonic, so that a step of the wall clock does not move them. */
export interface Timers {
  /**
   * Calls `act` once, after at least `ms` milliseconds; the answer calls it off. After none, everything that has
   * come in meanwhile, requests and answers, is seen to first.
   */
  after(ms: number, act: () => void): () => void;
}

/** The clock that timers go by. It tells how long something took, not what time it is. */
export interface Stopwatch {
  /** Milliseconds since some beginning, with their fraction. Never goes back. */
  elapsed(): number;
}
