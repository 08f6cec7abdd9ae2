/**
 * A cluster made from one seed. Several nodes share one store. Each node has its own clock, and its own links
 * to the store and to the other nodes. Customers call any node, and checkers observe everything. Nodes crash
 * between any two events, stop, pause and continue, or lose the store for a while.
 *
 * The time of the simulation is the clock of the store.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { PERMITS_MAX } from '#src/engine/queue/fair-queue.ts';
import type { Stopwatch } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { InMemoryInsight } from '#test/in-memory-insight.ts';
import { CheckerRunner } from '../checker-runner.ts';
import { gateKey } from '../checkers/breaker.ts';
import { Violation } from '../checkers/checker.ts';
import type { Clients } from '../client-calls.ts';
import { Contents } from '../contents.ts';
import { coverageOf } from '../coverage.ts';
import { DurableRows } from '../durable-rows.ts';
import { PendingWrites, watchInstance } from '../instance-watch.ts';
import { LimitsModel } from '../limits-model.ts';
import { Network, type SentRequest } from '../network.ts';
import { NotifyModel } from '../notify-model.ts';
import { isWaitingStatus, Observer, shortId } from '../observer.ts';
import { PayloadModel } from '../payload-model.ts';
import { START, seededRandom, type Template, vaultOf } from '../template.ts';
import { Trace } from '../trace.ts';
import { drainCallbacks, lateTimers, Scope, VirtualTime } from '../virtual-time.ts';
import { type SharedStore, type Watch, watchedStore } from '../watched-store.ts';
import { Workload } from '../workload.ts';
import { Backend } from './backend.ts';
import type { ClusterBug } from './bugs.ts';
import { CLUSTER_CHECKERS } from './checkers/all.ts';
import { clusterCoverageOf } from './coverage.ts';
import { HintNetwork } from './hint-network.ts';
import { ClusterNode } from './node.ts';
import { NodeFaults } from './node-faults.ts';
import type { ClusterPlan } from './plan.ts';
import type { ClusterChecker, ClusterSimulationView, VerbInProgress } from './simulation-view.ts';
import type { SlotChange, SlotTable } from './slot-table.ts';

const TRACE_LINES = 400;
/** Once faults have stopped, everything that was due must be in flight or have ended within this time. */
const SETTLES_WITHIN_MS = 15_000;
const QUIET_WITHIN_MS = 120_000;
/** A bound far above the steps of any simulation so far. */
const STEPS_MAX = 1_000_000;
/** A client without an answer calls another node after this time, with the same idempotency key. */
const CALL_TIMEOUT_MS = 10_000;
/** The largest rate error of a stopwatch. */
const DRIFT_MAX = 0.000_2;
/** The time to save gates and give slots back, on a store that answers soon. */
const HAND_OVER_MS = 150;
/** A node that was undisturbed for this long has had the time to save the gates that it gives back. */
const UNDISTURBED_MS = 5_000;
/** The largest error of a node's synchronised clock. */
const CLOCK_ERROR_MS_MAX = 30;

export class SimulatedCluster implements ClusterSimulationView {
  readonly time = new VirtualTime(START);
  readonly trace = new Trace(this.time, TRACE_LINES);
  readonly observer: Observer;
  readonly payloads: PayloadModel;
  readonly notifies: NotifyModel;
  readonly limits: LimitsModel;
  readonly rows: DurableRows;
  readonly #covered: readonly Iterable<readonly [string, number]>[];
  readonly directory: string;
  readonly retentionMs = 0;
  readonly handOverMs = HAND_OVER_MS;
  /** Each node has its own permits. The simulation of one process tests scarce permits. */
  readonly permitsMax = PERMITS_MAX;
  /** The clock of the store is never set. */
  readonly clockSetMs = -1_000_000;
  readonly slowUntilMs = -1;
  readonly stats = { starts: 0, crashes: 0, stops: 0, requests: 0, calls: 0 };
  readonly #plan: ClusterPlan;
  readonly #template: Template;
  readonly #bug: ClusterBug | null;
  readonly #contents = new Contents();
  readonly #runner = new CheckerRunner<ClusterChecker>(this.trace);
  readonly #backend: Backend;
  readonly #vault: Vault;
  readonly #network: Network;
  readonly #insight = new InMemoryInsight(null);
  readonly #hintNetwork: HintNetwork;
  readonly #nodeFaults: NodeFaults;
  readonly #workload: Workload;
  readonly #script = new Scope();
  readonly #prngs: Readonly<Record<'clients' | 'ids' | 'timers', Prng>>;
  readonly #pendingWrites = new Map<ClusterNode, PendingWrites>();
  readonly #lostClaims = new Set<string>();
  readonly #endedMs = new Map<string, number>();
  #nodes: readonly ClusterNode[] = [];
  #mustCrash: { readonly node: ClusterNode; readonly when: string } | null = null;
  #isHealed = false;
  disturbedMs = -1;
  changedMs = 0;
  diedMs = Number.NEGATIVE_INFINITY;

  constructor(plan: ClusterPlan, template: Template, bug: ClusterBug | null) {
    this.#plan = plan;
    this.#template = template;
    this.#bug = bug;
    this.directory = template.copy();
    const stream = (index: number) => Prng.of(plan.seed, index);
    this.#prngs = { clients: stream(12), ids: stream(13), timers: stream(14) };
    this.rows = new DurableRows(this.directory);
    this.#vault = vaultOf(seededRandom(this.#prngs.ids));
    this.observer = new Observer(this.rows, template.partitions, this.#runner.checkers);
    this.payloads = new PayloadModel(this.#contents, this.observer);
    this.notifies = new NotifyModel(this.time, this.#contents, this.observer);
    this.limits = new LimitsModel(this.time, this.observer);
    this.#backend = this.#createBackend(stream(15));
    const coverages = [coverageOf(this), clusterCoverageOf(this)];
    this.#covered = coverages.map(({ covered }) => covered);
    this.#runner.checkers.push(this.payloads, this.notifies, this.limits);
    this.#runner.checkers.push(...coverages.flatMap(({ checkers }) => checkers));
    this.#runner.checkers.push(...CLUSTER_CHECKERS.map((make) => make(this)));
    this.#network = new Network(this.time, stream(16), {
      sent: (sent) => this.#sent(sent),
      ended: (sent) => this.#ended(sent),
    });
    this.#hintNetwork = new HintNetwork(this.time, stream(17), plan, () => this.#nodes);
    this.#nodeFaults = this.#createNodeFaults(stream(18));
    this.#workload = new Workload(this.#clients(), stream(19), plan);
    this.#later(plan.spanMs, () => this.#heal());
  }

  get covered(): Iterable<readonly [string, number]> {
    return this.#covered.flatMap((covered) => [...covered]);
  }

  get slots(): SlotTable {
    return this.#backend.slots;
  }

  get verbInProgress(): VerbInProgress | null {
    return this.#backend.verbInProgress;
  }

  get writer(): string | null {
    return this.verbInProgress?.node ?? null;
  }

  get instances(): readonly ClusterNode[] {
    return this.#nodes;
  }

  findInstance(node: string | undefined): ClusterNode | null {
    return this.#nodes.find((instance) => instance.node === node) ?? null;
  }

  get areHintsReliable(): boolean {
    return this.#hintNetwork.isReliable;
  }

  endedMs(node: string): number {
    return this.#endedMs.get(node) ?? 0;
  }

  hasPendingWrite(id: DeliveryId): boolean {
    return [...this.#pendingWrites.values()].some((writes) => writes.has(id));
  }

  isLostClaim(token: string): boolean {
    return this.#lostClaims.has(token);
  }

  get secrets(): Template['secrets'] {
    return this.#template.secrets;
  }

  undisturbedSinceMs(delivery: Delivery): number | null {
    const { owner, sinceMs } = this.slots.slotOfGate(gateKey(delivery));
    const undisturbedMs = this.findInstance(owner ?? undefined)?.undisturbedSinceMs ?? null;
    return undisturbedMs === null ? null : Math.max(undisturbedMs, sinceMs);
  }

  holds({ node }: Pick<ClusterNode, 'node'>, delivery: Delivery): boolean {
    return this.slots.slotOfGate(gateKey(delivery)).owner === node;
  }

  /** Runs until nothing is left to do. Throws the violation if a checker found one. */
  async run(): Promise<void> {
    const undo = this.#bug?.patch?.();
    try {
      await this.#backend.open(this.time.now());
      for (let count = 0; count < this.#plan.nodes; count++) this.#start();
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
      for (const node of this.#nodes) node.end();
      await this.#backend.close();
      this.rows.close();
    }
  }

  async #step(): Promise<void> {
    const event = this.time.next();
    if (event === null) throw new Violation('completion', 'no event is planned');
    await event.act();
    await drainCallbacks();
    this.#countLeases();
    this.#runner.notify((checker) => checker.step?.());
    this.#runner.throwFailure();
    if (this.#mustCrash !== null) this.#crash(this.#mustCrash.node, this.#mustCrash.when);
  }

  #countLeases(): void {
    const now = this.time.now();
    for (const instance of this.#nodes) {
      const until = this.slots.leases.get(instance.node) ?? 0;
      if (until <= now + CLOCK_ERROR_MS_MAX) instance.leaseInvalidMs = this.time.elapsedMs;
    }
  }

  fail(error: unknown): void {
    this.#runner.fail(error);
  }

  #later(ms: number, act: () => void | Promise<void>): void {
    this.time.after(ms, 'script', this.#script, act);
  }

  #createBackend(prng: Prng): Backend {
    return new Backend({
      directory: this.directory,
      plan: this.#plan,
      prng,
      bug: this.#bug,
      time: this.time,
      observer: this.observer,
      trace: (what) => this.trace.add(what),
      fail: (error) => this.fail(error),
      slotChanged: (change) => this.#slotChanged(change),
      disturbed: (node, ms) => {
        this.disturbedMs = Math.max(this.disturbedMs, this.time.elapsedMs + ms);
        node.storeDisturbedMs = Math.max(node.storeDisturbedMs, this.time.elapsedMs + ms);
      },
      refused: (write) => this.#runner.notify((checker) => checker.claimRefused?.(write)),
      verbEnded: (node, verb) => {
        if (verb === 'claim' || verb === 'settle') this.#nodeFaults.maybeFail(node, `at a ${verb}`);
      },
    });
  }

  #createNodeFaults(prng: Prng): NodeFaults {
    return new NodeFaults(this.#plan, prng, {
      time: this.time,
      nodes: () => this.#nodes,
      later: (ms, act) => this.#later(ms, act),
      trace: (what) => this.trace.add(what),
      crash: (node, when) => {
        this.#mustCrash ??= { node, when };
      },
      stop: (node, graceMs) => this.#stop(node, graceMs),
      cutOff: (node, isCut) => this.#backend.cutOff(node, isCut),
    });
  }

  #slotChanged(change: SlotChange): void {
    const [before, after] = change;
    this.#runner.notify((checker) => checker.slotChanged?.(change));
    if (before.owner === null) return;
    const owner = this.findInstance(before.owner);
    const hadTime =
      owner?.node === this.writer &&
      owner !== null &&
      this.time.elapsedMs - owner.disturbedMs > UNDISTURBED_MS;
    const how = after.owner === null && hadTime ? 'given_back' : 'lost';
    const isAmong = (gate: string) => this.slots.slotOfGate(gate).slot === after.slot;
    this.#runner.notify((checker) => checker.gatesMoved?.(isAmong, how));
  }

  #start(): void {
    if (this.#nodes.length >= this.#plan.nodes) return;
    const name = `node${this.stats.starts++}`;
    const node = new ClusterNode({
      node: name,
      prng: this.#prngs.ids,
      wallClock: this.#nodeFaults.wallClock(name),
      stopwatch: this.#stopwatch(),
      vault: this.#vault,
      bug: this.#bug,
      insight: this.#insight,
      log: this.#logOf(name),
      elapsedMs: () => this.time.elapsedMs,
      timers: (scope) => lateTimers(this.time, this.#prngs.timers, scope),
      egress: (own) => this.#network.egress(own.node, own.scope, own),
      peers: (own) => this.#hintNetwork.of(own),
      store: (own) => this.#storeOf(own),
    });
    this.#nodes = [...this.#nodes, node];
    this.changedMs = this.time.elapsedMs;
    this.trace.add(`start ${name}`);
    void this.#bringUp(node);
  }

  async #bringUp(node: ClusterNode): Promise<void> {
    try {
      await node.start();
    } catch (error) {
      this.fail(error);
    }
    if (node.state !== 'starting') return;
    node.state = 'up';
    node.upSinceMs = this.time.elapsedMs;
    this.trace.add(`${node.node} is up`);
  }

  #storeOf(node: ClusterNode): SharedStore {
    return watchedStore(this.#backend.of(node), node.scope, this.#watch(node));
  }

  #stopwatch(): Stopwatch {
    const rate = 1 + (this.#prngs.timers.between(-1_000, 1_000) / 1_000) * DRIFT_MAX;
    return { elapsed: () => this.time.elapsedMs * rate };
  }

  #logOf(node: string): Log {
    const note = (fields: object, message: string) =>
      this.trace.add(`${node} log ${message} ${JSON.stringify(fields)}`);
    const info = (fields: object, message: string) => {
      if (message !== 'attempt') note(fields, message);
    };
    return { debug: () => {}, info, warn: note, error: note };
  }

  #watch(node: ClusterNode): Watch {
    const pendingWrites = new PendingWrites();
    this.#pendingWrites.set(node, pendingWrites);
    return watchInstance({
      instance: node,
      runner: this.#runner,
      pendingWrites,
      lostClaims: this.#lostClaims,
      elapsedMs: () => this.time.elapsedMs,
      readsFail: () => false,
      claimRequested: () => this.#nodeFaults.maybeFailAtClaim(node),
    });
  }

  #sent(sent: SentRequest): void {
    this.stats.requests++;
    this.trace.add(`${sent.node} send ${shortId(sent.deliveryId)} #${sent.attemptNo} ${sent.url}`);
    this.#runner.notify((checker) => checker.requestSent?.(sent));
    this.observer.recordSent(sent);
    const node = this.findInstance(sent.node);
    if (node !== null) this.#nodeFaults.maybeFail(node, 'while a request is in flight');
  }

  #ended(sent: SentRequest): void {
    const { outcome } = sent;
    const how = outcome?.kind === 'answered' ? JSON.stringify(outcome.result) : outcome?.kind;
    this.trace.add(`${sent.node} end ${shortId(sent.deliveryId)} #${sent.attemptNo} ${how}`);
    this.#runner.notify((checker) => checker.requestEnded?.(sent));
    const node = this.findInstance(sent.node);
    if (node !== null) this.#nodeFaults.maybeFail(node, 'after a request was answered');
  }

  #clients(): Clients {
    return {
      time: this.time,
      observer: this.observer,
      partitions: this.#template.partitions,
      contents: this.#contents,
      pickService: () => {
        const up = this.#nodes.filter(({ state }) => state === 'up');
        return up.length === 0 ? null : this.#prngs.clients.pick(up);
      },
      timeoutMs: CALL_TIMEOUT_MS,
      later: (ms, act) => this.#later(ms, act),
      trace: (what) => this.trace.add(what),
      maybeCrashAround: (at) => this.#nodeFaults.maybeCrashAround(at),
      callSent: (call) => this.#runner.notify((checker) => checker.callSent?.(call)),
      callAnswered: (call) => {
        this.stats.calls++;
        this.#runner.notify((checker) => checker.callAnswered?.(call));
      },
    };
  }

  #crash(node: ClusterNode, when: string): void {
    this.#mustCrash = null;
    if (this.#isHealed || node.state === 'ended') return;
    this.stats.crashes++;
    this.trace.add(`CRASH of ${node.node} ${when}`);
    this.#nodeFaults.disturbStoreCalls(node);
    this.#nodeEnded(node, 'crash');
  }

  #nodeEnded(node: ClusterNode, how: 'crash' | 'stop'): void {
    this.#endedMs.set(node.node, this.time.elapsedMs);
    if (this.slots.leases.has(node.node)) this.diedMs = this.time.elapsedMs;
    this.#network.orphan(node.node);
    this.#runner.notify((checker) => checker.instanceEnded?.(node, how));
    this.#nodes = this.#nodes.filter((other) => other !== node);
    node.end();
    this.#pendingWrites.delete(node);
    this.#backend.forget(node);
    this.changedMs = this.time.elapsedMs;
    this.#workload.serviceEnded(node);
    this.#later(this.#nodeFaults.downtimeMs(), () => this.#start());
  }

  #stop(node: ClusterNode, graceMs: number): void {
    this.stats.stops++;
    this.trace.add(`stop ${node.node} within ${graceMs} ms`);
    this.changedMs = this.time.elapsedMs;
    const end = () => this.#endStopped(node);
    node.stop(graceMs).then(end, (error: unknown) => {
      this.trace.add(`stop of ${node.node} failed: ${String(error)}`);
      end();
    });
  }

  /** As in the real service, pending store calls are answered before the end. */
  #endStopped(node: ClusterNode): void {
    const isIdle = this.#backend.isIdle(node);
    this.time.after(isIdle ? 0 : 5, 'work', node.scope, () => {
      if (!isIdle) return this.#endStopped(node);
      this.trace.add(`${node.node} has stopped`);
      this.#nodeEnded(node, 'stop');
    });
  }

  #heal(): void {
    this.trace.add('all faults stop');
    this.#isHealed = true;
    this.#mustCrash = null;
    this.#network.heal();
    this.#hintNetwork.heal();
    this.#backend.heal();
    this.#nodeFaults.end();
    for (let left = this.#plan.nodes - this.#nodes.length; left > 0; left--) this.#start();
    this.disturbedMs = Math.max(this.disturbedMs, this.time.elapsedMs);
  }

  /** Nothing is due or in flight, and enough time has passed to be sure. */
  #isQuiet(): boolean {
    const { elapsedMs } = this.time;
    const endedMs = Math.max(this.#plan.spanMs, this.changedMs);
    if (!this.#isHealed || elapsedMs - endedMs < SETTLES_WITHIN_MS) return false;
    const underWay = [...this.observer.open]
      .map((id) => this.observer.deliveries.get(id))
      .find((delivery) => delivery !== undefined && this.#isUnderWay(delivery));
    const [unswept] = this.observer.sweeps.keys();
    const left = underWay?.id ?? unswept;
    if (left === undefined) return true;
    if (elapsedMs - endedMs > QUIET_WITHIN_MS) {
      throw new Violation('completion', `${left} does not end`);
    }
    return false;
  }

  #isUnderWay({ status, dueAt }: Delivery): boolean {
    return status === 'claimed' || (isWaitingStatus(status) && (dueAt ?? 0) <= this.time.now());
  }
}
