import { describe, expect, test } from 'vitest';
import type { DeliveryId, JobId, ScheduleId } from './id.ts';
import { instant } from './instant.ts';
import type { Partition } from './project.ts';
import {
  acquireLease,
  createJob,
  gathered,
  isLeasedElsewhere,
  isOpen,
  itemsLeft,
  overlap,
  REPLAY_ITEMS_MAX,
  REPLAY_LEASE_MS,
  type ReplayFilter,
  releaseLease,
  replayed,
  stop,
  withinItemLimit,
} from './replay-job.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const LATER = instant(START + 1_000);
const FILTER: ReplayFilter = {
  status: 'dead_letter',
  scheduleId: null,
  createdAfter: null,
  createdBefore: START,
};
const NEW = createJob(
  { partition: 1 as Partition, id: 'job_1' as JobId, filter: FILTER, expected: 3, createdBy: 'ada' },
  START,
);

function items(...ids: readonly string[]) {
  return ids.map((id) => ({ deliveryId: id as DeliveryId }));
}

const RUNNING = gathered(acquireLease(NEW, 'a', START), items('dlv_3', 'dlv_2', 'dlv_1'), true, START);

describe('a job', () => {
  test('starts with nothing gathered and without a lease', () => {
    expect(NEW).toMatchObject({ state: 'gathering', gathered: 0, expected: 3, runner: null, revision: 1 });
    expect([NEW.createdAt, NEW.updatedAt, NEW.endedAt]).toEqual([START, START, null]);
    expect(isOpen(NEW)).toBe(true);
  });

  test('continues gathering after the last item, until there are no more', () => {
    const first = gathered(NEW, items('dlv_3', 'dlv_2'), false, LATER);
    expect(first).toMatchObject({ state: 'gathering', cursor: 'dlv_2', gathered: 2, updatedAt: LATER });
    const last = gathered(first, items('dlv_1'), true, LATER);
    expect(last).toMatchObject({ state: 'running', cursor: 'dlv_1', gathered: 3, revision: 3 });
    expect(gathered(first, [], true, LATER)).toMatchObject({ state: 'running', cursor: 'dlv_2' });
  });

  test('with nothing to replay is done', () => {
    expect(gathered(NEW, [], true, LATER)).toMatchObject({ state: 'done', endedAt: LATER });
  });

  test('gathers no more than the maximum', () => {
    const almost = { ...NEW, gathered: REPLAY_ITEMS_MAX - 1 };
    expect(withinItemLimit(almost, items('dlv_2', 'dlv_1'))).toEqual(items('dlv_2'));
    expect(gathered(almost, items('dlv_2'), false, LATER)).toMatchObject({
      state: 'running',
      gathered: REPLAY_ITEMS_MAX,
    });
  });

  test('runs until every item is replayed or skipped', () => {
    const some = replayed(RUNNING, 1, 1, LATER);
    expect(some).toMatchObject({ state: 'running', replayed: 1, skipped: 1, endedAt: null });
    expect(itemsLeft(some)).toBe(1);
    expect(replayed(some, 1, 0, LATER)).toMatchObject({
      state: 'done',
      replayed: 2,
      endedAt: LATER,
      runner: null,
      leaseUntil: null,
    });
  });

  test('is stopped by a person while it is open', () => {
    for (const job of [NEW, RUNNING]) {
      expect(stop(job, LATER)).toMatchObject({
        state: 'stopped',
        endedAt: LATER,
        updatedAt: LATER,
        runner: null,
        revision: job.revision + 1,
      });
    }
    expect(stop(replayed(RUNNING, 3, 0, LATER), LATER)).toBeNull();
    expect(stop(stop(NEW, LATER) ?? NEW, LATER)).toBeNull();
  });
});

describe('a lease', () => {
  const held = acquireLease(NEW, 'a', START);

  test('keeps other nodes away until it ends; renewing it is no progress', () => {
    expect(held).toMatchObject({ runner: 'a', updatedAt: START, revision: 2 });
    const end = instant(START + REPLAY_LEASE_MS);
    expect(isLeasedElsewhere(held, 'b', instant(end - 1))).toBe(true);
    expect(isLeasedElsewhere(held, 'b', end)).toBe(false);
    expect(isLeasedElsewhere(held, 'a', START)).toBe(false);
    expect(isLeasedElsewhere(NEW, 'b', START)).toBe(false);
    expect(isLeasedElsewhere(releaseLease(held), 'b', START)).toBe(false);
  });

  test('is renewed by every step of its node', () => {
    const until = instant(LATER + REPLAY_LEASE_MS);
    expect(gathered(held, items('dlv_1'), false, LATER).leaseUntil).toBe(until);
    expect(replayed(RUNNING, 1, 0, LATER).leaseUntil).toBe(until);
    expect(acquireLease(held, 'a', LATER).leaseUntil).toBe(until);
  });
});

test.for<readonly [boolean, Partial<ReplayFilter>, Partial<ReplayFilter>]>([
  [true, {}, {}],
  [false, {}, { status: 'expired' }],
  [true, {}, { scheduleId: 'sch_1' as ScheduleId }],
  [true, { scheduleId: 'sch_1' as ScheduleId }, { scheduleId: 'sch_1' as ScheduleId }],
  [false, { scheduleId: 'sch_1' as ScheduleId }, { scheduleId: 'sch_2' as ScheduleId }],
  [true, {}, { createdAfter: instant(START - 2), createdBefore: LATER }],
  [false, {}, { createdAfter: instant(START - 1), createdBefore: LATER }],
  [false, {}, { createdAfter: START, createdBefore: LATER }],
])('overlap %s: %j and %j', ([expected, one, other]) => {
  expect(overlap({ ...FILTER, ...one }, { ...FILTER, ...other })).toBe(expected);
  expect(overlap({ ...FILTER, ...other }, { ...FILTER, ...one })).toBe(expected);
});
