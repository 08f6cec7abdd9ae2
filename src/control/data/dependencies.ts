/** What the routes of a project need from the dependencies. */
import type { Commands } from '#src/commands/command.ts';
import type { Idempotency } from '#src/commands/idempotency.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';

export interface DataDependencies {
  /** Those of /v1, which changes made here take turns with. */
  readonly commands: Commands;
  readonly idempotency: Idempotency;
  readonly insight: InsightStore;
  readonly jobs: ReplayJobStore;
  readonly timers: Timers & Stopwatch;
  /** The operator's exception: plain http:// destinations may be stored. */
  readonly httpAllowed: boolean;
  /** The name of this process among its peers. */
  readonly node: string;
  /** Whether it has any: nodes that share a store. */
  readonly isCluster: boolean;
  /** Tells the runner of bulk replays that there is something to do. */
  readonly wakeReplays: () => void;
}
