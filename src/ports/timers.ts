/** Timers of the process: monotonic, so that a step of the wall clock does not move them. */
export interface Timers {
  /** Calls `act` once, after at least `ms` milliseconds; the answer calls it off. */
  after(ms: number, act: () => void): () => void;
}
