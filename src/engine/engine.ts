/**
 * What fires deliveries: the dispatcher that claims them, the attempts that send and settle them, and the
 * housekeeping around. Built on ports only; the same engine runs in the service and in the simulation, alone on
 * its store or as one of several.
 */
import type { DueDelivery } from '#src/domain/due.ts';
import type { Hints, Peers } from '#src/ports/hints.ts';
import type { EngineGauges } from '#src/ports/telemetry.ts';
import { AttemptRunner } from './attempt/attempt-runner.ts';
import { RequestBuilder } from './attempt/request-builder.ts';
import { Settler } from './attempt/settler.ts';
import { Membership } from './cluster/membership.ts';
import { NO_PEERS } from './cluster/peer-hints.ts';
import { OWNS_EVERY_SLOT } from './cluster/slot-ownership.ts';
import type { EngineDependencies } from './dependencies.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { BreakerResets } from './gate/breaker-resets.ts';
import { Gates } from './gate/gates.ts';
import { Cleaner } from './upkeep/cleaner.ts';
import { Recoveries } from './upkeep/recoveries.ts';
import { Recovery } from './upkeep/recovery.ts';
import { StatsRecorder } from './upkeep/stats-recorder.ts';
import { Sweeper } from './upkeep/sweeper.ts';

export interface EngineOptions {
  /** How long history is kept; 0 for ever. */
  readonly retentionMs: number;
  /** Permits to send, in all; left out, `PERMITS_MAX`. */
  readonly permitsMax?: number;
}

export class Engine implements Hints {
  readonly #dependencies: EngineDependencies;
  readonly #peers: Peers;
  /** Null for a process that has its store to itself. */
  readonly #membership: Membership | null;
  readonly #gates: Gates;
  readonly #stats: StatsRecorder;
  readonly #settler: Settler;
  readonly #attempts: AttemptRunner;
  readonly #dispatcher: Dispatcher;
  readonly #recoveries: Recoveries;
  readonly #cleaner: Cleaner;
  readonly #breakerResets: BreakerResets;
  readonly #sweeps: Sweeper;
  #isStopped = false;

  constructor(dependencies: EngineDependencies, options: EngineOptions) {
    this.#dependencies = dependencies;
    this.#peers = dependencies.cluster?.peers ?? NO_PEERS;
    this.#membership = this.#join();
    const ownership = this.#membership?.ownership ?? OWNS_EVERY_SLOT;
    this.#gates = new Gates(dependencies, ownership);
    this.#stats = new StatsRecorder(dependencies);
    this.#settler = new Settler(dependencies);
    const builder = new RequestBuilder(dependencies);
    const parts = { builder, gates: this.#gates, settler: this.#settler, stats: this.#stats };
    this.#attempts = new AttemptRunner(dependencies, ownership, parts, {
      due: (due) => this.#dispatcher.due(due),
      rescan: () => this.#dispatcher.rescan(),
      release: (due) => this.#dispatcher.release(due),
      turnSoon: () => this.#dispatcher.turnSoon(),
      releaseDeferred: (deferred) => this.#dispatcher.releaseDeferred(deferred),
      lostTrack: () => this.#recoveries.lostTrack(),
    });
    this.#dispatcher = new Dispatcher(
      dependencies,
      ownership,
      this.#gates,
      this.#attempts,
      builder,
      this.#stats,
      options.permitsMax,
    );
    const recovery = new Recovery(dependencies, {
      ownership,
      settler: this.#settler,
      stats: this.#stats,
      hints: this,
      living: this.#membership,
      isUnderWay: (token) => this.#attempts.isUnderWay(token),
    });
    this.#recoveries = new Recoveries(dependencies, recovery);
    this.#cleaner = new Cleaner(dependencies, ownership, options.retentionMs);
    this.#breakerResets = new BreakerResets(dependencies, {
      ownership,
      gates: this.#gates,
      releaseDeferred: (deferred) => this.#dispatcher.releaseDeferred(deferred),
    });
    this.#sweeps = new Sweeper({ ...dependencies, ownership, hints: this });
    dependencies.metrics.watch(() => this.gauges());
  }

  #join(): Membership | null {
    const { cluster } = this.#dependencies;
    if (cluster === null) return null;
    return new Membership(this.#dependencies, cluster, {
      slotsGained: () => {
        this.#dispatcher.rescanAll();
        void this.#recoveries.look();
      },
      nodesDied: () => void this.#recoveries.look(),
      batchesEnd: () => this.#dispatcher.batchesEnd(),
      saveGates: (slots) => this.#gates.saveSlots(slots),
      forgetGates: (slots) => this.#gates.forgetSlots(slots),
    });
  }

  /** Closes what a process before left under way, then fires. Among others there is no need to wait for it. */
  async start(): Promise<void> {
    await this.#membership?.start();
    const recovered = this.#recoveries.start();
    if (this.#membership === null) await recovered;
    if (this.#isStopped) return;
    this.#dispatcher.start();
    this.#cleaner.start();
    this.#breakerResets.start();
    this.#sweeps.start();
  }

  due(due: DueDelivery | null): void {
    this.#dispatcher.due(due);
  }

  rescan(): void {
    this.#dispatcher.rescan();
    this.#peers.rescan();
  }

  /** What other nodes tell. It is not told on. */
  readonly heard: Peers = {
    due: (due) => this.#dispatcher.hinted(due),
    rescan: () => this.#dispatcher.rescan(),
    slotsChanged: () => this.#membership?.syncSoon(),
  };

  get isFiring(): boolean {
    return this.#dispatcher.isFiring && (this.#membership?.isActive ?? true);
  }

  gauges(): EngineGauges {
    return {
      waiting: this.#dispatcher.waiting,
      inFlight: this.#dispatcher.inFlight,
      breakers: this.#gates.countBreakers(this.#dependencies.clock.now()),
    };
  }

  /**
   * Claims nothing more, lets the requests under way finish within the grace, breaks off the others. What it
   * dispatched is given to the other nodes at once.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    this.#dispatcher.stop();
    this.#recoveries.stop();
    const handedOver = this.#membership?.handOver();
    const tidied = this.#cleaner.stop();
    const ordersEnd = Promise.all([this.#breakerResets.stop(), this.#sweeps.stop()]);
    const grace = Promise.withResolvers<void>();
    const callOff = this.#dependencies.timers.after(graceMs, grace.resolve);
    await Promise.race([Promise.all([this.#attempts.idle(), handedOver]), grace.promise]);
    callOff();
    this.#settler.giveUp();
    this.#attempts.interrupt();
    await this.#attempts.idle();
    await Promise.all([tidied, ordersEnd]);
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
