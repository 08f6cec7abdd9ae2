/**
 * The plan that a seed gives: how long the simulation lasts, how busy it is, and how often each fault occurs.
 */
import { Prng } from '#test/fuzz/prng.ts';

export interface ClusterPlan {
  readonly seed: number;
  readonly nodes: number;
  /** The number of API calls. */
  readonly calls: number;
  /** The span in which the API calls are made. */
  readonly spanMs: number;
  readonly bursts: number;
  /** How often one customer floods hanging endpoints while another has a few deliveries. */
  readonly floods: number;
  readonly crashes: number;
  /** The chance that a node crashes at each critical point. */
  readonly crashChance: number;
  readonly stops: number;
  /** All nodes are restarted, one after the other. */
  readonly rollingRestarts: number;
  /** A node is paused and continues later. */
  readonly pauses: number;
  /** One node cannot reach the store. */
  readonly cuts: number;
  /** No node can reach the store. */
  readonly outages: number;
  readonly refuseChance: number;
  readonly loseAnswerChance: number;
  /** Some answers take seconds. */
  readonly isSlow: boolean;
  /** The largest error of the machines' wall clocks at the start. */
  readonly skewMsMax: number;
  readonly clockSteps: number;
  /** The share of hints that get lost, arrive late, or arrive twice. */
  readonly lostChance: number;
  readonly lateChance: number;
  readonly doubledChance: number;
}

export function clusterPlanOf(seed: number, nodes: number, calls: number | null): ClusterPlan {
  const prng = Prng.of(seed, 11);
  const faultKinds = {
    death: prng.chance(0.5),
    stop: prng.chance(0.4),
    pause: prng.chance(0.4),
    store: prng.chance(0.4),
    clock: prng.chance(0.4),
    post: prng.chance(0.4),
  };
  return {
    seed,
    nodes,
    calls: calls ?? 120,
    spanMs: prng.between(40, 150) * 1_000,
    bursts: prng.chance(0.15) ? 1 : 0,
    crashes: faultKinds.death ? prng.between(1, 4) : 0,
    crashChance: faultKinds.death ? prng.pick([0, 0.002, 0.01]) : 0,
    stops: faultKinds.stop ? prng.between(0, 3) : 0,
    rollingRestarts: faultKinds.stop && prng.chance(0.5) ? 1 : 0,
    pauses: faultKinds.pause ? prng.between(1, 6) : 0,
    cuts: faultKinds.store ? prng.between(0, 3) : 0,
    outages: faultKinds.store && prng.chance(0.4) ? 1 : 0,
    refuseChance: faultKinds.store ? prng.pick([0, 0.005, 0.03]) : 0,
    loseAnswerChance: faultKinds.store ? prng.pick([0, 0.01, 0.05]) : 0,
    isSlow: faultKinds.store && prng.chance(0.4),
    skewMsMax: faultKinds.clock ? prng.pick([50, 5_000, 3_600_000]) : 0,
    clockSteps: faultKinds.clock ? prng.between(0, 4) : 0,
    lostChance: faultKinds.post ? prng.pick([0.1, 0.5, 1]) : 0,
    lateChance: faultKinds.post ? 0.2 : 0,
    doubledChance: faultKinds.post ? 0.2 : 0,
    floods: prng.chance(0.25) ? 1 : 0,
  };
}
