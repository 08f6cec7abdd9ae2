/**
 * What goes wrong with nodes, and when: they die, are stopped, stand still and go on where they were, do not reach
 * the store, have their clocks set. Some of it comes at any time, some where it hurts.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { VirtualTime } from '../virtual-time.ts';
import type { ClusterNode } from './node.ts';
import type { ClusterPlan } from './plan.ts';

/** Around the length of a lease: shorter, about as long, longer. */
const SPELL_MS: readonly (readonly [number, readonly [number, number]])[] = [
  [3, [100, 2_000]],
  [4, [2_500, 5_000]],
  [3, [5_000, 25_000]],
];
const DOWNTIME_MS: readonly (readonly [number, readonly [number, number]])[] = [
  [3, [0, 500]],
  [4, [500, 6_000]],
  [3, [6_000, 40_000]],
];
/** Between two of a rolling restart. */
const ROLLS_EVERY_MS = 7_000;
const PAUSE_AT_WRITE_CHANCE = 0.03;
const STOP_AT_CLAIM_CHANCE = 0.03;
const CRASH_WHEN_BUSY_CHANCE = 0.6;
const STILL_ARRIVES_CHANCE = 0.6;
/** What is on its way to the store is held up, beside whoever sent it. */
const STRANDED_CHANCE = 0.4;

/** What they happen to. */
export interface Victims {
  readonly time: VirtualTime;
  nodes(): readonly ClusterNode[];
  later(ms: number, act: () => void): void;
  tell(what: string): void;
  /** After the event that is under way. */
  crash(node: ClusterNode, when: string): void;
  stop(node: ClusterNode, graceMs: number): void;
  cutOff(node: ClusterNode, isCut: boolean): void;
}

export class Misfortunes {
  readonly #plan: ClusterPlan;
  readonly #prng: Prng;
  readonly #victims: Victims;
  /** By how much the wall clocks of the machines are wrong. */
  readonly #wrongMs = new Map<string, number>();
  #isOver = false;

  constructor(plan: ClusterPlan, prng: Prng, victims: Victims) {
    this.#plan = plan;
    this.#prng = prng;
    this.#victims = victims;
    const { spanMs, crashes, stops, pauses, cuts, outages, clockSteps, rollingRestarts } = plan;
    const planned = (count: number, act: (node: ClusterNode) => void) => {
      for (let at = 0; at < count; at++) victims.later(prng.int(spanMs), () => this.#onOne(act));
    };
    planned(crashes, (node) => victims.crash(node, 'at any time'));
    planned(stops, (node) => this.#stop(node));
    planned(pauses, (node) => this.#standStill(node));
    planned(cuts, (node) => this.#cutOff([node]));
    planned(outages, () => this.#cutOff(victims.nodes()));
    planned(clockSteps, (node) => this.#setClock(node));
    planned(rollingRestarts, () => this.#roll());
  }

  /** From now on nothing more happens to anybody. */
  end(): void {
    this.#isOver = true;
    for (const node of this.#victims.nodes()) this.#goOn(node);
  }

  #onOne(act: (node: ClusterNode) => void): void {
    const nodes = this.#victims.nodes();
    if (!this.#isOver && nodes.length > 0) act(this.#prng.pick(nodes));
  }

  /** How long nobody takes the place of a node that ended. */
  downtimeMs(): number {
    const [from, to] = this.#prng.weighted(DOWNTIME_MS);
    return this.#isOver ? 0 : this.#prng.between(from, to);
  }

  /** What a node that dies has sent to the store never arrives, or soon, or when it is not expected any more. */
  strand(node: ClusterNode): void {
    if (!this.#prng.chance(STILL_ARRIVES_CHANCE)) node.onItsWay.end();
    else if (this.#prng.chance(STRANDED_CHANCE)) this.#holdUp(node);
  }

  #holdUp(node: ClusterNode): void {
    const { time } = this.#victims;
    const ms = this.#spellMs();
    node.onItsWay.standStill();
    node.hinderedMs = Math.max(node.hinderedMs, time.elapsedMs + ms);
    this.#victims.later(ms, () => time.goOn(node.onItsWay));
  }

  /** The clock of a machine: wrong from the beginning, and set now and then. */
  wallClock(node: string): Clock {
    const { skewMsMax } = this.#plan;
    this.#wrongMs.set(node, this.#prng.between(-skewMsMax, skewMsMax));
    return { now: () => instant(this.#victims.time.now() + (this.#wrongMs.get(node) ?? 0)) };
  }

  #setClock({ node }: ClusterNode): void {
    const prng = this.#prng;
    const byMs = prng.pick([-1, 1]) * prng.pick([prng.int(1_000), prng.int(3_600_000)]);
    this.#victims.tell(`the clock of ${node} is set by ${byMs} ms`);
    this.#wrongMs.set(node, (this.#wrongMs.get(node) ?? 0) + byMs);
  }

  /** While a claim is on its way. */
  mayStrikeAtClaim(node: ClusterNode): void {
    this.mayStrike(node, 'with a claim on its way');
    this.#mayStop(node);
  }

  /** Here a death hurts, and so does standing still. */
  mayStrike(node: ClusterNode, when: string): void {
    if (this.#isOver) return;
    const { crashChance, pauses } = this.#plan;
    if (crashChance > 0 && this.#prng.chance(crashChance)) this.#victims.crash(node, when);
    else if (pauses > 0 && this.#prng.chance(PAUSE_AT_WRITE_CHANCE)) {
      this.#victims.later(0, () => this.#standStill(node));
    }
  }

  /** Some stops come while a claim is being written. */
  #mayStop(node: ClusterNode): void {
    if (this.#isOver || this.#plan.stops === 0 || !this.#prng.chance(STOP_AT_CLAIM_CHANCE)) return;
    this.#victims.later(0, () => this.#stop(node));
  }

  /** Much is due at that instant: some of it finds its node dead. */
  mayStrikeAround(at: Instant): void {
    if (this.#plan.crashes === 0 || !this.#prng.chance(CRASH_WHEN_BUSY_CHANCE)) return;
    const { time } = this.#victims;
    const inMs = time.elapsedAt(at) - time.elapsedMs + this.#prng.between(-1_000, 3_000);
    this.#victims.later(inMs, () => this.#onOne((node) => this.#victims.crash(node, 'while much is due')));
  }

  #stop(node: ClusterNode): void {
    if (this.#isOver || node.state !== 'up' || node.standsStill) return;
    this.#victims.stop(node, this.#prng.pick([0, 100, 5_000, 30_000]));
  }

  #roll(): void {
    for (const [at, node] of this.#victims.nodes().entries()) {
      this.#victims.later(at * ROLLS_EVERY_MS, () => this.#stop(node));
    }
  }

  #standStill(node: ClusterNode): void {
    if (this.#isOver || node.state === 'ended' || node.standsStill) return;
    const ms = this.#spellMs();
    this.#victims.tell(`${node.node} stands still for ${ms} ms`);
    node.scope.standStill();
    if (this.#prng.chance(STRANDED_CHANCE)) this.#holdUp(node);
    this.#victims.later(ms, () => this.#goOn(node));
  }

  #goOn(node: ClusterNode): void {
    if (node.state === 'ended' || !node.standsStill) return;
    const { time } = this.#victims;
    this.#victims.tell(`${node.node} goes on`);
    node.stoodStillMs = time.elapsedMs;
    time.goOn(node.scope);
  }

  #cutOff(nodes: readonly ClusterNode[]): void {
    const ms = this.#spellMs();
    this.#victims.tell(`${nodes.map(({ node }) => node).join(', ')} cannot reach the store for ${ms} ms`);
    for (const node of nodes) this.#victims.cutOff(node, true);
    this.#victims.later(ms, () => {
      for (const node of nodes) this.#victims.cutOff(node, false);
    });
  }

  #spellMs(): number {
    const [from, to] = this.#prng.weighted(SPELL_MS);
    return this.#prng.between(from, to);
  }
}
