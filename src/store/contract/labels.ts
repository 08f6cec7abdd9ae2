/** Schedules by their labels: one together with state and kind, and several at once. */
import { describe, expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { HOURLY, SUCCESS } from './builders.ts';
import { ALL_SCHEDULES } from './everything.ts';
import { isListed, listSchedules, populateSchedules, TEAMS } from './lists.ts';

export function labelsContract(suite: Suite): void {
  describe('schedules are listed', () => {
    test('by a label and the state and kind they have now, whatever changed them', async () => {
      const bench = await suite.bench();
      const labels = [['stage', 'one']] as const;
      const add = (timing: life.NewSchedule['timing']) =>
        bench.addSchedule({ timing, metadata: [...labels, ['team', 'ops']] });
      const [paused, resumed, canceled, edited, sent, unsent] = [
        await add(bench.oneShot()),
        await add(HOURLY),
        await add(HOURLY),
        await add(bench.oneShot()),
        await add(bench.oneShot()),
        await add(bench.oneShot()),
      ];
      const recurring = await add(bench.oneShot());
      const pausedThenSent = await add(bench.oneShot());
      const change = (view: ScheduleView, decide: (view: ScheduleView) => life.ScheduleChange | null) =>
        bench.change(view.schedule.id, decide);
      for (const view of [paused, resumed]) await change(view, (now) => life.pause(now, bench.tick()));
      await change(resumed, (view) => life.resume(view, bench.tick()));
      await change(canceled, (view) => life.cancel(view, bench.tick()));
      await change(edited, (view) => life.edit(view, { metadata: labels }, bench.tick()));
      await change(recurring, (view) => life.reschedule(view, HOURLY, bench.tick()));
      await bench.fire(pendingOf(sent), SUCCESS);
      const ended = bench.endUnsent(pendingOf(unsent), unsent);
      expect(await bench.store.endUnsent([ended])).toEqual(['done']);
      const claimed = await bench.take(pausedThenSent);
      await change(pausedThenSent, (view) => life.pause(view, bench.tick()));
      const { schedule } = await bench.view(pausedThenSent.schedule.id);
      expect(await bench.store.settle([bench.settle(claimed, schedule, SUCCESS)])).toEqual(['done']);

      const { items: all } = await bench.store.listSchedules(
        bench.partition,
        { ...ALL_SCHEDULES, labels },
        { before: null, limit: 100 },
      );
      const schedules = all.map((view) => view.schedule).toReversed();
      expect(schedules.map(({ state, timing }) => `${state} ${timing.kind}`)).toEqual([
        'paused one_shot',
        'active recurring',
        'canceled recurring',
        'active one_shot',
        'completed one_shot',
        'completed one_shot',
        'active recurring',
        'completed one_shot',
      ]);
      await expectEveryCombination(bench, schedules, labels);
      await expectEveryCombination(bench, schedules, [...labels, ['team', 'ops']]);
    });

    test('by several labels in full pages, whichever label is the rare one', async () => {
      const bench = await suite.bench();
      const common = ['env', 'prod'] as const;
      const rare = ['order', '7'] as const;
      const added: ScheduleId[] = [];
      for (let i = 0; i < 600; i++) {
        const made = bench.schedule({ metadata: i % 200 === 0 ? [common, rare] : [common] });
        added.push(made.schedule.id);
        bench.tick();
        const addition = { ...made, payload: null, profile: null, receipt: null };
        expect(await bench.store.addSchedule(addition)).toBe('done');
      }
      const expected = added.filter((_, index) => index % 200 === 0).toReversed();
      for (const labels of [
        [common, rare],
        [rare, common],
        [common, rare, rare],
      ]) {
        const filter = { ...ALL_SCHEDULES, labels };
        const find = (before: ScheduleId | null, limit: number) =>
          bench.store.searchSchedules(bench.partition, filter, { before, limit });
        expect(await find(null, 2)).toEqual({ found: expected.slice(0, 2), next: expected[1] });
        expect(await find(expected[1] ?? null, 2)).toEqual({ found: expected.slice(2), next: null });
        expect(await find(null, 3)).toEqual({ found: expected, next: null });
      }
      const labels = [common, ['env', 'test'], rare] as const;
      const fruitless = await bench.store.searchSchedules(
        bench.partition,
        { ...ALL_SCHEDULES, labels },
        { before: null, limit: 10 },
      );
      expect(fruitless).toEqual({ found: [], next: null });
    });

    test('by several labels at once for many, each with its own answer', async () => {
      const bench = await suite.bench();
      const added = await populateSchedules(bench, 20);
      const labels = TEAMS.slice(0, 2);
      const expected = added.filter((schedule) => isListed(schedule, { ...ALL_SCHEDULES, labels })).length;
      const asked = Array.from({ length: 20 }, () => listSchedules(bench, { ...ALL_SCHEDULES, labels }, 3));
      for (const found of await Promise.all(asked)) expect(found).toHaveLength(expected);
    });
  });
}

async function expectEveryCombination(
  bench: Bench,
  schedules: readonly Schedule[],
  labels: Labels,
): Promise<void> {
  for (const state of [null, ...SCHEDULE_STATES]) {
    for (const kind of [null, ...SCHEDULE_KINDS]) {
      const filter = { state, kind, labels };
      const expected = schedules.filter((schedule) => isListed(schedule, filter)).toReversed();
      expect(await listSchedules(bench, filter, 2)).toEqual(expected.map(({ id }) => id));
    }
  }
}
