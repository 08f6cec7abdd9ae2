/**
 * The engine sends deliveries. It is built on ports only, so the same engine runs in the service and in the simulation,
 * alone on its store or as one node of several.
 *
 * `docs/architecture.md` says what each file does, folder by folder in the order in which the data flows.
 */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Hints, Peers } from '#src/ports/hints.ts';
import type { EngineGauges } from '#src/ports/telemetry.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';
import { AttemptRunner } from './attempt/attempt-runner.ts';
import { AttemptsInFlight } from './attempt/attempts-in-flight.ts';
import { RequestBuilder } from './attempt/request-builder.ts';
import { Settler } from './attempt/settler.ts';
import { Claimer } from './claim/claimer.ts';
import { Decider } from './claim/decider.ts';
import { DecisionWriter } from './claim/decision-writer.ts';
import { LargePayloads } from './claim/large-payloads.ts';
import { NO_PEERS } from './cluster/hint-forwarder.ts';
import { Membership } from './cluster/membership.ts';
import { OWNS_EVERY_SLOT, OwnedSlots, type SlotOwnership } from './cluster/slot-ownership.ts';
import type { EngineDependencies } from './dependencies.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { EventLoopBudget } from './dispatch/event-loop-budget.ts';
import { DueScanner } from './due/due-scanner.ts';
import { scanPlanOf } from './due/scan-plan.ts';
import { ScanScheduler } from './due/scan-scheduler.ts';
import { BreakerResets } from './gate/breaker-resets.ts';
import { Gates } from './gate/gates.ts';
import { Prefetcher } from './prefetch/prefetcher.ts';
import { BatchesInFlight } from './queue/batches-in-flight.ts';
import { ClaimPause } from './queue/claim-pause.ts';
import { DueQueue } from './queue/due-queue.ts';
import { EngineLoad } from './queue/engine-load.ts';
import { FairQueue } from './queue/fair-queue.ts';
import { NotificationHints } from './queue/notification-hints.ts';
import { Waker } from './queue/waker.ts';
import { WorkQueue } from './queue/work-queue.ts';
import { AttemptRecovery } from './upkeep/attempt-recovery.ts';
import { Cleaner } from './upkeep/cleaner.ts';
import { StatsRecorder } from './upkeep/stats-recorder.ts';
import { SweepRecovery } from './upkeep/sweep-recovery.ts';

export interface EngineOptions {
  /** How long history is kept; 0 forever. */
  readonly retentionMs: number;
  /** Permits to send, in all; left out, `PERMITS_MAX`. */
  readonly permitsMax?: number;
  /** How many bytes are kept of an answer that is not 2xx, unless the endpoint profile says it; left out, none. */
  readonly excerptBytesMax?: number;
}

export class Engine implements Hints {
  readonly #dependencies: EngineDependencies;
  readonly #peers: Peers;
  /** Null for a process that has its store to itself. */
  readonly #membership: Membership | null;
  /** For work beside the engine that only the upkeep node does. */
  readonly ownership: Pick<SlotOwnership, 'slots' | 'fence'>;
  readonly #gates: Gates;
  readonly #stats: StatsRecorder;
  readonly #ready: FairQueue;
  readonly #claimPause: ClaimPause;
  readonly #queue: WorkQueue;
  readonly #prefetcher: Prefetcher;
  readonly #scans: ScanScheduler;
  readonly #dispatcher: Dispatcher;
  readonly #attempts: AttemptsInFlight;
  readonly #runner: AttemptRunner;
  readonly #settler: Settler;
  readonly #recovery: AttemptRecovery;
  readonly #cleaner: Cleaner;
  readonly #breakerResets: BreakerResets;
  readonly #sweepRecovery: SweepRecovery;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(dependencies: EngineDependencies, options: EngineOptions) {
    const { clock, timers, cluster, node } = dependencies;
    this.#dependencies = dependencies;
    const peers = cluster?.peers ?? NO_PEERS;
    const ownedSlots = cluster === null ? null : new OwnedSlots(cluster, node);
    const ownership = ownedSlots ?? OWNS_EVERY_SLOT;

    const gates = new Gates(dependencies, ownership);
    const stats = new StatsRecorder(dependencies);
    const settler = new Settler(dependencies);
    const builder = new RequestBuilder(dependencies, options.excerptBytesMax);
    const upcoming = new DueQueue();
    const ready = new FairQueue(options.permitsMax);
    const batches = new BatchesInFlight();
    const membership =
      cluster === null || ownedSlots === null
        ? null
        : new Membership({ ...dependencies, cluster, ownedSlots, gates, batches });
    const load = new EngineLoad({ clock, upcoming, ready, batches });
    const throttledTimers = new ThrottledTimers(timers, () => load.isShared);
    const waker = new Waker(dependencies);
    const claimPause = new ClaimPause(dependencies);
    const prefetcher = new Prefetcher({
      ...dependencies,
      // Late prefetches would slow down a store that works by customer.
      timers: dependencies.store.worksByCustomer ? timers : throttledTimers,
      ownership,
      gates,
      builder,
      load,
    });
    const { aheadMs } = scanPlanOf(dependencies.store);
    const queue = new WorkQueue({ clock, aheadMs, ownership, peers, upcoming, ready, prefetcher, waker });
    const attempts = new AttemptsInFlight(waker);
    const notifications = new NotificationHints(timers, queue);
    const shared = {
      ...dependencies,
      ownership,
      gates,
      stats,
      queue,
      notifications,
      claimPause,
      batches,
      attempts,
    };

    const scanner = new DueScanner(dependencies, ownership, queue, throttledTimers);
    const scans = new ScanScheduler({ ...dependencies, scanner, ready, claimPause, waker, membership });
    const recovery = new AttemptRecovery({ ...shared, settler, hints: this, membership });
    const runner = new AttemptRunner({ ...shared, builder, settler, recovery });
    const claimer = new Claimer({
      ...shared,
      prefetcher,
      payloads: new LargePayloads({ timers: throttledTimers }, builder),
      decider: new Decider(shared),
      writer: new DecisionWriter({ ...shared, runner }),
    });
    const budget = new EventLoopBudget({ ...dependencies, throttledTimers, load, ready, waker });

    this.#peers = peers;
    this.#membership = membership;
    this.ownership = ownership;
    this.#gates = gates;
    this.#stats = stats;
    this.#ready = ready;
    this.#claimPause = claimPause;
    this.#queue = queue;
    this.#prefetcher = prefetcher;
    this.#attempts = attempts;
    this.#runner = runner;
    this.#settler = settler;
    this.#recovery = recovery;
    this.#scans = scans;
    this.#dispatcher = new Dispatcher({ ...shared, upcoming, ready, waker, budget, claimer });
    this.#cleaner = new Cleaner(dependencies, ownership, options.retentionMs);
    this.#breakerResets = new BreakerResets(shared);
    this.#sweepRecovery = new SweepRecovery({ ...dependencies, ownership, hints: this });
    dependencies.metrics.watch(() => this.gauges());
  }

  /** Closes the attempts that an earlier process left, then sends. In a cluster it need not wait for that. */
  async start(): Promise<void> {
    await this.#membership?.start();
    const recovered = this.#recovery.start();
    if (this.#membership === null) await recovered;
    if (this.#state === 'stopped') return;
    this.#state = 'running';
    this.#dispatcher.start();
    this.#scans.start();
    this.#cleaner.start();
    this.#breakerResets.start();
    this.#sweepRecovery.start();
  }

  due(due: DueDelivery | null): void {
    this.#queue.due(due);
  }

  rescan(): void {
    this.#scans.soon();
    this.#peers.rescan();
  }

  /** Hints from other nodes. They are not passed on. */
  readonly heard: Peers = {
    due: (due) => this.#queue.dueByPeer(due),
    rescan: () => this.#scans.soon(),
    slotsChanged: () => this.#membership?.syncSoon(),
  };

  /** Whether due work is found and claimed as it should be. */
  get isFiring(): boolean {
    const isHealthy = this.#scans.isHealthy && !this.#claimPause.isPaused;
    return this.#state === 'running' && isHealthy && (this.#membership?.isActive ?? true);
  }

  gauges(): EngineGauges {
    return {
      waiting: this.#ready.waiting,
      inFlight: this.#ready.inFlight,
      breakers: this.#gates.countBreakers(this.#dependencies.clock.now()),
    };
  }

  /**
   * Claims nothing more, lets the requests in flight finish within the grace, and interrupts the others. The slots of
   * this node are handed over to the other nodes at once.
   */
  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#dispatcher.stop();
    this.#scans.stop();
    this.#prefetcher.stop();
    this.#recovery.stop();
    const handedOver = this.#membership?.handOver();
    const upkeepEnded = Promise.all([
      this.#cleaner.stop(),
      this.#breakerResets.stop(),
      this.#sweepRecovery.stop(),
    ]);
    const grace = Promise.withResolvers<void>();
    const cancelGrace = this.#dependencies.timers.after(graceMs, grace.resolve);
    await Promise.race([Promise.all([this.#attempts.idle(), handedOver]), grace.promise]);
    cancelGrace();
    this.#settler.stopWaiting();
    this.#runner.interrupt();
    await this.#attempts.idle();
    await upkeepEnded;
    await this.#stats.stop();
    this.#gates.stop();
    try {
      await this.#gates.save();
    } catch (error) {
      this.#dependencies.log.warn({ error: String(error) }, 'the state of the gates could not be saved');
    }
    await this.#membership?.leave();
  }
}
