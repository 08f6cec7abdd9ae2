/** The dependencies of a project's routes. */
import type { Commands } from '#src/commands/command.ts';
import type { Idempotency } from '#src/commands/idempotency.ts';
import type { RollingUpgrade } from '#src/commands/rolling-upgrade.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';

export interface DataDependencies {
  /** The same commands as /v1 uses, so that changes from both sides are serialised. */
  readonly commands: Commands;
  readonly idempotency: Idempotency;
  readonly upgrade: Pick<RollingUpgrade, 'requireSince'>;
  readonly insight: InsightStore;
  readonly jobs: ReplayJobStore;
  readonly alerts: AlertStore;
  readonly timers: Timers & Stopwatch;
  /** True if the operator allows plain http:// destinations. */
  readonly httpAllowed: boolean;
  /** The name of this node in the cluster. */
  readonly node: string;
  /** True if several nodes share the store. */
  readonly isCluster: boolean;
  /** The address of the dashboard for links in alerts; null if it is not known. */
  readonly dashboard: string | null;
  /** Wakes the runner of bulk replays. */
  readonly wakeReplays: () => void;
  /** Wakes the sender of alert messages. */
  readonly wakeAlerts: () => void;
}
