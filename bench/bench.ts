/** What every work of a run is given: where it runs, how much is asked of it, and whom it tells how far it is. */
import type { Arrivals } from './arrivals.ts';
import type { Ground } from './contender.ts';
import type { Scale } from './results.ts';

export interface Bench {
  readonly ground: Ground;
  readonly arrivals: Arrivals;
  readonly scale: Scale;
  readonly progress: Progress;
}

export interface Progress {
  /** Once for each step of the plan, as it begins: `Sched on SQLite: burst of 5,000, round 2`. */
  step(what: string): void;
  /** Worth a line of its own. */
  note(text: string): void;
}
