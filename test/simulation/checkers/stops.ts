/** A clean stop ends in its time, and leaves nothing claimed behind. */
import { type Checker, type Scene, Violation } from './checker.ts';

const NAME = 'stops';
/** Beyond the grace: to settle what was broken off, on a slow disk. */
const AFTER_GRACE_MS = 15_000;

export function stopsChecker(scene: Scene): Checker {
  const { time, witness } = scene;
  return {
    name: NAME,
    lifeEnded({ node, stopping, troubleMs }, how) {
      if (how !== 'stop' || !stopping || troubleMs >= stopping.sinceMs) return;
      for (const id of witness.open) {
        const delivery = witness.deliveries.get(id);
        if (delivery?.claim?.node === node)
          throw new Violation(NAME, `${id} was left claimed by a clean stop`);
      }
    },
    step() {
      for (const { stopping, troubleMs } of scene.lives) {
        if (stopping === null) continue;
        const since = Math.max(stopping.sinceMs + stopping.graceMs, troubleMs);
        if (time.elapsedMs - since > AFTER_GRACE_MS) throw new Violation(NAME, 'a stop does not end');
      }
    },
  };
}
