/**
 * One process of a node. It runs the real engine, commands and reference clock. It shares its store with
 * other nodes and reaches it over its own link. It may crash, stop or be paused.
 */
import { composeNotification } from '#src/api/notification-body.ts';
import { type Commands, KeyedMutex } from '#src/commands/command.ts';
import { Idempotency } from '#src/commands/idempotency.ts';
import { IdMint } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { EngineInsight } from '#src/engine/dependencies.ts';
import { Engine } from '#src/engine/engine.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { ClusterMetrics, Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { ReferenceClock } from '#src/system/reference-clock.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { InstanceFacts } from '../checkers/checker.ts';
import { EXCERPT_BYTES_MAX } from '../network.ts';
import { NO_METRICS } from '../service-instance.ts';
import { seededRandom } from '../template.ts';
import { Scope } from '../virtual-time.ts';
import type { SharedStore } from '../watched-store.ts';
import type { ClusterBug } from './bugs.ts';

export interface NodeDependencies {
  readonly node: string;
  readonly prng: Prng;
  /** The clock of the machine, which may be wrong or be set. */
  readonly wallClock: Clock;
  readonly stopwatch: Stopwatch;
  readonly vault: Vault;
  readonly bug: ClusterBug | null;
  readonly insight: EngineInsight;
  readonly log: Log;
  elapsedMs(): number;
  timers(scope: Scope): Timers & Stopwatch;
  egress(node: ClusterNode): Egress;
  peers(node: ClusterNode): Peers;
  /** The shared store as this node reaches it, wrapped so that the simulation sees every call. */
  store(node: ClusterNode): SharedStore;
}

const NO_CLUSTER_METRICS: ClusterMetrics = {
  leaseRenewalFailed: () => {},
  slotsMoved: () => {},
  watchCluster: () => {},
};

export class ClusterNode implements InstanceFacts {
  readonly node: string;
  /** All events of the node. */
  readonly scope = new Scope();
  /** Calls on their way to the store. They may arrive after the node has ended. */
  readonly storeCalls = new Scope();
  readonly commands: Commands;
  readonly idempotency: Idempotency;
  readonly #dependencies: NodeDependencies;
  readonly #clock: ReferenceClock;
  readonly #engine: Engine;
  state: InstanceFacts['state'] = 'starting';
  readonly startedMs: number;
  upSinceMs = 0;
  stopping: InstanceFacts['stopping'] = null;
  resumedMs = -1;
  leaseInvalidMs = 0;
  /** When a call to the store last failed or took long. */
  storeDisturbedMs = 0;

  constructor(dependencies: NodeDependencies) {
    this.#dependencies = dependencies;
    this.node = dependencies.node;
    this.startedMs = dependencies.elapsedMs();
    const random = seededRandom(dependencies.prng);
    const { bug, log, stopwatch, vault } = dependencies;
    const store = dependencies.store(this);
    const timers = dependencies.timers(this.scope);
    const ids = new IdMint((count) => random.bytes(count));
    const peers = dependencies.peers(this);
    this.#clock = new ReferenceClock({ store, clock: dependencies.wallClock, timers, stopwatch, log });
    const clock = this.#clock;
    this.#engine = new Engine(
      {
        store,
        insight: dependencies.insight,
        egress: dependencies.egress(this),
        vault,
        composeNotification,
        clock,
        timers,
        ids,
        log,
        metrics: NO_METRICS,
        node: dependencies.node,
        cluster: {
          store,
          clock,
          stopwatch,
          peers: bug?.peers?.(peers) ?? peers,
          metrics: NO_CLUSTER_METRICS,
          version: '0.0.0',
        },
      },
      { retentionMs: 0, excerptBytesMax: EXCERPT_BYTES_MAX },
    );
    this.commands = {
      store,
      clock,
      ids,
      vault,
      hints: this.#engine,
      mutex: new KeyedMutex(),
      pause: async () => {},
    };
    this.idempotency = new Idempotency(store, clock);
  }

  get disturbedMs(): number {
    if (this.isPaused) return this.#dependencies.elapsedMs();
    return Math.max(this.storeDisturbedMs, this.resumedMs, this.leaseInvalidMs);
  }

  get isPaused(): boolean {
    return this.scope.heldEvents !== null;
  }

  /** Since when it has worked undisturbed, or null while it is not up. */
  get undisturbedSinceMs(): number | null {
    return this.state === 'up' ? Math.max(this.upSinceMs, this.disturbedMs) : null;
  }

  now(): Instant {
    return this.#clock.now();
  }

  get hints(): Peers {
    return this.#engine.heard;
  }

  /** Resolves when the engine sends deliveries. */
  async start(): Promise<void> {
    await this.#clock.start();
    await this.#engine.start();
  }

  async stop(graceMs: number): Promise<void> {
    this.state = 'stopping';
    this.stopping = { sinceMs: this.#dependencies.elapsedMs(), graceMs };
    await this.#engine.stop(graceMs);
    this.#clock.stop();
  }

  end(): void {
    this.state = 'ended';
    this.scope.end();
  }
}
