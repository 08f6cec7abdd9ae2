/** A schedule with deliveries of every status. */
import { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '#src/domain/delivery.ts';
import { isTerminal, isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import { DAY_MS, HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { ALL_DELIVERIES } from './everything.ts';
import { type Fixture, pendingOf } from './fixture.ts';

const DELIVERIES_MAX = 100;

/** A recurring schedule with replays in every status, with and without attempts, and an earlier occurrence. */
export async function addScheduleWithEveryStatus(fixture: Fixture): Promise<ScheduleView> {
  const view = await fixture.addSchedule({ timing: HOURLY });
  fixture.tick(HOUR_MS);
  const original = await fixture.fire(pendingOf(view), SUCCESS);
  for (const status of DELIVERY_STATUSES) {
    for (const attemptCount of [0, 3]) {
      await fixture.addReplay(original, { status, attemptCount, ...fitting(status, fixture) });
    }
  }
  return fixture.view(view.schedule.id);
}

/** Fields that fit the status: a claim or a due instant unless it has ended, and a reservation only while waiting. */
function fitting(status: DeliveryStatus, fixture: Fixture): Partial<Delivery> {
  const now = fixture.tick();
  if (isTerminal(status)) return { dueAt: null, finalizedAt: now };
  if (status === 'claimed') return { dueAt: null, claim: fixture.claimIn(status) };
  return { dueAt: instant(now + DAY_MS), reserved: isWaiting(status) };
}

/** Returns the oldest first. */
export async function deliveriesOf(fixture: Fixture, scheduleId: ScheduleId): Promise<readonly Delivery[]> {
  const filter = { ...ALL_DELIVERIES, scheduleId };
  const page = { before: null, limit: DELIVERIES_MAX };
  return (await fixture.store.listDeliveries(fixture.partition, filter, page)).toReversed();
}
