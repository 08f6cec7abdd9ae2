/** Lists of schedules by one label with state and kind, and by several labels. */
import { describe, expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import { LABELS_MAX, type Labels } from '#src/domain/labels.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { HOURLY, SUCCESS } from './builders.ts';
import { ALL_SCHEDULES, ANY_SCHEDULES } from './everything.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';
import { isListed, listSchedules, populateSchedules, TEAMS } from './lists.ts';

export function labelsContract(suite: Suite): void {
  describe('schedules are listed', () => {
    test('by a label with their current state and kind, whatever changed these', async () => {
      const fixture = await suite.fixture();
      const labels = [['stage', 'one']] as const;
      const add = (timing: life.NewSchedule['timing']) =>
        fixture.addSchedule({ timing, metadata: [...labels, ['team', 'ops']] });
      const [paused, resumed, canceled, edited, sent, unsent] = [
        await add(fixture.oneShot()),
        await add(HOURLY),
        await add(HOURLY),
        await add(fixture.oneShot()),
        await add(fixture.oneShot()),
        await add(fixture.oneShot()),
      ];
      const recurring = await add(fixture.oneShot());
      const pausedThenSent = await add(fixture.oneShot());
      const change = (view: ScheduleView, decide: (view: ScheduleView) => life.ScheduleChange | null) =>
        fixture.change(view.schedule.id, decide);
      for (const view of [paused, resumed]) await change(view, (now) => life.pause(now, fixture.tick()));
      await change(resumed, (view) => life.resume(view, fixture.tick()));
      await change(canceled, (view) => life.cancel(view, fixture.tick()));
      await change(edited, (view) => life.edit(view, { metadata: labels }, fixture.tick()));
      await change(recurring, (view) => life.reschedule(view, HOURLY, fixture.tick()));
      await fixture.fire(pendingOf(sent), SUCCESS);
      const ended = fixture.endUnsent(pendingOf(unsent), unsent);
      expect(await fixture.store.endUnsent([ended])).toEqual(['done']);
      const claimed = await fixture.addClaim(pausedThenSent);
      await change(pausedThenSent, (view) => life.pause(view, fixture.tick()));
      const { schedule } = await fixture.view(pausedThenSent.schedule.id);
      expect(await fixture.store.settle([fixture.settle(claimed, schedule, SUCCESS)])).toEqual(['done']);

      const { items: all } = await fixture.store.listSchedules(
        fixture.partition,
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
      await expectEveryCombination(fixture, schedules, labels);
      await expectEveryCombination(fixture, schedules, [...labels, ['team', 'ops']]);
    });

    test('by several labels in full pages, whichever label is rare', async () => {
      const fixture = await suite.fixture();
      const common = ['env', 'prod'] as const;
      const rare = ['order', '7'] as const;
      const made = Array.from({ length: 600 }, (_, index) => {
        fixture.tick();
        return fixture.schedule({ metadata: index % 200 === 0 ? [common, rare] : [common] });
      });
      const additions = made.map((each) => ({ ...each, payload: null, profile: null, receipt: null }));
      const answers = await Promise.all(additions.map((addition) => fixture.store.addSchedule(addition)));
      expect(new Set(answers)).toEqual(new Set(['done']));
      const expected = made
        .filter((_, index) => index % 200 === 0)
        .map(({ schedule }) => schedule.id)
        .toReversed();
      for (const labels of [
        [common, rare],
        [rare, common],
        [common, rare, rare],
      ]) {
        const filter = { ...ANY_SCHEDULES, labels };
        const find = (before: ScheduleId | null, limit: number) =>
          fixture.store.searchSchedules(fixture.partition, filter, { before, limit });
        expect(await find(null, 2)).toEqual({ found: expected.slice(0, 2), next: expected[1] });
        expect(await find(expected[1] ?? null, 2)).toEqual({ found: expected.slice(2), next: null });
        expect(await find(null, 3)).toEqual({ found: expected, next: null });
      }
      const labels = [common, ['env', 'test'], rare] as const;
      const fruitless = await fixture.store.searchSchedules(
        fixture.partition,
        { ...ANY_SCHEDULES, labels },
        { before: null, limit: 10 },
      );
      expect(fruitless).toEqual({ found: [], next: null });
    });

    test('by as many labels as a schedule may have, whatever their texts are', async () => {
      const fixture = await suite.fixture();
      const labels = Array.from({ length: LABELS_MAX }, (_, index) => [`$${index + 1}`, "'? --"] as const);
      const { schedule } = await fixture.addSchedule({ metadata: labels });
      await fixture.addSchedule({ metadata: labels.slice(1) });
      const page = { before: null, limit: 10 };
      const find = (wanted: Labels) =>
        fixture.store.searchSchedules(fixture.partition, { ...ANY_SCHEDULES, labels: wanted }, page);
      expect(await find(labels)).toEqual({ found: [schedule.id], next: null });
      expect((await find(labels.slice(1))).found).toHaveLength(2);
    });

    test('by several labels for many callers at once, each with its own result', async () => {
      const fixture = await suite.fixture();
      const added = await populateSchedules(fixture, 20);
      const labels = TEAMS.slice(0, 2);
      const expected = added.filter((schedule) => isListed(schedule, { ...ALL_SCHEDULES, labels })).length;
      const lists = Array.from({ length: 20 }, () =>
        listSchedules(fixture, { ...ALL_SCHEDULES, labels }, 10),
      );
      for (const found of await Promise.all(lists)) expect(found).toHaveLength(expected);
    });
  });
}

async function expectEveryCombination(
  fixture: Fixture,
  schedules: readonly Schedule[],
  labels: Labels,
): Promise<void> {
  for (const state of [null, ...SCHEDULE_STATES]) {
    for (const kind of [null, ...SCHEDULE_KINDS]) {
      const filter = { state, kind, labels };
      const expected = schedules.filter((schedule) => isListed(schedule, filter)).toReversed();
      expect(await listSchedules(fixture, filter, 2)).toEqual(expected.map(({ id }) => id));
    }
  }
}
