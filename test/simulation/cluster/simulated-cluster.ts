/**
 * A cluster made from one number: several nodes on one store, each on a machine with a clock of its own, each
 * with its own way to the store and to the others; customers that turn to any of them; and the checkers that
 * watch. Nodes die between any two events, stop, stand still and go on, and cannot reach the store for a while.
 *
 * The time of the simulation is the clock of the store.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { PERMITS_MAX } from '#src/engine/queue/fair-queue.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { KeptInsight } from '#test/kept-insight.ts';
import { gateKey } from '../checkers/breaker.ts';
import { type ClaimAnswer, Violation } from '../checkers/checker.ts';
import { coverageOf } from '../coverage.ts';
import { DurableRows } from '../durable-rows.ts';
import { Network, type SentRequest } from '../network.ts';
import { isWaitingStatus, Observer, shortId } from '../observer.ts';
import type { SharedStore } from '../stores.ts';
import { START, seededRandom, type Template, vaultOf } from '../template.ts';
import { Trace } from '../trace.ts';
import { drainCallbacks, Scope, VirtualTime } from '../virtual-time.ts';
import { type Watch, watchedStore } from '../watched-store.ts';
import { type Clients, Workload } from '../workload.ts';
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
/** How long it may take, once faults have stopped, until everything that was due is under way or has ended. */
const SETTLES_WITHIN_MS = 15_000;
const QUIET_WITHIN_MS = 120_000;
/** Far more than any cluster has taken. */
const STEPS_MAX = 1_000_000;
/** Clients give up on a node so soon, and turn to another with the same key. */
const CALL_TIMEOUT_MS = 10_000;
/** Stopwatches go wrong by so much at most. */
const DRIFT_MAX = 0.000_2;
/** Saving and giving back, on a store that answers soon. */
const HAND_OVER_MS = 150;
/** Undisturbed for so long, a node has had the time to save what it gives back. */
const UNDISTURBED_MS = 5_000;
/** What the clock of a node may be wrong by. */
const CLOCK_ERROR_MS_MAX = 30;

export class SimulatedCluster implements ClusterSimulationView {
  readonly time = new VirtualTime(START);
  readonly trace = new Trace(this.time, TRACE_LINES);
  readonly observer: Observer;
  readonly #covered: readonly Iterable<readonly [string, number]>[];
  readonly directory: string;
  readonly retentionMs = 0;
  readonly handOverMs = HAND_OVER_MS;
  /** Permits belong to a process: where they are scarce, one process shows it. */
  readonly permitsMax = PERMITS_MAX;
  /** That of the store is never set. */
  readonly clockSetMs = -1_000_000;
  readonly slowUntilMs = -1;
  readonly stats = { starts: 0, crashes: 0, stops: 0, requests: 0, calls: 0 };
  readonly #plan: ClusterPlan;
  readonly #template: Template;
  readonly #bug: ClusterBug | null;
  readonly #checkers: ClusterChecker[] = [];
  readonly #backend: Backend;
  readonly #rows: DurableRows;
  readonly #vault: Vault;
  readonly #network: Network;
  readonly #insight = new KeptInsight(null);
  readonly #hintNetwork: HintNetwork;
  readonly #nodeFaults: NodeFaults;
  readonly #workload: Workload;
  readonly #script = new Scope();
  readonly #prngs: Readonly<Record<'clients' | 'ids' | 'timers', Prng>>;
  readonly #pendingWrites = new Map<ClusterNode, Map<DeliveryId, number>>();
  readonly #lostClaims = new Set<string>();
  readonly #endedMs = new Map<string, number>();
  #nodes: readonly ClusterNode[] = [];
  #failure: unknown = null;
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
    this.#rows = new DurableRows(this.directory);
    this.#vault = vaultOf(seededRandom(this.#prngs.ids));
    this.observer = new Observer(this.#rows, template.partitions, this.#checkers);
    this.#backend = this.#createBackend(stream(15));
    const coverages = [coverageOf(this), clusterCoverageOf(this)];
    this.#covered = coverages.map(({ covered }) => covered);
    this.#checkers.push(...coverages.map(({ checker }) => checker));
    this.#checkers.push(...CLUSTER_CHECKERS.map((make) => make(this)));
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
    return [...this.#pendingWrites.values()].some((asked) => asked.has(id));
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

  /** Runs until all is quiet; throws what went wrong. */
  async run(): Promise<void> {
    const undo = this.#bug?.patch?.();
    try {
      await this.#backend.open(this.time.now());
      for (let count = 0; count < this.#plan.nodes; count++) this.#start();
      await drainCallbacks();
      for (let steps = 0; !this.#isQuiet(); steps++) {
        if (steps > STEPS_MAX) throw new Violation('completion', 'it goes on and on');
        await this.#step();
      }
      this.#notify((checker) => checker.atEnd?.());
      this.#throwFailure();
    } finally {
      undo?.();
      for (const node of this.#nodes) node.end();
      await this.#backend.close();
      this.#rows.close();
    }
  }

  async #step(): Promise<void> {
    const event = this.time.next();
    if (event === null) throw new Violation('completion', 'nothing is left that could happen');
    await event.act();
    await drainCallbacks();
    this.#countLeases();
    this.#notify((checker) => checker.step?.());
    this.#throwFailure();
    if (this.#mustCrash !== null) this.#crash(this.#mustCrash.node, this.#mustCrash.when);
  }

  #countLeases(): void {
    const now = this.time.now();
    for (const instance of this.#nodes) {
      const until = this.slots.leases.get(instance.node) ?? 0;
      if (until <= now + CLOCK_ERROR_MS_MAX) instance.leaseInvalidMs = this.time.elapsedMs;
    }
  }

  #notify(to: (checker: ClusterChecker) => void): void {
    try {
      for (const checker of this.#checkers) to(checker);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Kept and thrown after the step: the engine must not catch what is meant for us. */
  fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.trace.add(`✗ ${String(error)}`);
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
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
      refused: (write) => this.#notify((checker) => checker.claimRefused?.(write)),
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
    this.#notify((checker) => checker.slotChanged?.(change));
    if (before.owner === null) return;
    const owner = this.findInstance(before.owner);
    const hadTime =
      owner?.node === this.writer &&
      owner !== null &&
      this.time.elapsedMs - owner.disturbedMs > UNDISTURBED_MS;
    const how = after.owner === null && hadTime ? 'given_back' : 'lost';
    const isAmong = (gate: string) => this.slots.slotOfGate(gate).slot === after.slot;
    this.#notify((checker) => checker.gatesMoved?.(isAmong, how));
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
      timers: (scope) => this.#timersOf(scope),
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
    this.#pendingWrites.set(node, new Map());
    return watchedStore(this.#backend.of(node), node.scope, this.#watch(node));
  }

  #stopwatch(): Stopwatch {
    const rate = 1 + (this.#prngs.timers.between(-1_000, 1_000) / 1_000) * DRIFT_MAX;
    return { elapsed: () => this.time.elapsedMs * rate };
  }

  /** Timers are late by a little, and now and then by more. */
  #timersOf(scope: Scope): Timers & Stopwatch {
    const { timers } = this.#prngs;
    return {
      after: (ms, act) => {
        const late = timers.chance(0.98) ? timers.int(2) : timers.int(30);
        return this.time.after(ms + late, 'timer', scope, act);
      },
      elapsed: () => this.time.elapsedMs,
    };
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
    return {
      readsFail: () => false,
      writesStarted: (deliveries) => this.#countWrites(node, deliveries, 1),
      writesEnded: (deliveries) => {
        this.#countWrites(node, deliveries, -1);
        this.#notify((checker) => checker.writesEnded?.(deliveries));
      },
      claimRequested: (write) => {
        this.#notify((checker) => checker.claimRequested?.(write, node));
        this.#nodeFaults.maybeFailAtClaim(node);
      },
      claimAnswered: (write, answer) => this.#claimAnswered(write, answer),
      settleRequested: (write) => this.#notify((checker) => checker.settleRequested?.(write, node)),
      endRequested: (write) => this.#notify((checker) => checker.endRequested?.(write, node)),
      deferRequested: (delivery) => this.#notify((checker) => checker.deferRequested?.(delivery, node)),
      learned: (deliveries) => this.#notify((checker) => checker.learned?.(deliveries)),
    };
  }

  #countWrites(node: ClusterNode, deliveries: readonly Delivery[], by: number): void {
    const asked = this.#pendingWrites.get(node);
    for (const { id } of deliveries) {
      const count = (asked?.get(id) ?? 0) + by;
      if (count > 0) asked?.set(id, count);
      else asked?.delete(id);
    }
  }

  #claimAnswered(write: ClaimWrite, answer: ClaimAnswer): void {
    if (answer === 'failed') this.#lostClaims.add(write.attempt.id);
    this.#notify((checker) => checker.claimAnswered?.(write, answer));
  }

  #sent(sent: SentRequest): void {
    this.stats.requests++;
    this.trace.add(`${sent.node} send ${shortId(sent.deliveryId)} #${sent.attemptNo} ${sent.url}`);
    this.#notify((checker) => checker.requestSent?.(sent));
    this.observer.recordSent(sent);
    const node = this.findInstance(sent.node);
    if (node !== null) this.#nodeFaults.maybeFail(node, 'while a request is under way');
  }

  #ended(sent: SentRequest): void {
    const { outcome } = sent;
    const how = outcome?.kind === 'answered' ? JSON.stringify(outcome.result) : outcome?.kind;
    this.trace.add(`${sent.node} end ${shortId(sent.deliveryId)} #${sent.attemptNo} ${how}`);
    this.#notify((checker) => checker.requestEnded?.(sent));
    const node = this.findInstance(sent.node);
    if (node !== null) this.#nodeFaults.maybeFail(node, 'after a request was answered');
  }

  #clients(): Clients {
    return {
      time: this.time,
      observer: this.observer,
      partitions: this.#template.partitions,
      pickService: () => {
        const up = this.#nodes.filter(({ state }) => state === 'up');
        return up.length === 0 ? null : this.#prngs.clients.pick(up);
      },
      timeoutMs: CALL_TIMEOUT_MS,
      later: (ms, act) => this.#later(ms, act),
      trace: (what) => this.trace.add(what),
      maybeCrashAround: (at) => this.#nodeFaults.maybeCrashAround(at),
      callAnswered: (call) => {
        this.stats.calls++;
        this.#notify((checker) => checker.callAnswered?.(call));
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
    this.#notify((checker) => checker.instanceEnded?.(node, how));
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

  /** As the service does: what is still being answered is let through. */
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

  /** Nothing is due or under way, and it has had the time to show. */
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
      throw new Violation('completion', `${left} does not come to its end`);
    }
    return false;
  }

  #isUnderWay({ status, dueAt }: Delivery): boolean {
    return status === 'claimed' || (isWaitingStatus(status) && (dueAt ?? 0) <= this.time.now());
  }
}
