import { describe, expect, test } from 'vitest';
import { defer } from '#src/domain/delivery-life.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { EndWrite } from '#src/ports/store.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS, SUCCESS } from './builders.ts';

export function unsentContract(suite: Suite): void {
  describe('ending a delivery unsent', () => {
    test.for([
      ['expired', 'expired'],
      ['exhausted', 'dead_letter'],
    ] as const)('as %s completes a one-shot in the same step', async ([why, status]) => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ ttl: '1m' });
      bench.tick(2 * HOUR_MS);
      const ended = bench.endUnsent(pendingOf(view), view, why);
      expect(await bench.store.endUnsent([ended])).toEqual(['done']);
      expect(await bench.view(view.schedule.id)).toEqual({
        schedule: ended.completed,
        pending: ended.delivery,
        profile: null,
      });
      expect(ended.delivery).toMatchObject({ status, dueAt: null, finalizedAt: bench.now, attemptCount: 0 });
      expect(ended.completed?.state).toBe('completed');
      expect(await bench.store.listAttempts(bench.partition, ended.delivery.id, 0, 9)).toEqual([]);
    });

    test('moves a recurring schedule on to its next occurrence in the same step', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ timing: HOURLY, ttl: '1m' });
      bench.tick(3 * HOUR_MS);
      const ended = bench.endUnsent(pendingOf(view), view);
      expect(ended.advanced).not.toBeNull();
      expect(await bench.store.endUnsent([ended])).toEqual(['done']);
      expect(await bench.view(view.schedule.id)).toEqual({
        schedule: ended.advanced?.schedule,
        pending: ended.advanced?.next,
        profile: null,
      });
      expect(await bench.delivery(ended.delivery.id)).toEqual(ended.delivery);
    });

    test('of a replay, or of an occurrence before the pending one, leaves the schedule as it is', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const retrying = await bench.fire(pendingOf(view), FAILURE);
      expect(retrying.status).toBe('retry_scheduled');
      const other = await bench.addSchedule();
      const replay = await bench.addReplay(await bench.fire(pendingOf(other), SUCCESS));
      const before = [await bench.view(view.schedule.id), await bench.view(other.schedule.id)] as const;
      const ends = [bench.endUnsent(retrying, before[0]), bench.endUnsent(replay, before[1])];
      expect(await bench.store.endUnsent(ends)).toEqual(['done', 'done']);
      expect([await bench.view(view.schedule.id), await bench.view(other.schedule.id)]).toEqual(before);
      expect(await bench.delivery(retrying.id)).toEqual(ends[0]?.delivery);
      expect(await bench.delivery(replay.id)).toEqual(ends[1]?.delivery);
    });

    test('is refused whole when the schedule changed since it was read', async () => {
      const bench = await suite.bench();
      for (const timing of [HOURLY, bench.oneShot()]) {
        const view = await bench.addSchedule({ timing });
        const ended = bench.endUnsent(pendingOf(view), view);
        const { revision } = view.schedule;
        const renamed = { ...view.schedule, metadata: [['a', 'b']] as const, revision: revision + 1 };
        const rename = { schedule: renamed, pending: null, sweep: null, receipt: null };
        expect(await bench.store.replaceSchedule(rename)).toBe('done');
        expect(await bench.changesNothing(() => bench.store.endUnsent([ended]))).toEqual(['stale']);
      }
    });

    test('materializes no occurrence twice', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ timing: HOURLY });
      const ended = bench.endUnsent(pendingOf(view), view);
      if (ended.advanced === null) throw new Error('A recurring schedule moves on.');
      const next = { ...ended.advanced.next, occurrence: ended.delivery.occurrence };
      const double: EndWrite = { ...ended, advanced: { ...ended.advanced, next } };
      expect(await bench.changesNothing(() => bench.store.endUnsent([double]))).toEqual(['stale']);
    });

    test('answers each for itself', async () => {
      const bench = await suite.bench();
      const views = [await bench.addSchedule(), await bench.addSchedule(), await bench.addSchedule()];
      const ends = views.map((view) => bench.endUnsent(pendingOf(view), view));
      await bench.store.endUnsent(ends.slice(1, 2));
      expect(await bench.store.endUnsent(ends)).toEqual(['done', 'stale', 'done']);
      expect(await bench.store.endUnsent([])).toEqual([]);
    });
  });

  describe('putting a delivery off', () => {
    test('moves its instant and keeps its turn, and nothing else', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const off = defer(pendingOf(view), later(bench), true);
      expect(await bench.store.defer([off])).toEqual(['done']);
      expect(await bench.view(view.schedule.id)).toEqual({ ...view, pending: off });
      const again = defer(off, later(bench), false);
      expect(await bench.store.defer([again])).toEqual(['done']);
      expect(await bench.view(view.schedule.id)).toEqual({ ...view, pending: again });
    });

    test('of a retry keeps its attempts', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const retrying = await bench.fire(pendingOf(view), FAILURE);
      const attempts = await bench.store.listAttempts(bench.partition, retrying.id, 0, 9);
      expect(await bench.store.defer([defer(retrying, later(bench), true)])).toEqual(['done']);
      expect(await bench.delivery(retrying.id)).toMatchObject({ status: 'retry_scheduled', attemptCount: 1 });
      expect(await bench.store.listAttempts(bench.partition, retrying.id, 0, 9)).toEqual(attempts);
      expect(attempts).toHaveLength(1);
    });

    test('that is not there, or not as it was read, changes nothing', async () => {
      const bench = await suite.bench();
      const unknown = bench.schedule().pending;
      const view = await bench.addSchedule();
      await bench.change(view.schedule.id, (read) => life.edit(read, { ttl: '1h' }, bench.now));
      const late = [unknown, pendingOf(view)].map((delivery) => defer(delivery, later(bench), true));
      expect(await bench.changesNothing(() => bench.store.defer(late))).toEqual(['stale', 'stale']);
    });

    test('answers each for itself', async () => {
      const bench = await suite.bench();
      const views = [await bench.addSchedule(), await bench.addSchedule(), await bench.addSchedule()];
      const off = views.map((view) => defer(pendingOf(view), later(bench), true));
      await bench.store.defer(off.slice(1, 2));
      expect(await bench.store.defer(off)).toEqual(['done', 'stale', 'done']);
      expect(await bench.store.defer([])).toEqual([]);
    });
  });

  describe.for([
    ['claim', (bench: Bench, view: ScheduleView) => bench.store.claim([bench.claim(pendingOf(view), view)])],
    ['cancel', change(life.cancel)],
    ['pause', change(life.pause)],
    ['reschedule', change((view, now) => life.reschedule(view, HOURLY, now))],
  ] as const)('a %s at the same time', ([, act]) => {
    test.for([
      ['ending unsent', endPending],
      ['deferral', deferPending],
    ] as const)('as %s: one of them wins', async ([, ours]) => {
      const bench = await suite.bench();
      for (const timing of [HOURLY, bench.oneShot()]) {
        for (const oursFirst of [true, false]) {
          const view = await bench.addSchedule({ timing });
          const order = oursFirst ? [ours, act] : [act, ours];
          const answers = await Promise.all(order.map((verb) => verb(bench, view)));
          expect(answers.flat().toSorted()).toEqual(['done', 'stale']);
          expect((await bench.delivery(pendingOf(view).id)).revision).toBe(2);
        }
      }
    });
  });
}

function later(bench: Bench): Instant {
  return instant(bench.now + 5 * MINUTE_MS);
}

function endPending(bench: Bench, view: ScheduleView): Promise<readonly string[]> {
  return bench.store.endUnsent([bench.endUnsent(pendingOf(view), view)]);
}

function deferPending(bench: Bench, view: ScheduleView): Promise<readonly string[]> {
  return bench.store.defer([defer(pendingOf(view), later(bench), true)]);
}

function change(decide: (view: ScheduleView, now: Instant) => life.ScheduleChange | null) {
  return async (bench: Bench, view: ScheduleView): Promise<readonly string[]> => {
    const changed = decide(view, bench.now);
    if (changed === null) throw new Error('There is something to change.');
    return [await bench.store.replaceSchedule({ ...changed, receipt: null })];
  };
}
