/**
 * Plans and injects the faults of nodes. A node crashes, stops, pauses and continues, loses its store, or has
 * its clock set. Some faults come at random times, others at critical points.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { VirtualTime } from '#test/simulation/virtual-time.ts';
import type { ClusterNode } from './node.ts';
import type { ClusterPlan } from './plan.ts';

/** Durations around the length of a lease: shorter, about as long, and longer. */
const FAULT_LASTS_MS: readonly (readonly [number, readonly [number, number]])[] = [
  [3, [100, 2_000]],
  [4, [2_500, 5_000]],
  [3, [5_000, 25_000]],
];
const DOWNTIME_MS: readonly (readonly [number, readonly [number, number]])[] = [
  [3, [0, 500]],
  [4, [500, 6_000]],
  [3, [6_000, 40_000]],
];
/** The time between two nodes of a rolling restart. */
const RESTART_EVERY_MS = 7_000;
const PAUSE_AT_WRITE_CHANCE = 0.03;
const STOP_AT_CLAIM_CHANCE = 0.03;
const CRASH_WHEN_BUSY_CHANCE = 0.6;
const STILL_ARRIVES_CHANCE = 0.6;
/** The chance that calls on their way to the store are delayed together with their node. */
const STORE_CALLS_DELAYED_CHANCE = 0.4;

/** What the faults act on. */
export interface FaultTarget {
  readonly time: VirtualTime;
  nodes(): readonly ClusterNode[];
  later(ms: number, act: () => void): void;
  trace(what: string): void;
  /** Crashes the node after the current event. */
  crash(node: ClusterNode, when: string): void;
  stop(node: ClusterNode, graceMs: number): void;
  cutOff(node: ClusterNode, isCut: boolean): void;
}

export class NodeFaults {
  readonly #plan: ClusterPlan;
  readonly #prng: Prng;
  readonly #target: FaultTarget;
  /** The error of each machine's wall clock. */
  readonly #clockErrorMs = new Map<string, number>();
  #isOver = false;

  constructor(plan: ClusterPlan, prng: Prng, target: FaultTarget) {
    this.#plan = plan;
    this.#prng = prng;
    this.#target = target;
    const { spanMs, crashes, stops, pauses, cuts, outages, clockSteps, rollingRestarts } = plan;
    const planned = (count: number, act: (node: ClusterNode) => void) => {
      for (let at = 0; at < count; at++) target.later(prng.int(spanMs), () => this.#onRandomNode(act));
    };
    planned(crashes, (node) => target.crash(node, 'at any time'));
    planned(stops, (node) => this.#stop(node));
    planned(pauses, (node) => this.#pause(node));
    planned(cuts, (node) => this.#cutOff([node]));
    planned(outages, () => this.#cutOff(target.nodes()));
    planned(clockSteps, (node) => this.#setClock(node));
    planned(rollingRestarts, () => this.#restartAll());
  }

  /** From now on no fault occurs. */
  end(): void {
    this.#isOver = true;
    for (const node of this.#target.nodes()) this.#resume(node);
  }

  #onRandomNode(act: (node: ClusterNode) => void): void {
    const nodes = this.#target.nodes();
    if (!this.#isOver && nodes.length > 0) act(this.#prng.pick(nodes));
  }

  /** The time until a new node replaces one that ended. */
  downtimeMs(): number {
    const [from, to] = this.#prng.weighted(DOWNTIME_MS);
    return this.#isOver ? 0 : this.#prng.between(from, to);
  }

  /** The store calls of a node that dies never arrive, arrive soon, or arrive much later. */
  disturbStoreCalls(node: ClusterNode): void {
    if (!this.#prng.chance(STILL_ARRIVES_CHANCE)) node.storeCalls.end();
    else if (this.#prng.chance(STORE_CALLS_DELAYED_CHANCE)) this.#delayStoreCalls(node);
  }

  #delayStoreCalls(node: ClusterNode): void {
    const { time } = this.#target;
    const ms = this.#faultMs();
    node.storeCalls.pause();
    node.storeDisturbedMs = Math.max(node.storeDisturbedMs, time.elapsedMs + ms);
    this.#target.later(ms, () => time.resume(node.storeCalls));
  }

  /** The clock of a machine. It is wrong from the beginning, and is set now and then. */
  wallClock(node: string): Clock {
    const { skewMsMax } = this.#plan;
    this.#clockErrorMs.set(node, this.#prng.between(-skewMsMax, skewMsMax));
    return { now: () => instant(this.#target.time.now() + (this.#clockErrorMs.get(node) ?? 0)) };
  }

  #setClock({ node }: ClusterNode): void {
    const prng = this.#prng;
    const byMs = prng.pick([-1, 1]) * prng.pick([prng.int(1_000), prng.int(3_600_000)]);
    this.#target.trace(`the clock of ${node} is set by ${byMs} ms`);
    this.#clockErrorMs.set(node, (this.#clockErrorMs.get(node) ?? 0) + byMs);
  }

  /** Called while a claim is on its way. */
  maybeFailAtClaim(node: ClusterNode): void {
    this.maybeFail(node, 'with a claim on its way');
    this.#maybeStop(node);
  }

  /** Called at points where a crash or a pause is critical. */
  maybeFail(node: ClusterNode, when: string): void {
    if (this.#isOver) return;
    const { crashChance, pauses } = this.#plan;
    if (crashChance > 0 && this.#prng.chance(crashChance)) this.#target.crash(node, when);
    else if (pauses > 0 && this.#prng.chance(PAUSE_AT_WRITE_CHANCE)) {
      this.#target.later(0, () => this.#pause(node));
    }
  }

  /** Some stops come while a claim is being written. */
  #maybeStop(node: ClusterNode): void {
    if (this.#isOver || this.#plan.stops === 0 || !this.#prng.chance(STOP_AT_CLAIM_CHANCE)) return;
    this.#target.later(0, () => this.#stop(node));
  }

  /** Many deliveries are due at that instant. A crash around it leaves some of them to other nodes. */
  maybeCrashAround(at: Instant): void {
    if (this.#plan.crashes === 0 || !this.#prng.chance(CRASH_WHEN_BUSY_CHANCE)) return;
    const { time } = this.#target;
    const inMs = time.elapsedAt(at) - time.elapsedMs + this.#prng.between(-1_000, 3_000);
    this.#target.later(inMs, () =>
      this.#onRandomNode((node) => this.#target.crash(node, 'while many deliveries are due')),
    );
  }

  #stop(node: ClusterNode): void {
    if (this.#isOver || node.state !== 'up' || node.isPaused) return;
    this.#target.stop(node, this.#prng.pick([0, 100, 5_000, 30_000]));
  }

  #restartAll(): void {
    for (const [at, node] of this.#target.nodes().entries()) {
      this.#target.later(at * RESTART_EVERY_MS, () => this.#stop(node));
    }
  }

  #pause(node: ClusterNode): void {
    if (this.#isOver || node.state === 'ended' || node.isPaused) return;
    const ms = this.#faultMs();
    this.#target.trace(`${node.node} is paused for ${ms} ms`);
    node.scope.pause();
    if (this.#prng.chance(STORE_CALLS_DELAYED_CHANCE)) this.#delayStoreCalls(node);
    this.#target.later(ms, () => this.#resume(node));
  }

  #resume(node: ClusterNode): void {
    if (node.state === 'ended' || !node.isPaused) return;
    const { time } = this.#target;
    this.#target.trace(`${node.node} continues`);
    node.resumedMs = time.elapsedMs;
    time.resume(node.scope);
  }

  #cutOff(nodes: readonly ClusterNode[]): void {
    const ms = this.#faultMs();
    this.#target.trace(`${nodes.map(({ node }) => node).join(', ')} cannot reach the store for ${ms} ms`);
    for (const node of nodes) this.#target.cutOff(node, true);
    this.#target.later(ms, () => {
      for (const node of nodes) this.#target.cutOff(node, false);
    });
  }

  #faultMs(): number {
    const [from, to] = this.#prng.weighted(FAULT_LASTS_MS);
    return this.#prng.between(from, to);
  }
}
