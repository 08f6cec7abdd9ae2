/**
 * After faults have stopped, every accepted delivery that came due has been attempted or has ended.
 * Deliveries that are due later still exist.
 */
import { isWaitingStatus } from '#test/simulation/observer.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'completion';

export function completionChecker(simulation: SimulationView): Checker {
  const { observer, time } = simulation;
  const created = new Set<string>();
  return {
    name: NAME,
    callAnswered({ rendered, error, replayed }) {
      if (error === null && !replayed && rendered?.of === 'schedule') created.add(rendered.view.schedule.id);
    },
    atEnd() {
      for (const id of observer.open) {
        const delivery = observer.deliveries.get(id);
        if (delivery === undefined) continue;
        if (delivery.status === 'claimed') throw new Violation(NAME, `${id} is claimed at the end`);
        const isDue = delivery.dueAt !== null && delivery.dueAt <= time.now() - 5_000;
        if (isWaitingStatus(delivery.status) && isDue) throw new Violation(NAME, `${id} was never sent`);
        const state = observer.scheduleOf(delivery)?.state;
        if (delivery.status === 'paused' && state !== 'paused') {
          throw new Violation(NAME, `${id} is paused, its schedule ${state}`);
        }
      }
      for (const id of created) {
        const isKept = [...observer.schedules.keys()].some((known) => known === id);
        if (!isKept && simulation.retentionMs === 0) throw new Violation(NAME, `${id} was lost`);
      }
    },
  };
}
