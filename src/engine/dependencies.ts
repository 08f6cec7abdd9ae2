/** The ports that the engine is built on: time, randomness, the network and the store come in here. */
import type { IdMint } from '#src/domain/id.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { ComposeNotification } from '#src/ports/notifications.ts';
import type { Store } from '#src/ports/store.ts';
import type { Clock, MeasuredClock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { ClusterMetrics, EngineMetrics, Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';

/** The statistics for people, and the breaker resets that they ordered. */
export type EngineInsight = Pick<
  InsightStore,
  'saveStats' | 'pruneStats' | 'findGate' | 'listBreakerResets' | 'removeBreakerReset'
>;

export interface EngineDependencies {
  readonly store: Store &
    Pick<ControlStore, 'listSecrets' | 'hasEndpointSecrets' | 'listEndpointSecrets' | 'findMode'>;
  readonly insight: EngineInsight;
  readonly egress: Egress;
  readonly vault: Vault;
  readonly composeNotification: ComposeNotification;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  readonly ids: IdMint;
  readonly log: Log;
  readonly metrics: EngineMetrics;
  /** The name of this process. A restarted process is another node. */
  readonly node: string;
  /** Null when no other node works on this store. */
  readonly cluster: ClusterDependencies | null;
}

/** The ports that a node needs to share a store with others. */
export interface ClusterDependencies {
  readonly store: ClusterStore;
  /** The clock of the dependencies. All nodes share it. */
  readonly clock: MeasuredClock;
  readonly stopwatch: Stopwatch;
  /** Sends hints to the other nodes. Their hints come in by `Engine.heard`. */
  readonly peers: Peers;
  readonly metrics: ClusterMetrics;
  /** The version of this program. Other nodes read it in the lease. */
  readonly version: string;
}
