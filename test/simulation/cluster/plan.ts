/** What kind of cluster a seed gives: how long, how busy, and what goes wrong with its nodes how often. */
import { Prng } from '#test/fuzz/prng.ts';

export interface ClusterPlan {
  readonly seed: number;
  readonly nodes: number;
  /** API calls in all. */
  readonly calls: number;
  /** How long they go on. */
  readonly spanMs: number;
  readonly bursts: number;
  /** How often one customer floods endpoints that hang while another has a few deliveries. */
  readonly floods: number;
  readonly crashes: number;
  /** How likely a node dies at each point where it hurts. */
  readonly crashChance: number;
  readonly stops: number;
  /** Each node is stopped and started again, one after the other. */
  readonly rollingRestarts: number;
  /** A node stands still, and goes on where it was. */
  readonly pauses: number;
  /** A node does not reach the store. */
  readonly cuts: number;
  /** None of them does. */
  readonly outages: number;
  readonly refuseChance: number;
  readonly loseAnswerChance: number;
  /** Some answers take seconds. */
  readonly isSlow: boolean;
  /** The wall clocks of the machines are wrong by so much. */
  readonly skewMsMax: number;
  readonly clockSteps: number;
  /** What nodes tell each other: how much of it gets lost, comes late, comes twice. */
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
