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
import { Network, type Sent } from '../network.ts';
import type { SharedStore } from '../stores.ts';
import { START, seededRandom, type Template, vaultOf } from '../template.ts';
import { Trace } from '../trace.ts';
import { Scope, settled, VirtualTime } from '../virtual-time.ts';
import { type Watch, watchedStore } from '../watched-store.ts';
import { isWaitingStatus, shortId, Witness } from '../witness.ts';
import { type Clients, Workload } from '../workload.ts';
import { Backend } from './backend.ts';
import type { ClusterBug } from './bugs.ts';
import { CLUSTER_CHECKERS } from './checkers/all.ts';
import { clusterCoverageOf } from './coverage.ts';
import { Misfortunes } from './misfortunes.ts';
import { ClusterNode } from './node.ts';
import type { ClusterPlan } from './plan.ts';
import { Post } from './post.ts';
import type { ClusterChecker, ClusterScene, Writing } from './scene.ts';
import type { SlotChange, SlotTable } from './slot-table.ts';

const TRACE_LINES = 400;
/** How long it may take, once faults have stopped, until everything that was due is under way or has ended. */
const SETTLES_WITHIN_MS = 15_000;
const QUIET_WITHIN_MS = 120_000;
/** Far more than any cluster has taken. */
const STEPS_MAX = 1_000_000;
/** Clients give up on a node so soon, and turn to another with the same key. */
const PATIENCE_MS = 10_000;
/** Stopwatches go wrong by so much at most. */
const DRIFT_MAX = 0.000_2;
/** Saving and giving back, on a store that answers soon. */
const HAND_OVER_MS = 150;
/** Undisturbed for so long, a node has had the time to save what it gives back. */
const CALM_MS = 5_000;
/** What the clock of a node may be wrong by. */
const CLOCK_MS = 30;

export class SimulatedCluster implements ClusterScene {
  readonly time = new VirtualTime(START);
  readonly trace = new Trace(this.time, TRACE_LINES);
  readonly witness: Witness;
  readonly #seen: readonly Iterable<readonly [string, number]>[];
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
  readonly #post: Post;
  readonly #misfortunes: Misfortunes;
  readonly #workload: Workload;
  readonly #script = new Scope();
  readonly #prngs: Readonly<Record<'clients' | 'ids' | 'timers', Prng>>;
  readonly #asked = new Map<ClusterNode, Map<DeliveryId, number>>();
  readonly #lostClaims = new Set<string>();
  readonly #endedMs = new Map<string, number>();
  #nodes: readonly ClusterNode[] = [];
  #failure: unknown = null;
  #mustCrash: { readonly node: ClusterNode; readonly when: string } | null = null;
  #isHealed = false;
  troubleMs = -1;
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
    this.witness = new Witness(this.#rows, template.partitions, this.#checkers);
    this.#backend = this.#backendOf(stream(15));
    const coverages = [coverageOf(this), clusterCoverageOf(this)];
    this.#seen = coverages.map(({ seen }) => seen);
    this.#checkers.push(...coverages.map(({ checker }) => checker));
    this.#checkers.push(...CLUSTER_CHECKERS.map((make) => make(this)));
    this.#network = new Network(this.time, stream(16), {
      sent: (sent) => this.#sent(sent),
      ended: (sent) => this.#ended(sent),
    });
    this.#post = new Post(this.time, stream(17), plan, () => this.#nodes);
    this.#misfortunes = this.#misfortunesOf(stream(18));
    this.#workload = new Workload(this.#clients(), stream(19), plan);
    this.#later(plan.spanMs, () => this.#heal());
  }

  get seen(): Iterable<readonly [string, number]> {
    return this.#seen.flatMap((seen) => [...seen]);
  }

  get slots(): SlotTable {
    return this.#backend.slots;
  }

  get writing(): Writing | null {
    return this.#backend.writing;
  }

  get writer(): string | null {
    return this.writing?.node ?? null;
  }

  get lives(): readonly ClusterNode[] {
    return this.#nodes;
  }

  lifeOf(node: string | undefined): ClusterNode | null {
    return this.#nodes.find((life) => life.node === node) ?? null;
  }

  get isPostReliable(): boolean {
    return this.#post.isReliable;
  }

  endedMs(node: string): number {
    return this.#endedMs.get(node) ?? 0;
  }

  isAsked(id: DeliveryId): boolean {
    return [...this.#asked.values()].some((asked) => asked.has(id));
  }

  isLostClaim(token: string): boolean {
    return this.#lostClaims.has(token);
  }

  get secrets(): Template['secrets'] {
    return this.#template.secrets;
  }

  undisturbedSinceMs(delivery: Delivery): number | null {
    const { owner, sinceMs } = this.slots.ofGate(gateKey(delivery));
    const calmMs = this.lifeOf(owner ?? undefined)?.calmSinceMs ?? null;
    return calmMs === null ? null : Math.max(calmMs, sinceMs);
  }

  holds({ node }: Pick<ClusterNode, 'node'>, delivery: Delivery): boolean {
    return this.slots.ofGate(gateKey(delivery)).owner === node;
  }

  /** Runs until all is quiet; throws what went wrong. */
  async run(): Promise<void> {
    const undo = this.#bug?.patch?.();
    try {
      await this.#backend.open(this.time.now());
      for (let count = 0; count < this.#plan.nodes; count++) this.#start();
      await settled();
      for (let steps = 0; !this.#isQuiet(); steps++) {
        if (steps > STEPS_MAX) throw new Violation('promise', 'it goes on and on');
        await this.#step();
      }
      this.#tell((checker) => checker.atEnd?.());
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
    if (event === null) throw new Violation('promise', 'nothing is left that could happen');
    await event.act();
    await settled();
    this.#countLeases();
    this.#tell((checker) => checker.step?.());
    this.#throwFailure();
    if (this.#mustCrash !== null) this.#crash(this.#mustCrash.node, this.#mustCrash.when);
  }

  #countLeases(): void {
    const now = this.time.now();
    for (const life of this.#nodes) {
      const until = this.slots.leases.get(life.node) ?? 0;
      if (until <= now + CLOCK_MS) life.leaselessMs = this.time.elapsedMs;
    }
  }

  #tell(to: (checker: ClusterChecker) => void): void {
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

  #backendOf(prng: Prng): Backend {
    return new Backend({
      directory: this.directory,
      plan: this.#plan,
      prng,
      bug: this.#bug,
      time: this.time,
      witness: this.witness,
      tell: (what) => this.trace.add(what),
      fail: (error) => this.fail(error),
      slotChanged: (change) => this.#slotChanged(change),
      hindered: (node, ms) => {
        this.troubleMs = Math.max(this.troubleMs, this.time.elapsedMs + ms);
        node.hinderedMs = Math.max(node.hinderedMs, this.time.elapsedMs + ms);
      },
      refused: (write) => this.#tell((checker) => checker.refused?.(write)),
      carriedOut: (node, verb) => {
        if (verb === 'claim' || verb === 'settle') this.#misfortunes.mayStrike(node, `at a ${verb}`);
      },
    });
  }

  #misfortunesOf(prng: Prng): Misfortunes {
    return new Misfortunes(this.#plan, prng, {
      time: this.time,
      nodes: () => this.#nodes,
      later: (ms, act) => this.#later(ms, act),
      tell: (what) => this.trace.add(what),
      crash: (node, when) => {
        this.#mustCrash ??= { node, when };
      },
      stop: (node, graceMs) => this.#stop(node, graceMs),
      cutOff: (node, isCut) => this.#backend.cutOff(node, isCut),
    });
  }

  #slotChanged(change: SlotChange): void {
    const [before, after] = change;
    this.#tell((checker) => checker.slot?.(change));
    if (before.owner === null) return;
    const owner = this.lifeOf(before.owner);
    const hadTime =
      owner?.node === this.writer && owner !== null && this.time.elapsedMs - owner.troubleMs > CALM_MS;
    const how = after.owner === null && hadTime ? 'given_back' : 'lost';
    const isAmong = (gate: string) => this.slots.ofGate(gate).slot === after.slot;
    this.#tell((checker) => checker.gatesMoved?.(isAmong, how));
  }

  #start(): void {
    if (this.#nodes.length >= this.#plan.nodes) return;
    const name = `node${this.stats.starts++}`;
    const node = new ClusterNode({
      node: name,
      prng: this.#prngs.ids,
      wallClock: this.#misfortunes.wallClock(name),
      stopwatch: this.#stopwatch(),
      vault: this.#vault,
      bug: this.#bug,
      insight: this.#insight,
      log: this.#logOf(name),
      elapsedMs: () => this.time.elapsedMs,
      timers: (scope) => this.#timersOf(scope),
      egress: (own) => this.#network.egress(own.node, own.scope, own),
      peers: (own) => this.#post.of(own),
      store: (own) => this.#storeOf(own),
    });
    this.#nodes = [...this.#nodes, node];
    this.changedMs = this.time.elapsedMs;
    this.trace.add(`start ${name}`);
    void this.#rise(node);
  }

  async #rise(node: ClusterNode): Promise<void> {
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
    this.#asked.set(node, new Map());
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
      asked: (deliveries) => this.#count(node, deliveries, 1),
      unasked: (deliveries) => {
        this.#count(node, deliveries, -1);
        this.#tell((checker) => checker.unasked?.(deliveries));
      },
      claimAsked: (write) => {
        this.#tell((checker) => checker.claimAsked?.(write, node));
        this.#misfortunes.mayStrikeAtClaim(node);
      },
      claimAnswered: (write, answer) => this.#claimAnswered(write, answer),
      settleAsked: (write) => this.#tell((checker) => checker.settleAsked?.(write, node)),
      endAsked: (write) => this.#tell((checker) => checker.endAsked?.(write, node)),
      deferAsked: (delivery) => this.#tell((checker) => checker.deferAsked?.(delivery, node)),
      heard: (deliveries) => this.#tell((checker) => checker.heard?.(deliveries)),
    };
  }

  #count(node: ClusterNode, deliveries: readonly Delivery[], by: number): void {
    const asked = this.#asked.get(node);
    for (const { id } of deliveries) {
      const count = (asked?.get(id) ?? 0) + by;
      if (count > 0) asked?.set(id, count);
      else asked?.delete(id);
    }
  }

  #claimAnswered(write: ClaimWrite, answer: ClaimAnswer): void {
    if (answer === 'failed') this.#lostClaims.add(write.attempt.id);
    this.#tell((checker) => checker.claimAnswered?.(write, answer));
  }

  #sent(sent: Sent): void {
    this.stats.requests++;
    this.trace.add(`${sent.node} send ${shortId(sent.deliveryId)} #${sent.attemptNo} ${sent.url}`);
    this.#tell((checker) => checker.sent?.(sent));
    this.witness.saw(sent);
    const node = this.lifeOf(sent.node);
    if (node !== null) this.#misfortunes.mayStrike(node, 'while a request is under way');
  }

  #ended(sent: Sent): void {
    const { fortune } = sent;
    const how = fortune?.kind === 'answered' ? JSON.stringify(fortune.result) : fortune?.kind;
    this.trace.add(`${sent.node} end ${shortId(sent.deliveryId)} #${sent.attemptNo} ${how}`);
    this.#tell((checker) => checker.exchanged?.(sent));
    const node = this.lifeOf(sent.node);
    if (node !== null) this.#misfortunes.mayStrike(node, 'after a request was answered');
  }

  #clients(): Clients {
    return {
      time: this.time,
      witness: this.witness,
      partitions: this.#template.partitions,
      reachable: () => {
        const up = this.#nodes.filter(({ state }) => state === 'up');
        return up.length === 0 ? null : this.#prngs.clients.pick(up);
      },
      patienceMs: PATIENCE_MS,
      later: (ms, act) => this.#later(ms, act),
      tell: (what) => this.trace.add(what),
      crashAround: (at) => this.#misfortunes.mayStrikeAround(at),
      answered: (call) => {
        this.stats.calls++;
        this.#tell((checker) => checker.answered?.(call));
      },
    };
  }

  #crash(node: ClusterNode, when: string): void {
    this.#mustCrash = null;
    if (this.#isHealed || node.state === 'ended') return;
    this.stats.crashes++;
    this.trace.add(`CRASH of ${node.node} ${when}`);
    this.#misfortunes.strand(node);
    this.#gone(node, 'crash');
  }

  #gone(node: ClusterNode, how: 'crash' | 'stop'): void {
    this.#endedMs.set(node.node, this.time.elapsedMs);
    if (this.slots.leases.has(node.node)) this.diedMs = this.time.elapsedMs;
    this.#network.orphan(node.node);
    this.#tell((checker) => checker.lifeEnded?.(node, how));
    this.#nodes = this.#nodes.filter((other) => other !== node);
    node.end();
    this.#asked.delete(node);
    this.#backend.forget(node);
    this.changedMs = this.time.elapsedMs;
    this.#workload.cutOff(node);
    this.#later(this.#misfortunes.downtimeMs(), () => this.#start());
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
      this.#gone(node, 'stop');
    });
  }

  #heal(): void {
    this.trace.add('all faults stop');
    this.#isHealed = true;
    this.#mustCrash = null;
    this.#network.heal();
    this.#post.heal();
    this.#backend.heal();
    this.#misfortunes.end();
    for (let left = this.#plan.nodes - this.#nodes.length; left > 0; left--) this.#start();
    this.troubleMs = Math.max(this.troubleMs, this.time.elapsedMs);
  }

  /** Nothing is due or under way, and it has had the time to show. */
  #isQuiet(): boolean {
    const { elapsedMs } = this.time;
    const endedMs = Math.max(this.#plan.spanMs, this.changedMs);
    if (!this.#isHealed || elapsedMs - endedMs < SETTLES_WITHIN_MS) return false;
    const underWay = [...this.witness.open]
      .map((id) => this.witness.deliveries.get(id))
      .find((delivery) => delivery !== undefined && this.#isUnderWay(delivery));
    const [unswept] = this.witness.sweeps.keys();
    const left = underWay?.id ?? unswept;
    if (left === undefined) return true;
    if (elapsedMs - endedMs > QUIET_WITHIN_MS) {
      throw new Violation('promise', `${left} does not come to its end`);
    }
    return false;
  }

  #isUnderWay({ status, dueAt }: Delivery): boolean {
    return status === 'claimed' || (isWaitingStatus(status) && (dueAt ?? 0) <= this.time.now());
  }
}
