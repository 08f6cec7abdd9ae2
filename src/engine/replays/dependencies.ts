/** What bulk replays are worked on with. */

import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';

export interface ReplayDependencies extends Pick<EngineDependencies, 'clock' | 'ids' | 'log' | 'node'> {
  readonly store: Pick<Store, 'listDeliveries' | 'findDelivery' | 'findProfile'> & {
    readonly jobs: ReplayJobStore;
  };
  readonly timers: Timers & Stopwatch;
  /** Told of every replay. */
  readonly hints: Pick<Hints, 'due'>;
}
