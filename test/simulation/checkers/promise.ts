/**
 * The promise: after faults have stopped, everything that was accepted and has come due has been attempted or
 * has ended; what is still to come is still there.
 */
import { isWaitingStatus } from '../witness.ts';
import { type Checker, Violation } from './checker.ts';
import type { Scene } from './scene.ts';

const NAME = 'promise';

export function promiseChecker(scene: Scene): Checker {
  const { witness, time } = scene;
  const created = new Set<string>();
  return {
    name: NAME,
    answered({ rendered, error, replayed }) {
      if (error === null && !replayed && rendered?.of === 'schedule') created.add(rendered.view.schedule.id);
    },
    atEnd() {
      for (const id of witness.open) {
        const delivery = witness.deliveries.get(id);
        if (delivery === undefined) continue;
        if (delivery.status === 'claimed') throw new Violation(NAME, `${id} is claimed at the end`);
        const isDue = delivery.dueAt !== null && delivery.dueAt <= time.now() - 5_000;
        if (isWaitingStatus(delivery.status) && isDue) throw new Violation(NAME, `${id} was never fired`);
        const state = witness.schedules.get(delivery.scheduleId)?.state;
        if (delivery.status === 'paused' && state !== 'paused') {
          throw new Violation(NAME, `${id} is paused, its schedule ${state}`);
        }
      }
      for (const id of created) {
        const isKept = [...witness.schedules.keys()].some((known) => known === id);
        if (!isKept && scene.retentionMs === 0) throw new Violation(NAME, `${id} was lost`);
      }
    },
  };
}
