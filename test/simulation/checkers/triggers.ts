/**
 * A trigger adds one delivery, and neither that nor its claim moves the recurrence. A repeated call adds no other. A
 * delivery that succeeds has succeeded in its last attempt only.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'triggers';

export function triggersChecker({ observer }: SimulationView): Checker {
  /** The labels of the calls. A repeated call has the same. */
  const asked = new Map<ScheduleId, Set<string>>();
  const made = new Map<ScheduleId, number>();
  /** The schedules as they were before the verb that is being observed. */
  const before = new Map<ScheduleId, Schedule>();
  /** Triggered deliveries that the verb added or claimed. */
  let touched: Triggered[] = [];

  const checkAdded = (delivery: Triggered): void => {
    const { id, scheduleId, idempotencyKey } = delivery;
    const violation = (what: string) => new Violation(NAME, `${id} was triggered ${what}`);
    const count = (made.get(scheduleId) ?? 0) + 1;
    made.set(scheduleId, count);
    const calls = asked.get(scheduleId)?.size ?? 0;
    if (count > calls) throw violation(`as number ${count} of ${scheduleId}, by ${calls} calls`);
    const schedule = observer.schedules.get(scheduleId);
    if (schedule?.timing.kind !== 'recurring') throw violation('beside a one-shot');
    if (schedule.state !== 'active' && schedule.state !== 'paused')
      throw violation(`while ${schedule.state}`);
    if (idempotencyKey !== `${schedule.idempotencyKey ?? schedule.id}:${id}`)
      throw violation(`with the key ${idempotencyKey}`);
  };

  return {
    name: NAME,
    callSent({ label, triggers }) {
      if (triggers !== undefined) asked.set(triggers, (asked.get(triggers) ?? new Set()).add(label));
    },
    delivery({ before: known, after, attempts }) {
      if (after === null || !isTriggered(after)) return;
      if (after.id === observer.schedules.get(after.scheduleId)?.pendingId) return;
      if (known === null) checkAdded(after);
      if (known === null || after.status === 'claimed') touched.push(after);
      if (known?.status !== 'claimed' || after.status !== 'succeeded') return;
      const successes = attempts.filter(({ outcome }) => outcome === 'success');
      if (successes.length !== 1 || attempts.at(-1) !== successes[0]) {
        throw new Violation(NAME, `${after.id} succeeded in ${successes.length} attempts`);
      }
    },
    verbEnded(schedules) {
      for (const { id, scheduleId } of touched) {
        const was = before.get(scheduleId);
        const is = observer.schedules.get(scheduleId);
        if (was?.revision !== is?.revision) {
          throw new Violation(
            NAME,
            `${id} moved the recurrence of ${scheduleId} from ${was?.cronAt} to ${is?.cronAt}`,
          );
        }
      }
      touched = [];
      for (const id of schedules) {
        const schedule = observer.schedules.get(id);
        if (schedule !== undefined) before.set(id, schedule);
      }
    },
  };
}

interface Triggered extends Delivery {
  readonly scheduleId: ScheduleId;
}

/** A delivery of a schedule, but of no occurrence. */
export function isTriggered(delivery: Delivery): delivery is Triggered {
  return delivery.occurrence === null && delivery.replayOf === null && delivery.scheduleId !== null;
}
