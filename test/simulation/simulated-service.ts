/**
 * A simulation made from one seed. It consists of the service on virtual time, a disk and a network that
 * fail, customers, and the checkers. It runs event by event, and the process may crash between any two
 * events.
 */
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { InMemoryInsight } from '#test/in-memory-insight.ts';
import { Backlog } from './backlog.ts';
import type { Bug } from './bug-tools.ts';
import { CheckerRunner } from './checker-runner.ts';
import { CHECKERS } from './checkers/all.ts';
import { type Checker, Violation } from './checkers/checker.ts';
import type { SimulationView } from './checkers/simulation-view.ts';
import type { Clients } from './client-calls.ts';
import { Contents } from './contents.ts';
import { coverageOf, type Situation } from './coverage.ts';
import { DurableRows } from './durable-rows.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { PendingWrites, watchInstance } from './instance-watch.ts';
import { LimitsModel } from './limits-model.ts';
import { Network, type SentRequest } from './network.ts';
import { NotifyModel } from './notify-model.ts';
import { isWaitingStatus, Observer, shortId } from './observer.ts';
import { PayloadModel } from './payload-model.ts';
import type { Plan } from './plan.ts';
import { ServiceInstance } from './service-instance.ts';
import { START, seededRandom, type Template, vaultOf } from './template.ts';
import { Trace } from './trace.ts';
import { drainCallbacks, lateTimers, Scope, VirtualTime } from './virtual-time.ts';
import { type Watch, watchedStore } from './watched-store.ts';
import { Workload } from './workload.ts';
import type { Disk } from './writer.ts';

const TRACE_LINES = 400;
/** An idle service is woken this long before the next event. */
const IDLE_LEAD_MS = 3_500;
const IDLE_MS_MIN = 1_000;
/** Once faults have stopped, everything that was due must end within this time. */
const SETTLES_WITHIN_MS = 10_000;
const QUIET_WITHIN_MS = 8 * 3_600_000;

/** A bound far above the steps of any simulation so far. */
const STEPS_MAX = 1_000_000;
/** After a store failure nothing is claimed for this long, including the time of the next scan. */
const STORE_REST_MS = 700;
/** A batch that takes longer than this means that the disk is slow. */
const SLOW_MS = 30;
/** The chance that a stop follows right after a request was sent. */
const STOP_AT_SEND_CHANCE = 0.03;
const STOP_SOON_MS = 50;

const DOWNTIME_MS: readonly (readonly [number, readonly [number, number]])[] = [
  [3, [0, 0]],
  [4, [1, 2_000]],
  [3, [2_000, 120_000]],
  [1, [120_000, 7_200_000]],
];

export interface Stats {
  readonly starts: number;
  readonly crashes: number;
  readonly stops: number;
  readonly requests: number;
  readonly calls: number;
}

export class SimulatedService implements SimulationView {
  readonly time = new VirtualTime(START);
  readonly trace = new Trace(this.time, TRACE_LINES);
  readonly observer: Observer;
  readonly payloads: PayloadModel;
  readonly notifies: NotifyModel;
  readonly limits: LimitsModel;
  readonly rows: DurableRows;
  readonly covered: ReadonlyMap<Situation, number>;
  readonly retentionMs: number;
  readonly handOverMs = 0;
  readonly #plan: Plan;
  readonly #template: Template;
  readonly #directory: string;
  readonly #vault: Vault;
  readonly #bug: Bug | null;
  readonly #contents = new Contents();
  readonly #runner = new CheckerRunner<Checker>(this.trace);
  readonly #network: Network;
  readonly #disk: FaultyDisk;
  readonly #insight = new InMemoryInsight(null);
  readonly #workload: Workload;
  readonly #script = new Scope();
  readonly #prngs: { readonly faults: Prng; readonly ids: Prng; readonly timers: Prng };
  readonly #pendingWrites = new PendingWrites();
  readonly #lostClaims = new Set<string>();
  readonly stats = { starts: 0, crashes: 0, stops: 0, requests: 0, calls: 0 };
  #instance: ServiceInstance | null = null;
  #mustCrash: string | null = null;
  #isHealed = false;
  #backlog: Backlog | null = null;
  disturbedMs = -1;
  clockSetMs = -1_000_000;
  slowUntilMs = -1;

  constructor(plan: Plan, template: Template, bug: Bug | null) {
    this.#plan = plan;
    this.#template = template;
    this.#bug = bug;
    this.#directory = template.copy();
    this.retentionMs = plan.retentionMs;
    const stream = (index: number) => Prng.of(plan.seed, index);
    this.#prngs = { faults: stream(2), ids: stream(3), timers: stream(4) };
    this.rows = new DurableRows(this.#directory);
    this.#vault = vaultOf(seededRandom(this.#prngs.ids));
    this.observer = new Observer(this.rows, template.partitions, this.#runner.checkers);
    this.payloads = new PayloadModel(this.#contents, this.observer);
    this.notifies = new NotifyModel(this.time, this.#contents, this.observer);
    this.limits = new LimitsModel(this.time, this.observer);
    const { checkers, covered } = coverageOf(this);
    this.covered = covered;
    this.#runner.checkers.push(
      this.payloads,
      this.notifies,
      this.limits,
      ...checkers,
      ...CHECKERS.map((make) => make(this)),
    );
    this.#network = new Network(this.time, stream(5), {
      sent: (sent) => this.#sent(sent),
      ended: (sent) => this.#ended(sent),
    });
    this.#disk = new FaultyDisk(plan, stream(6), () => this.#noteFault());
    this.#workload = new Workload(this.#clients(), stream(7), plan);
    this.#planFaults();
  }

  get directory(): string {
    return this.#directory;
  }

  get instances(): readonly ServiceInstance[] {
    return this.#instance === null ? [] : [this.#instance];
  }

  findInstance(node: string | undefined): ServiceInstance | null {
    return this.#instance?.node === node ? this.#instance : null;
  }

  get writer(): string | null {
    return this.#instance?.node ?? null;
  }

  get permitsMax(): number {
    return this.#plan.permitsMax;
  }

  get secrets(): Template['secrets'] {
    return this.#template.secrets;
  }

  undisturbedSinceMs(): number | null {
    if (this.#instance?.state !== 'up') return null;
    return Math.max(this.disturbedMs + STORE_REST_MS, this.slowUntilMs, this.#instance.upSinceMs);
  }

  /** One process dispatches everything. */
  holds(): boolean {
    return true;
  }

  hasPendingWrite(id: DeliveryId): boolean {
    return this.#pendingWrites.has(id);
  }

  isLostClaim(token: string): boolean {
    return this.#lostClaims.has(token);
  }

  /** Runs until nothing is left to do. Throws the violation if a checker found one. */
  async run(): Promise<void> {
    const undo = this.#bug?.patch?.();
    try {
      await this.#start();
      await drainCallbacks();
      for (let steps = 0; !this.#isQuiet(); steps++) {
        if (steps > STEPS_MAX)
          throw new Violation('completion', `the simulation did not end after ${STEPS_MAX} steps`);
        await this.#step();
      }
      this.#runner.notify((checker) => checker.atEnd?.());
      this.#runner.throwFailure();
    } finally {
      undo?.();
      await this.#instance?.end();
      this.rows.close();
    }
  }

  async #step(): Promise<void> {
    this.#skipIdleTime();
    const event = this.time.next();
    if (event === null) throw new Violation('completion', 'no event is planned');
    await event.act();
    await drainCallbacks();
    this.#runner.notify((checker) => checker.step?.());
    this.#runner.throwFailure();
    if (this.#mustCrash !== null) await this.#crash(this.#mustCrash);
  }

  /** Skips the time in which the engine would only repeat its scans. */
  #skipIdleTime(): void {
    if (this.#instance?.state !== 'up' || !this.#instance.isIdle) return;
    if (this.#isHealed && this.#backlog === null) return;
    let until = this.time.nextScript(this.#script);
    for (const id of this.observer.open) {
      const delivery = this.observer.deliveries.get(id);
      if (!delivery || !isWaitingStatus(delivery.status) || delivery.dueAt === null) continue;
      until = Math.min(until, this.time.elapsedAt(delivery.dueAt));
    }
    if (until - IDLE_LEAD_MS > this.time.elapsedMs + IDLE_MS_MIN) this.time.sleepUntil(until - IDLE_LEAD_MS);
  }

  fail(error: unknown): void {
    this.#runner.fail(error);
  }

  #noteFault(): void {
    this.disturbedMs = this.time.elapsedMs;
  }

  #planFaults(): void {
    const { faults } = this.#prngs;
    const { spanMs, crashes, stops, clockSteps, outages } = this.#plan;
    const plan = (count: number, act: () => void) => {
      for (let at = 0; at < count; at++) this.#later(faults.int(spanMs), act);
    };
    plan(crashes, () => {
      this.#mustCrash = 'at any time';
    });
    plan(stops, () => this.#stop());
    plan(clockSteps, () => this.#setClock());
    plan(outages, () => this.#outage());
    this.#later(spanMs, () => this.#heal());
  }

  #later(ms: number, act: () => void | Promise<void>): void {
    this.time.after(ms, 'script', this.#script, act);
  }

  async #start(): Promise<void> {
    const node = `node${this.stats.starts++}`;
    this.trace.add(`start ${node}`);
    const instance = await ServiceInstance.begin({
      directory: this.#directory,
      node,
      prng: this.#prngs.ids,
      clock: this.time,
      vault: this.#vault,
      retentionMs: this.retentionMs,
      permitsMax: this.permitsMax,
      disturbedMs: () => this.disturbedMs,
      bug: this.#bug,
      hintsLost: this.#plan.hintsLost,
      insight: this.#insight,
      disk: (scope) => this.#diskOf(scope),
      timers: (scope) => lateTimers(this.time, this.#prngs.timers, scope),
      egress: (name, scope) => this.#network.egress(name, scope, this.time),
      watched: (store, own) => watchedStore(store, own.scope, this.#watch(own)),
      log: this.#log(),
    });
    instance.startedMs = this.time.elapsedMs;
    this.#instance = instance;
    void this.#bringUp(instance);
  }

  async #bringUp(instance: ServiceInstance): Promise<void> {
    try {
      await instance.start();
    } catch (error) {
      this.fail(error);
    }
    if (instance.state !== 'starting') return;
    instance.state = 'up';
    instance.upSinceMs = this.time.elapsedMs;
    this.trace.add(`${instance.node} is up`);
  }

  #diskOf(scope: Scope): Disk {
    return {
      latencies: () => {
        this.#crashPoint('before a batch is written');
        const [toRun, toAnswer] = this.#disk.latencies();
        const tookMs = toRun + toAnswer;
        if (tookMs > SLOW_MS) this.slowUntilMs = Math.max(this.slowUntilMs, this.time.elapsedMs + tookMs);
        return [toRun, toAnswer];
      },
      outcome: () => this.#disk.outcome(),
      later: (ms, act) => void this.time.after(ms, 'work', scope, act),
      alterSteps: (steps) => this.#bug?.steps?.(steps, this.observer) ?? steps,
      verbApplied: (steps, answer) => {
        if (this.#instance === null) return;
        try {
          const changes = this.observer.observe(steps, answer === 'done');
          const verb = steps.map(([name]) => name).find((name) => name !== 'scheduleInState') ?? '';
          const why = typeof answer === 'string' ? answer : JSON.stringify(answer);
          this.trace.add(`disk ${verb} ${why} ${changes}`);
        } catch (error) {
          this.fail(error);
        }
      },
      batchApplied: (outcome) => {
        if (outcome !== 'kept') this.trace.add(`disk ${outcome}`);
        this.#crashPoint('before a batch is answered');
      },
      batchAnswered: (outcome) => {
        if (outcome !== 'kept') this.disturbedMs = this.time.elapsedMs;
      },
    };
  }

  #log(): Log {
    const note = (fields: object, message: string) =>
      this.trace.add(`log ${message} ${JSON.stringify(fields)}`);
    return { debug: () => {}, info: () => {}, warn: note, error: note };
  }

  #watch(instance: ServiceInstance): Watch {
    return watchInstance({
      instance,
      runner: this.#runner,
      pendingWrites: this.#pendingWrites,
      lostClaims: this.#lostClaims,
      elapsedMs: () => this.time.elapsedMs,
      readsFail: () => this.#disk.readsFail(),
      claimRequested: () => {},
    });
  }

  #sent(sent: SentRequest): void {
    this.stats.requests++;
    this.trace.add(`send ${shortId(sent.deliveryId)} #${sent.attemptNo} ${sent.url}`);
    this.#runner.notify((checker) => checker.requestSent?.(sent));
    this.observer.recordSent(sent);
    this.#crashPoint('while a request is in flight');
    const { faults } = this.#prngs;
    if (!this.#isHealed && this.#plan.stops > 0 && faults.chance(STOP_AT_SEND_CHANCE)) {
      this.#later(faults.int(STOP_SOON_MS), () => this.#stop());
    }
  }

  #ended(sent: SentRequest): void {
    const { outcome } = sent;
    const how = outcome?.kind === 'answered' ? JSON.stringify(outcome.result) : outcome?.kind;
    this.trace.add(`end ${shortId(sent.deliveryId)} #${sent.attemptNo} ${how}`);
    this.#runner.notify((checker) => checker.requestEnded?.(sent));
    this.#crashPoint('after a request was answered');
  }

  #clients(): Clients {
    return {
      time: this.time,
      observer: this.observer,
      partitions: this.#template.partitions,
      contents: this.#contents,
      pickService: () => (this.#instance?.state === 'up' ? this.#instance : null),
      timeoutMs: null,
      later: (ms, act) => this.#later(ms, act),
      trace: (what) => this.trace.add(what),
      maybeCrashAround: (at) => this.#crashAround(at),
      callSent: (call) => this.#runner.notify((checker) => checker.callSent?.(call)),
      callAnswered: (call) => {
        this.stats.calls++;
        this.#runner.notify((checker) => checker.callAnswered?.(call));
      },
    };
  }

  #crashPoint(when: string): void {
    if (this.#isHealed || this.#plan.crashChance === 0) return;
    if (this.#prngs.faults.chance(this.#plan.crashChance)) this.#mustCrash ??= when;
  }

  /** Many deliveries are due at that instant. A crash around it leaves some of them to the next process. */
  #crashAround(at: Instant): void {
    const { faults } = this.#prngs;
    if (this.#plan.crashes === 0 || faults.chance(0.4)) return;
    this.#later(this.time.elapsedAt(at) - this.time.elapsedMs + faults.between(-1_000, 3_000), () => {
      this.#mustCrash = 'while many deliveries are due';
    });
  }

  async #crash(when: string): Promise<void> {
    this.#mustCrash = null;
    if (this.#instance === null || this.#isHealed) return;
    this.stats.crashes++;
    this.trace.add(`CRASH of ${this.#instance.node} ${when}`);
    await this.#instanceEnded('crash');
  }

  async #instanceEnded(how: 'crash' | 'stop'): Promise<void> {
    const instance = this.#instance;
    if (instance === null) return;
    this.#network.orphan(instance.node);
    this.#runner.notify((checker) => checker.instanceEnded?.(instance, how));
    const wasGraceful = how === 'stop' && this.disturbedMs < (instance.stopping?.sinceMs ?? 0);
    const gates = wasGraceful ? 'given_back' : 'lost';
    this.#runner.notify((checker) => checker.gatesMoved?.(() => true, gates));
    this.#instance = null;
    await instance.end();
    this.#pendingWrites.clear();
    this.#workload.serviceEnded(instance);
    const [from, to] = this.#prngs.faults.weighted(DOWNTIME_MS);
    this.#later(this.#isHealed ? 0 : this.#prngs.faults.between(from, to), () => this.#start());
  }

  #stop(): void {
    const instance = this.#instance;
    if (this.#isHealed || instance === null || instance.state !== 'up') return;
    this.stats.stops++;
    const graceMs = this.#prngs.faults.pick([0, 100, 5_000, 30_000]);
    this.trace.add(`stop ${instance.node} within ${graceMs} ms`);
    if (this.#plan.crashChance > 0 && this.#prngs.faults.chance(0.3)) {
      this.time.after(this.#prngs.faults.int(graceMs + 20), 'work', instance.scope, () => {
        this.#mustCrash = 'while stopping';
      });
    }
    const end = () => this.#endStopped(instance);
    instance.stop(graceMs, this.time.elapsedMs).then(end, (error: unknown) => {
      this.trace.add(`stop failed: ${String(error)}`);
      end();
    });
  }

  /** As in the real service, pending writes finish before the database is closed. */
  #endStopped(instance: ServiceInstance): void {
    this.time.after(instance.isWriting ? 5 : 0, 'work', instance.scope, async () => {
      if (instance.isWriting) this.#endStopped(instance);
      else {
        this.trace.add(`${instance.node} has stopped`);
        await this.#instanceEnded('stop');
      }
    });
  }

  #setClock(): void {
    const { faults } = this.#prngs;
    const byMs =
      faults.pick([-1, 1]) * faults.pick([faults.between(100, 5_000), faults.between(5_000, 3_600_000)]);
    this.trace.add(`the clock is set by ${byMs} ms`);
    this.time.setClock(byMs);
    this.disturbedMs = this.time.elapsedMs;
    this.clockSetMs = this.time.elapsedMs;
    this.#runner.notify((checker) => checker.clockSet?.(byMs));
  }

  #outage(): void {
    const { faults } = this.#prngs;
    const lastsMs = faults.pick([faults.between(100, 3_000), faults.between(3_000, 120_000)]);
    this.trace.add(`the disk is unavailable for ${lastsMs} ms`);
    this.#disk.setUnavailable(true);
    this.#later(lastsMs, () => {
      this.#disk.setUnavailable(false);
      this.disturbedMs = this.time.elapsedMs;
    });
  }

  #heal(): void {
    this.trace.add('all faults stop');
    this.#isHealed = true;
    this.#mustCrash = null;
    this.#network.heal();
    this.#disk.heal();
    this.disturbedMs = this.time.elapsedMs;
  }

  #isQuiet(): boolean {
    if (!this.#isHealed || this.#instance?.state !== 'up' || !this.#instance.isIdle) return false;
    if (this.time.elapsedMs - Math.max(this.disturbedMs, this.#instance.upSinceMs) < SETTLES_WITHIN_MS)
      return false;
    this.#backlog ??= new Backlog(this.observer, this.time.now());
    const [unswept] = this.observer.sweeps.keys();
    const left = this.#backlog.remaining() ?? unswept;
    if (left === undefined) return true;
    if (this.time.elapsedMs > this.#plan.spanMs + QUIET_WITHIN_MS) {
      throw new Violation('completion', `${left} does not end`);
    }
    return false;
  }
}
