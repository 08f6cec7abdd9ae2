/** What the engine works with. Everything of the outside comes in here. */
import type { IdMint } from '#src/domain/id.ts';
import type { Clock, MeasuredClock } from '#src/ports/clock.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { ClusterMetrics, EngineMetrics, Log } from '#src/ports/telemetry.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import type { Vault } from '#src/ports/vault.ts';

/** What is kept for people to look at, and what they ordered. */
export type EngineInsight = Pick<
  InsightStore,
  'saveStats' | 'pruneStats' | 'findGate' | 'listBreakerResets' | 'removeBreakerReset'
>;

export interface EngineDependencies {
  readonly store: Store & Pick<ControlStore, 'listSecrets' | 'hasEndpointSecrets' | 'listEndpointSecrets'>;
  readonly insight: EngineInsight;
  readonly egress: Egress;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  readonly ids: IdMint;
  readonly log: Log;
  readonly metrics: EngineMetrics;
  /** This life of this process; a restart is another node. */
  readonly node: string;
  /** Null: nobody else works on this store. */
  readonly cluster: ClusterDependencies | null;
}

/** What it takes to share a store with other nodes. */
export interface ClusterDependencies {
  readonly store: ClusterStore;
  /** The clock of the dependencies, which all nodes have in common. */
  readonly clock: MeasuredClock;
  readonly stopwatch: Stopwatch;
  /** Tells the others; what they tell comes in by `Engine.heard`. */
  readonly peers: Peers;
  readonly metrics: ClusterMetrics;
}

/** A pause that can be waited for. */
export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve));
}
