import { describe, expect, test } from 'vitest';
import { defer } from '#src/domain/delivery-lifecycle.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import type { EndWrite } from '#src/ports/store.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS, SUCCESS } from './builders.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

export function unsentContract(suite: Suite): void {
  describe('ending a delivery unsent', () => {
    test.for([
      ['expired', 'expired'],
      ['exhausted', 'dead_letter'],
    ] as const)('as %s completes a one-shot in the same step', async ([why, status]) => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ ttl: '1m' });
      fixture.tick(2 * HOUR_MS);
      const ended = fixture.endUnsent(pendingOf(view), view, why);
      expect(await fixture.store.endUnsent([ended])).toEqual(['done']);
      expect(await fixture.view(view.schedule.id)).toEqual({
        schedule: ended.completed,
        pending: ended.delivery,
        profile: null,
      });
      expect(ended.delivery).toMatchObject({
        status,
        dueAt: null,
        finalizedAt: fixture.now,
        attemptCount: 0,
      });
      expect(ended.completed?.state).toBe('completed');
      expect(await fixture.store.listAttempts(fixture.partition, ended.delivery.id, 0, 9)).toEqual([]);
    });

    test('advances a recurring schedule in the same step', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY, ttl: '1m' });
      fixture.tick(3 * HOUR_MS);
      const ended = fixture.endUnsent(pendingOf(view), view);
      expect(ended.advanced).not.toBeNull();
      expect(await fixture.store.endUnsent([ended])).toEqual(['done']);
      expect(await fixture.view(view.schedule.id)).toEqual({
        schedule: ended.advanced?.schedule,
        pending: ended.advanced?.next,
        profile: null,
      });
      expect(await fixture.delivery(ended.delivery.id)).toEqual(ended.delivery);
    });

    test('of a replay or of an earlier occurrence does not change the schedule', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const retrying = await fixture.fire(pendingOf(view), FAILURE);
      expect(retrying.status).toBe('retry_scheduled');
      const other = await fixture.addSchedule();
      const replay = await fixture.addReplay(await fixture.fire(pendingOf(other), SUCCESS));
      const before = [await fixture.view(view.schedule.id), await fixture.view(other.schedule.id)] as const;
      const ends = [fixture.endUnsent(retrying, before[0]), fixture.endUnsent(replay, before[1])];
      expect(await fixture.store.endUnsent(ends)).toEqual(['done', 'done']);
      expect([await fixture.view(view.schedule.id), await fixture.view(other.schedule.id)]).toEqual(before);
      expect(await fixture.delivery(retrying.id)).toEqual(ends[0]?.delivery);
      expect(await fixture.delivery(replay.id)).toEqual(ends[1]?.delivery);
    });

    test('is refused completely if the schedule changed since it was read', async () => {
      const fixture = await suite.fixture();
      for (const timing of [HOURLY, fixture.oneShot()]) {
        const view = await fixture.addSchedule({ timing });
        const ended = fixture.endUnsent(pendingOf(view), view);
        const { revision } = view.schedule;
        const renamed = { ...view.schedule, metadata: [['a', 'b']] as const, revision: revision + 1 };
        const rename = { schedule: renamed, pending: null, sweep: null, receipt: null };
        expect(await fixture.store.replaceSchedule(rename)).toBe('done');
        expect(await fixture.changesNothing(() => fixture.store.endUnsent([ended]))).toEqual(['stale']);
      }
    });

    test('creates no occurrence twice', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      const ended = fixture.endUnsent(pendingOf(view), view);
      if (ended.advanced === null) throw new Error('The claim does not advance the schedule.');
      const next = { ...ended.advanced.next, occurrence: ended.delivery.occurrence };
      const double: EndWrite = { ...ended, advanced: { ...ended.advanced, next } };
      expect(await fixture.changesNothing(() => fixture.store.endUnsent([double]))).toEqual(['stale']);
    });

    test('answers each verb on its own', async () => {
      const fixture = await suite.fixture();
      const views = [await fixture.addSchedule(), await fixture.addSchedule(), await fixture.addSchedule()];
      const ends = views.map((view) => fixture.endUnsent(pendingOf(view), view));
      await fixture.store.endUnsent(ends.slice(1, 2));
      expect(await fixture.store.endUnsent(ends)).toEqual(['done', 'stale', 'done']);
      expect(await fixture.store.endUnsent([])).toEqual([]);
    });
  });

  describe('deferring a delivery', () => {
    test('changes its due instant and its reservation, and nothing else', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const off = defer(pendingOf(view), later(fixture), true);
      expect(await fixture.store.defer([off])).toEqual(['done']);
      expect(await fixture.view(view.schedule.id)).toEqual({ ...view, pending: off });
      const again = defer(off, later(fixture), false);
      expect(await fixture.store.defer([again])).toEqual(['done']);
      expect(await fixture.view(view.schedule.id)).toEqual({ ...view, pending: again });
    });

    test('of a retry keeps its attempts', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const retrying = await fixture.fire(pendingOf(view), FAILURE);
      const attempts = await fixture.store.listAttempts(fixture.partition, retrying.id, 0, 9);
      expect(await fixture.store.defer([defer(retrying, later(fixture), true)])).toEqual(['done']);
      expect(await fixture.delivery(retrying.id)).toMatchObject({
        status: 'retry_scheduled',
        attemptCount: 1,
      });
      expect(await fixture.store.listAttempts(fixture.partition, retrying.id, 0, 9)).toEqual(attempts);
      expect(attempts).toHaveLength(1);
    });

    test('that does not exist, or has changed, changes nothing', async () => {
      const fixture = await suite.fixture();
      const unknown = fixture.schedule().pending;
      const view = await fixture.addSchedule();
      await fixture.change(view.schedule.id, (read) => life.edit(read, { ttl: '1h' }, fixture.now));
      const late = [unknown, pendingOf(view)].map((delivery) => defer(delivery, later(fixture), true));
      expect(await fixture.changesNothing(() => fixture.store.defer(late))).toEqual(['stale', 'stale']);
    });

    test('answers each verb on its own', async () => {
      const fixture = await suite.fixture();
      const views = [await fixture.addSchedule(), await fixture.addSchedule(), await fixture.addSchedule()];
      const off = views.map((view) => defer(pendingOf(view), later(fixture), true));
      await fixture.store.defer(off.slice(1, 2));
      expect(await fixture.store.defer(off)).toEqual(['done', 'stale', 'done']);
      expect(await fixture.store.defer([])).toEqual([]);
    });
  });

  describe.for([
    [
      'claim',
      (fixture: Fixture, view: ScheduleView) => fixture.store.claim([fixture.claim(pendingOf(view), view)]),
    ],
    ['cancel', change(life.cancel)],
    ['pause', change(life.pause)],
    ['reschedule', change((view, now) => life.reschedule(view, HOURLY, now))],
  ] as const)('a %s at the same time', ([, act]) => {
    test.for([
      ['ending unsent', endPending],
      ['deferral', deferPending],
    ] as const)('as %s: one of them wins', async ([, ours]) => {
      const fixture = await suite.fixture();
      for (const timing of [HOURLY, fixture.oneShot()]) {
        for (const oursFirst of [true, false]) {
          const view = await fixture.addSchedule({ timing });
          const order = oursFirst ? [ours, act] : [act, ours];
          const answers = await Promise.all(order.map((verb) => verb(fixture, view)));
          expect(answers.flat().toSorted()).toEqual(['done', 'stale']);
          expect((await fixture.delivery(pendingOf(view).id)).revision).toBe(2);
        }
      }
    });
  });
}

function later(fixture: Fixture): Instant {
  return instant(fixture.now + 5 * MINUTE_MS);
}

function endPending(fixture: Fixture, view: ScheduleView): Promise<readonly string[]> {
  return fixture.store.endUnsent([fixture.endUnsent(pendingOf(view), view)]);
}

function deferPending(fixture: Fixture, view: ScheduleView): Promise<readonly string[]> {
  return fixture.store.defer([defer(pendingOf(view), later(fixture), true)]);
}

function change(decide: (view: ScheduleView, now: Instant) => life.ScheduleChange | null) {
  return async (fixture: Fixture, view: ScheduleView): Promise<readonly string[]> => {
    const changed = decide(view, fixture.now);
    if (changed === null) throw new Error('There is nothing to change.');
    return [await fixture.store.replaceSchedule({ ...changed, receipt: null })];
  };
}
