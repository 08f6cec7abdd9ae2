/**
 * An action on a schedule reaches all of its deliveries before it is acknowledged. No delivery begins that
 * the action will pause or cancel. A crash in between does not prevent the action from finishing.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import { isWaitingStatus } from '../observer.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'sweeps';
/** The calls that wait for the end of a sweep. */
const SWEEPING_ACTION = /^(pause|resume|cancel) /;

export function sweepsChecker({ observer }: SimulationView): Checker {
  const waiting = (id: ScheduleId): readonly Delivery[] =>
    [...(observer.deliveriesOf.get(id) ?? [])]
      .map((delivery) => observer.deliveries.get(delivery))
      .filter((delivery) => delivery !== undefined)
      .filter(({ status }) => isWaitingStatus(status));
  return {
    name: NAME,
    delivery({ before, after }) {
      if (before === null || after?.status !== 'claimed') return;
      if (!observer.isAwaitingSweep(before)) return;
      throw new Violation(NAME, `${after.id} was claimed before an action on its schedule reached it`);
    },
    callAnswered({ what, error, rendered }) {
      if (error !== null || rendered?.of !== 'schedule' || !SWEEPING_ACTION.test(what)) return;
      const { schedule } = rendered.view;
      // Another action may have followed.
      if (observer.schedules.get(schedule.id)?.revision !== schedule.revision) return;
      if (!observer.sweeps.has(schedule.id)) return;
      throw new Violation(NAME, `${what} was acknowledged before it had reached all deliveries`);
    },
    atEnd() {
      for (const [id, { action }] of observer.sweeps) {
        throw new Violation(NAME, `the ${action} of ${id} has not reached ${waiting(id).length} deliveries`);
      }
    },
  };
}
