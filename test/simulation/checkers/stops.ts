/**
 * A clean stop ends in time and leaves nothing claimed. The exception is a claim whose answer the store lost
 * a moment before. The process had no time to find it, and the next one finds it.
 */
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'stops';
/** After the grace period, aborted attempts are settled, possibly on a slow disk. */
const AFTER_GRACE_MS = 15_000;
/** A claim whose answer was lost is found within this time. */
const FOUND_WITHIN_MS = 3_000;

export function stopsChecker(simulation: SimulationView): Checker {
  const { time, observer } = simulation;
  return {
    name: NAME,
    instanceEnded({ node, stopping, disturbedMs }, how) {
      if (how !== 'stop' || !stopping || disturbedMs >= stopping.sinceMs) return;
      for (const id of observer.open) {
        const delivery = observer.deliveries.get(id);
        const claim = delivery?.claim ?? null;
        if (claim?.node !== node) continue;
        const isUnfound =
          simulation.isLostClaim(claim.attemptId) && stopping.sinceMs - disturbedMs <= FOUND_WITHIN_MS;
        if (!isUnfound) throw new Violation(NAME, `${id} was left claimed by a clean stop`);
      }
    },
    step() {
      for (const { stopping, disturbedMs } of simulation.instances) {
        if (stopping === null) continue;
        const since = Math.max(stopping.sinceMs + stopping.graceMs, disturbedMs);
        if (time.elapsedMs - since > AFTER_GRACE_MS) throw new Violation(NAME, 'a stop does not end');
      }
    },
  };
}
