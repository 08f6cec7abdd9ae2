/**
 * One process of the service, from opening the database to a clean stop or a crash. It runs the real engine
 * and commands on the real store. Nothing that it asked for is answered after its end.
 */
import { composeNotification } from '#src/api/notification-body.ts';
import { type Commands, KeyedMutex } from '#src/commands/command.ts';
import { Idempotency } from '#src/commands/idempotency.ts';
import { IdMint } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { EngineInsight } from '#src/engine/dependencies.ts';
import { Engine } from '#src/engine/engine.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { EngineMetrics, Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { Bug } from './bug-tools.ts';
import type { InstanceFacts } from './checkers/checker.ts';
import { EXCERPT_BYTES_MAX } from './network.ts';
import { seededRandom } from './template.ts';
import { Scope } from './virtual-time.ts';
import type { AnyStore } from './watched-store.ts';
import { type Disk, VirtualWriter } from './writer.ts';

export interface InstanceDependencies {
  readonly directory: string;
  readonly node: string;
  readonly prng: Prng;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly retentionMs: number;
  readonly permitsMax: number;
  disturbedMs(): number;
  readonly bug: Bug | null;
  readonly hintsLost: boolean;
  readonly insight: EngineInsight;
  disk(scope: Scope): Disk;
  timers(scope: Scope): Timers & Stopwatch;
  egress(node: string, scope: Scope): Egress;
  /** Wraps the store so that the simulation sees every call and can make it fail. */
  watched(store: AnyStore, instance: ServiceInstance): AnyStore;
  readonly log: Log;
}

/**
 * With batches of one, even a sweep of few deliveries takes several steps and can be interrupted between
 * them.
 */
export const SWEEP_BATCH_MAX = 1;

export const NO_METRICS: EngineMetrics = {
  lateness: () => {},
  attemptFinished: () => {},
  unsent: () => {},
  watch: () => {},
};

export const NO_HINTS: Hints = { due: () => {}, rescan: () => {} };

export class ServiceInstance implements InstanceFacts {
  readonly node: string;
  readonly scope: Scope;
  readonly store: SqlStore;
  readonly commands: Commands;
  readonly idempotency: Idempotency;
  readonly #writer: VirtualWriter;
  readonly #engine: Engine;
  readonly #dependencies: InstanceDependencies;
  state: 'starting' | 'up' | 'stopping' | 'ended' = 'starting';
  startedMs = 0;
  upSinceMs = 0;
  stopping: { readonly sinceMs: number; readonly graceMs: number } | null = null;
  /** A single service shares neither its store nor its machine, so it is never paused and needs no lease. */
  readonly resumedMs = -1;
  readonly leaseInvalidMs = -1;

  private constructor(
    dependencies: InstanceDependencies,
    scope: Scope,
    store: SqlStore,
    writer: VirtualWriter,
  ) {
    this.#dependencies = dependencies;
    this.node = dependencies.node;
    this.scope = scope;
    this.store = store;
    this.#writer = writer;
    const random = seededRandom(dependencies.prng);
    const { bug, vault } = dependencies;
    const wrapped = dependencies.watched(bug?.store?.(store) ?? store, this);
    const clock = bug?.clock?.(dependencies.clock) ?? dependencies.clock;
    const egress = dependencies.egress(dependencies.node, scope);
    const ids = new IdMint((count) => random.bytes(count));
    this.#engine = new Engine(
      {
        store: wrapped,
        insight: dependencies.insight,
        egress: bug?.egress?.(egress) ?? egress,
        vault,
        composeNotification,
        clock,
        timers: dependencies.timers(scope),
        ids,
        log: dependencies.log,
        metrics: NO_METRICS,
        node: dependencies.node,
        cluster: null,
      },
      {
        retentionMs: dependencies.retentionMs,
        permitsMax: dependencies.permitsMax,
        excerptBytesMax: EXCERPT_BYTES_MAX,
      },
    );
    const arriving: Hints = dependencies.hintsLost ? NO_HINTS : this.#engine;
    const hints: Hints = bug?.hints?.(arriving) ?? arriving;
    this.commands = {
      store: wrapped,
      clock: dependencies.clock,
      ids,
      vault,
      hints,
      mutex: new KeyedMutex(),
      pause: async () => {},
    };
    this.idempotency = new Idempotency(wrapped, dependencies.clock);
  }

  static async begin(dependencies: InstanceDependencies): Promise<ServiceInstance> {
    const scope = new Scope();
    const writers: VirtualWriter[] = [];
    const store = await openSqlite({
      directory: dependencies.directory,
      now: dependencies.clock.now(),
      exclusive: true,
      durable: false,
      sweepBatchMax: SWEEP_BATCH_MAX,
      openWriter: async (data) => {
        const writer = new VirtualWriter(data, dependencies.disk(scope));
        writers.push(writer);
        return writer;
      },
    });
    const [writer] = writers;
    if (writer === undefined) throw new Error('The store was opened without a writer.');
    return new ServiceInstance(dependencies, scope, store, writer);
  }

  get disturbedMs(): number {
    return this.#dependencies.disturbedMs();
  }

  now(): Instant {
    return this.#dependencies.clock.now();
  }

  /** Resolves when the engine sends deliveries. */
  start(): Promise<void> {
    return this.#engine.start();
  }

  stop(graceMs: number, nowMs: number): Promise<void> {
    this.state = 'stopping';
    this.stopping = { sinceMs: nowMs, graceMs };
    return this.#engine.stop(graceMs);
  }

  /** Whether the engine has nothing to do but to scan again. */
  get isIdle(): boolean {
    const { waiting, inFlight } = this.#engine.gauges();
    const { counts } = this.scope;
    return waiting === 0 && inFlight === 0 && counts.work === 0 && counts.timer <= 5 && this.#writer.isIdle;
  }

  get isWriting(): boolean {
    return !this.#writer.isIdle;
  }

  async end(): Promise<void> {
    this.state = 'ended';
    this.scope.end();
    await this.store.close();
  }
}
