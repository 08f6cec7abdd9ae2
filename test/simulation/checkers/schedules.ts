/**
 * An active recurring schedule has exactly one delivery to come. Each occurrence is created once and in
 * order, and missed occurrences do not pile up. A one-shot has one delivery, and ends with it.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { firstAfter } from '../cron-model.ts';
import { TERMINAL } from '../observer.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';
import { isTriggered } from './triggers.ts';

const NAME = 'schedules';

export function schedulesChecker(simulation: SimulationView): Checker {
  const { observer } = simulation;
  const occurrences = new Map<ScheduleId, Map<number, string>>();

  /** Replays and triggered deliveries are beside the recurrence. */
  const isOccurrence = (delivery: Delivery): boolean => {
    const { id, replayOf } = delivery;
    const isPending = observer.scheduleOf(delivery)?.pendingId === id;
    return replayOf === null && (isPending || !isTriggered(delivery));
  };

  const own = (id: ScheduleId): readonly Delivery[] =>
    [...(observer.deliveriesOf.get(id) ?? [])]
      .map((delivery) => observer.deliveries.get(delivery))
      .filter((delivery) => delivery !== undefined && isOccurrence(delivery)) as Delivery[];

  const checkState = (schedule: Schedule): void => {
    const violation = (what: string) => new Violation(NAME, `${schedule.id} (${schedule.state}) ${what}`);
    const deliveries = own(schedule.id);
    const pending = deliveries.find(({ id }) => id === schedule.pendingId);
    const open = deliveries.filter(({ status }) => !TERMINAL.has(status));
    // An action reaches the deliveries batch by batch. The sweeps checker verifies that it reaches all.
    const isSwept = !observer.sweeps.has(schedule.id);
    if (schedule.state === 'canceled') {
      if (pending !== undefined && pending.status !== 'claimed' && open.includes(pending)) {
        throw violation(`has its next delivery still ${pending.status}`);
      }
      if (!isSwept) return;
      const left = open.find(({ status }) => status !== 'claimed');
      if (left !== undefined) throw violation(`has ${left.id} still ${left.status}`);
      return;
    }
    if (schedule.state === 'completed') {
      // It may have been a recurring one before, whose earlier occurrences wait for a retry.
      const left = open.find(({ id, attemptCount }) => id === schedule.pendingId || attemptCount === 0);
      if (left !== undefined) throw violation('has a delivery that has not ended');
      if (pending?.status === 'canceled') throw violation('ended with a canceled delivery');
      return;
    }
    if (pending === undefined) throw violation('has lost its delivery');
    if (TERMINAL.has(pending.status)) throw violation(`is active, but its delivery is ${pending.status}`);
    if (schedule.timing.kind === 'one_shot') {
      const other = open.find((one) => one !== pending && one.attemptCount === 0);
      if (other !== undefined) throw violation('has two deliveries to come');
    } else {
      if (pending.status === 'claimed') throw violation('has no delivery to come: it is being sent');
      const other = open.find((one) => one !== pending && one.attemptCount === 0);
      if (other !== undefined) throw violation(`has two deliveries to come: ${pending.id} and ${other.id}`);
    }
    const held = schedule.state === 'paused';
    for (const { id, status } of open) {
      if (!isSwept && id !== schedule.pendingId) continue;
      if (status !== 'claimed' && (status === 'paused') !== held) throw violation(`has ${id} ${status}`);
    }
  };

  /** A recurring schedule advances to its next occurrence and to no other. */
  const checkAdvance = (before: Schedule, after: Schedule): void => {
    const { timing } = after;
    if (timing.kind !== 'recurring' || after.jitter !== null || after.cronAt === null) return;
    if (before.pendingId === after.pendingId) return;
    const now = decidedAt.get(after.pendingId) ?? simulation.time.now();
    const expected = firstAfter(timing.cron, timing.timezone, Math.max(before.cronAt ?? 0, now));
    if (expected === null || simulation.clockSetMs >= simulation.time.elapsedMs - 60_000) return;
    if (expected !== after.cronAt) {
      throw new Violation(NAME, `${after.id} advanced to ${iso(after.cronAt)} instead of ${iso(expected)}`);
    }
  };
  /** When the engine decided about the previous occurrence. */
  const decidedAt = new Map<DeliveryId | null, number>();

  return {
    name: NAME,
    claimRequested({ advanced }, by) {
      if (advanced !== null) decidedAt.set(advanced.next.id, by.now());
    },
    endRequested({ advanced }, by) {
      if (advanced !== null) decidedAt.set(advanced.next.id, by.now());
    },
    schedule(before, after) {
      if (before !== null && after !== null) {
        if (after.revision !== before.revision + 1) {
          throw new Violation(NAME, `${after.id}: revision ${before.revision} became ${after.revision}`);
        }
        const hasEnded = before.state === 'canceled' || before.state === 'completed';
        if (hasEnded && before.state !== after.state) {
          throw new Violation(NAME, `${after.id} was ${before.state} and is ${after.state}`);
        }
        checkAdvance(before, after);
      }
    },
    delivery({ before, after }) {
      if (after === null || after.replayOf !== null) return;
      if (after.occurrence === null || after.scheduleId === null) return;
      if (before !== null && before.occurrence === after.occurrence) return;
      const known = occurrences.get(after.scheduleId) ?? new Map<number, string>();
      const other = known.get(after.occurrence);
      if (other !== undefined && other !== after.id) {
        const current = observer.deliveries.get(other as Delivery['id']);
        if (current?.occurrence === after.occurrence) {
          throw new Violation(
            NAME,
            `${after.id} and ${other} are of one occurrence ${iso(after.occurrence)}`,
          );
        }
      }
      known.set(after.occurrence, after.id);
      occurrences.set(after.scheduleId, known);
    },
    verbEnded(touched) {
      for (const id of touched) {
        const schedule = observer.schedules.get(id);
        if (schedule !== undefined) checkState(schedule);
      }
    },
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
