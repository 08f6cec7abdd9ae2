/**
 * The plan that a seed gives: how long the simulation lasts, how busy it is, and how often each fault occurs.
 */
import { PERMITS_MAX } from '#src/engine/queue/fair-queue.ts';
import { Prng } from '#test/fuzz/prng.ts';

/** This few permits are enough for 16 MiB of bodies. */
const FEW_PERMITS = 256;

const HOUR_MS = 3_600_000;

export interface Plan {
  readonly seed: number;
  /** The number of API calls. */
  readonly calls: number;
  /** The span in which the API calls are made. */
  readonly spanMs: number;
  readonly crashes: number;
  readonly stops: number;
  /** The chance that the process crashes at each critical point. */
  readonly crashChance: number;
  readonly clockSteps: number;
  readonly outages: number;
  readonly refuseChance: number;
  readonly loseAnswerChance: number;
  readonly slowDisk: boolean;
  readonly retentionMs: number;
  /** Hints of the API never arrive, as if they came from another node. */
  readonly hintsLost: boolean;
  /** How often many deliveries are due at one instant. */
  readonly bursts: number;
  /** With few permits, floods use up their shares of them. */
  readonly permitsMax: number;
  /** How often one customer floods hanging endpoints while another has a few deliveries. */
  readonly floods: number;
}

export function planOf(seed: number, calls: number | null): Plan {
  const prng = Prng.of(seed, 1);
  const [spanMs, usual] = prng.weighted<readonly [number, number]>([
    [4, [prng.between(10, 120) * 60_000, 40]],
    [3, [prng.between(3, 20) * HOUR_MS, 40]],
    [1, [prng.between(24, 120) * HOUR_MS, 40]],
  ]);
  const faultKinds = { crash: prng.chance(0.6), clock: prng.chance(0.2), disk: prng.chance(0.5) };
  return {
    seed,
    calls: calls ?? usual,
    spanMs,
    crashes: faultKinds.crash ? prng.between(0, 3) : 0,
    stops: prng.chance(0.5) ? prng.between(0, 3) : 0,
    crashChance: faultKinds.crash ? prng.pick([0, 0.005, 0.02]) : 0,
    clockSteps: faultKinds.clock ? prng.between(1, 3) : 0,
    outages: faultKinds.disk ? prng.between(0, 3) : 0,
    refuseChance: faultKinds.disk ? prng.pick([0, 0.01, 0.05]) : 0,
    loseAnswerChance: faultKinds.disk ? prng.pick([0, 0.01, 0.05]) : 0,
    slowDisk: prng.chance(0.3),
    retentionMs: prng.chance(0.7) ? 0 : prng.pick([20_000, 60_000, 10 * 60_000, 6 * HOUR_MS]),
    hintsLost: prng.chance(0.15),
    bursts: prng.chance(0.1) ? 1 : 0,
    permitsMax: prng.chance(0.5) ? PERMITS_MAX : FEW_PERMITS,
    floods: prng.chance(0.15) ? 1 : 0,
  };
}
