import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { EndpointProfile } from '#src/domain/profile.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import {
  type DeliveryFilter,
  type FoundSchedules,
  LISTED_BYTES_MAX,
  type Listed,
  type Page,
  type ScheduleFilter,
} from '#src/ports/store.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { FAILURE, HOURLY, SUCCESS } from './builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES, allListed, allPages } from './everything.ts';

export const TEAMS = [
  ['team', 'billing'],
  ['team', 'ops'],
  ['teambilling', ''],
  ['', 'teambilling'],
  ['ünï "quoted"', "it's 🙈"],
] as const satisfies Labels;

const NOTHING = { items: [], hasMore: false };

export function listsContract(suite: Suite): void {
  describe('schedules are listed', () => {
    test('newest first, those of one millisecond too', async () => {
      const bench = await suite.bench();
      const added = await populateSchedules(bench, 7);
      const { items } = await bench.store.listSchedules(bench.partition, ALL_SCHEDULES, {
        before: null,
        limit: 100,
      });
      expect(items.map(({ schedule }) => schedule)).toEqual(added.toReversed());
    });

    test('by state, kind and labels in every combination, in pages of any size', async () => {
      const bench = await suite.bench();
      const added = await populateSchedules(bench, 60);
      const filters = fc.record({
        state: fc.option(fc.constantFrom(...SCHEDULE_STATES)),
        kind: fc.option(fc.constantFrom(...SCHEDULE_KINDS)),
        labels: fc.subarray([...TEAMS, ['team', 'nobody'] as const], { maxLength: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
          const listed = await listSchedules(bench, filter, limit);
          const expected = added.filter((schedule) => isListed(schedule, filter)).toReversed();
          expect(listed).toEqual(expected.map(({ id }) => id));
        }),
        { numRuns: 300, seed: 2 },
      );
    });

    test('by the labels they have now, not by those they had', async () => {
      const bench = await suite.bench();
      const {
        schedule: { id },
      } = await bench.addSchedule({
        metadata: [
          ['stage', 'one'],
          ['team', 'ops'],
        ],
      });
      const metadata = [
        ['stage', 'two'],
        ['team', 'ops'],
      ] as const;
      await bench.change(id, (view) => life.edit(view, { metadata }, bench.tick()));
      const labelled = (labels: Labels) => listSchedules(bench, { ...ALL_SCHEDULES, labels });
      expect(await labelled([['stage', 'one']])).toEqual([]);
      expect(await labelled([['stage', 'two']])).toEqual([id]);
      expect(await labelled(metadata)).toEqual([id]);
      await bench.change(id, (view) => life.edit(view, { metadata: [] }, bench.tick()));
      expect(await labelled([['stage', 'two']])).toEqual([]);
      expect(await labelled([['team', 'ops']])).toEqual([]);
    });

    test('with nothing skipped or repeated while others are added and moved', async () => {
      const bench = await suite.bench();
      const added = await populateSchedules(bench, 30);
      const seen: ScheduleId[] = [];
      for (let before: ScheduleId | null = null; ; ) {
        const { items }: Listed<ScheduleView> = await bench.store.listSchedules(
          bench.partition,
          ALL_SCHEDULES,
          {
            before,
            limit: 4,
          },
        );
        if (items.length === 0) break;
        seen.push(...items.map(({ schedule }) => schedule.id));
        before = seen.at(-1) ?? null;
        bench.tick();
        const { schedule } = await bench.addSchedule();
        await bench.change(schedule.id, (view) => life.reschedule(view, bench.oneShot(5_000), bench.now));
      }
      expect(seen).toEqual(added.map(({ id }) => id).toReversed());
    });

    test('of their own partition only', async () => {
      const bench = await suite.bench();
      await populateSchedules(bench, 5);
      for (const labels of [[], [['team', 'billing']]] as const) {
        for (const state of [null, 'active'] as const) {
          const filter = { state, kind: null, labels };
          const page = { before: null, limit: 100 };
          expect(await bench.store.listSchedules(bench.neighbour, filter, page)).toEqual(NOTHING);
        }
      }
      const several = { ...ALL_SCHEDULES, labels: TEAMS.slice(0, 2) };
      const page = { before: null, limit: 100 };
      expect(await bench.store.searchSchedules(bench.neighbour, several, page)).toEqual({
        found: [],
        next: null,
      });
    });
  });

  describe('a part of a list ends before it is too large', () => {
    const large = (share: number) => 'x'.repeat(Math.ceil(LISTED_BYTES_MAX * share));

    test('of schedules, whatever they are listed by', async () => {
      const bench = await suite.bench();
      const views = [];
      for (const value of [large(0.4), large(3), '', large(0.4), large(0.4), large(0.4)]) {
        views.push(await bench.addSchedule({ metadata: [TEAMS[0], ['value', value]] }));
      }
      const [f, e, d, c, b, a] = views;
      const parts = [[a, b], [c, d], [e], [f]];
      const { partition, store } = bench;
      for (const given of [{}, { state: 'active' }, { kind: 'one_shot' }, { labels: [TEAMS[0]] }] as const) {
        const filter = { ...ALL_SCHEDULES, ...given };
        expect(await partsOf((page) => store.listSchedules(partition, filter, page), viewId)).toEqual(parts);
      }
      const ids = views.map(viewId);
      const rest = (before: ScheduleId | null) => ids.filter((id) => before === null || id < before);
      expect(await partsOf(({ before }) => store.findSchedules(partition, rest(before)), viewId)).toEqual(
        parts,
      );
      const search = { ...ALL_SCHEDULES, destination: null, hidesQueries: false };
      const found = async (page: Page<ScheduleId>) => {
        const { found: items, next } = await store.insight.searchSchedules(partition, search, page, 1_000);
        expect(next).toBe(next && (items.at(-1)?.schedule.id ?? null));
        return { items, hasMore: next !== null };
      };
      expect(await partsOf(found, viewId)).toEqual(parts);
    });

    test('of schedules with many header names or long addresses', async () => {
      const bench = await suite.bench();
      const url = `https://example.com/${large(0.6)}`;
      for (let i = 0; i < 2; i++) {
        await bench.addSchedule({ headerNames: [large(0.6)] });
        await bench.addSchedule({ destination: { kind: 'inline', url, method: 'POST' } });
      }
      const list = (page: Page<ScheduleId>) =>
        bench.store.listSchedules(bench.partition, ALL_SCHEDULES, page);
      expect((await partsOf(list, viewId)).map((part) => part.length)).toEqual([1, 1, 1, 1]);
    });

    test('of profiles, and a schedule does not count what its profile has', async () => {
      const bench = await suite.bench();
      const profiles = [];
      for (const value of [large(0.4), large(3), large(0.4), large(0.4)]) {
        profiles.push(await bench.addProfile({ metadata: [['value', value]] }));
      }
      const [d, c, b, a] = profiles;
      const { partition, store } = bench;
      for (const includeArchived of [true, false]) {
        const list = (page: Page<EndpointId>) => store.listProfiles(partition, includeArchived, page);
        expect(await partsOf(list, ({ id }) => id)).toEqual([[a, b], [c], [d]]);
      }
      for (const { id } of [...profiles, ...profiles]) {
        await bench.addSchedule({ destination: { kind: 'profile', endpointId: id } });
      }
      const all = await store.listSchedules(partition, ALL_SCHEDULES, { before: null, limit: 100 });
      expect(all).toMatchObject({ items: { length: 8 }, hasMore: false });
    });

    test('and a page that is full says whether there is more', async () => {
      const bench = await suite.bench();
      for (let i = 0; i < 3; i++) {
        await bench.addSchedule();
        await bench.addProfile();
      }
      for (const [limit, hasMore] of [
        [2, true],
        [3, false],
      ] as const) {
        const page = { before: null, limit };
        const expected = { items: { length: limit }, hasMore };
        expect(await bench.store.listSchedules(bench.partition, ALL_SCHEDULES, page)).toMatchObject(expected);
        expect(await bench.store.listProfiles(bench.partition, false, page)).toMatchObject(expected);
      }
    });

    test("ids that name no schedule, or another partition's, are passed over", async () => {
      const bench = await suite.bench();
      const one = await bench.addSchedule();
      bench.tick();
      const ids = [bench.ids.mint('sch', bench.now), viewId(one)];
      expect(await bench.store.findSchedules(bench.partition, ids)).toEqual({ items: [one], hasMore: false });
      expect(await bench.store.findSchedules(bench.neighbour, ids)).toEqual(NOTHING);
      expect(await bench.store.findSchedules(bench.partition, [])).toEqual(NOTHING);
    });
  });

  describe('deliveries are listed', () => {
    test('by status, schedule and time of creation in every combination, newest first, in pages', async () => {
      const bench = await suite.bench();
      const added = await populateDeliveries(bench, 80);
      const schedules = [...new Set(added.map(({ scheduleId }) => scheduleId))];
      const times = fc.constantFrom(
        ...added.flatMap(({ createdAt }) => [instant(createdAt - 1), createdAt, instant(createdAt + 1)]),
        instant(-1),
        instant(253_402_300_799_999),
      );
      const filters = fc.record({
        status: fc.option(fc.constantFrom(...DELIVERY_STATUSES)),
        scheduleId: fc.option(fc.constantFrom(...schedules, bench.ids.mint('sch', bench.now))),
        createdAfter: fc.option(times),
        createdBefore: fc.option(times),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
          const listed = await allPages(
            (page) => bench.store.listDeliveries(bench.partition, filter, page),
            ({ id }: Delivery): DeliveryId => id,
            limit,
          );
          const expected = added.filter((delivery) => isDeliveryListed(delivery, filter));
          expect(listed).toEqual(expected.toReversed());
        }),
        { numRuns: 300, seed: 3 },
      );
    });

    test('with both bounds of creation exclusive', async () => {
      const bench = await suite.bench();
      const at = [];
      for (let i = 0; i < 3; i++) {
        at.push((await bench.addSchedule()).schedule.createdAt);
        bench.tick();
      }
      const [first = null, , last = null] = at;
      const filter = { ...ALL_DELIVERIES, createdAfter: first, createdBefore: last };
      const listed = await bench.store.listDeliveries(bench.partition, filter, { before: null, limit: 9 });
      expect(listed.map(({ createdAt }) => createdAt)).toEqual([at[1]]);
    });

    test('of their own partition only, even by the id of a schedule', async () => {
      const bench = await suite.bench();
      const { schedule } = await bench.addSchedule();
      for (const scheduleId of [null, schedule.id]) {
        for (const status of [null, 'scheduled'] as const) {
          const filter = { ...ALL_DELIVERIES, scheduleId, status };
          const page = { before: null, limit: 100 };
          expect(await bench.store.listDeliveries(bench.neighbour, filter, page)).toEqual([]);
        }
      }
    });
  });

  describe('attempts are listed', () => {
    test('in the order they were made, after a given one, of their own delivery and partition', async () => {
      const bench = await suite.bench();
      const {
        schedule: { id },
      } = await bench.addSchedule();
      const other = await bench.addSchedule();
      await bench.fire(pendingOf(other), FAILURE);
      for (const result of [FAILURE, FAILURE, FAILURE, SUCCESS]) {
        bench.tick(1_000);
        await bench.fire(await bench.pending(id), result);
      }
      const delivery = await bench.pending(id);
      const numbers = async (after: number, limit: number) =>
        (await bench.store.listAttempts(bench.partition, delivery.id, after, limit)).map((a) => a.attemptNo);
      expect(await numbers(0, 100)).toEqual([1, 2, 3, 4]);
      expect(await numbers(0, 2)).toEqual([1, 2]);
      expect(await numbers(2, 100)).toEqual([3, 4]);
      expect(await numbers(4, 100)).toEqual([]);
      expect(await bench.store.listAttempts(bench.neighbour, delivery.id, 0, 100)).toEqual([]);
    });
  });

  describe('profiles are listed', () => {
    test('newest first in pages, archived ones on demand, of their own partition only', async () => {
      const bench = await suite.bench();
      const added = [];
      for (let i = 0; i < 12; i++) {
        added.push(await bench.addProfile({ archived: i % 3 === 0 }));
        bench.tick(i % 2);
      }
      for (const includeArchived of [true, false]) {
        const listed = await allListed(
          (page) => bench.store.listProfiles(bench.partition, includeArchived, page),
          ({ id }: EndpointProfile): EndpointId => id,
          5,
        );
        expect(listed).toEqual(added.filter(({ archived }) => includeArchived || !archived).toReversed());
        const page = { before: null, limit: 100 };
        expect(await bench.store.listProfiles(bench.neighbour, includeArchived, page)).toEqual(NOTHING);
      }
    });
  });
}

function viewId({ schedule }: ScheduleView): ScheduleId {
  return schedule.id;
}

/** Reads a list page by page to its end. */
async function partsOf<Row, Id extends string>(
  list: (page: Page<Id>) => Promise<Listed<Row>>,
  idOf: (row: Row) => Id,
): Promise<readonly (readonly Row[])[]> {
  const parts: (readonly Row[])[] = [];
  const keep = async (page: Page<Id>) => {
    const listed = await list(page);
    parts.push(listed.items);
    return listed;
  };
  await allListed(keep, idOf);
  return parts;
}

export function listSchedules(
  bench: Bench,
  filter: ScheduleFilter,
  limit = 100,
): Promise<readonly ScheduleId[]> {
  const [label, ...others] = filter.labels;
  if (others.length > 0) return searchSchedules(bench, filter, limit);
  const labels = label === undefined ? ([] as const) : ([label] as const);
  return allListed(
    async (page) => {
      const { items, hasMore } = await bench.store.listSchedules(
        bench.partition,
        { ...filter, labels },
        page,
      );
      return { items: items.map(({ schedule }) => schedule.id), hasMore };
    },
    (id: ScheduleId) => id,
    limit,
  );
}

async function searchSchedules(
  bench: Bench,
  filter: ScheduleFilter,
  limit: number,
): Promise<readonly ScheduleId[]> {
  const all: ScheduleId[] = [];
  for (let before: ScheduleId | null = null; ; ) {
    const { found, next }: FoundSchedules = await bench.store.searchSchedules(bench.partition, filter, {
      before,
      limit,
    });
    expect(found.length).toBeLessThanOrEqual(limit);
    all.push(...found);
    if (next === null) return all;
    expect(before === null || next < before, 'a search goes on').toBe(true);
    before = next;
  }
}

export function isListed(schedule: Schedule, { state, kind, labels }: ScheduleFilter): boolean {
  const has = (name: string, value: string) => schedule.metadata.some(([n, v]) => n === name && v === value);
  return (
    (state === null || schedule.state === state) &&
    (kind === null || schedule.timing.kind === kind) &&
    labels.every(([name, value]) => has(name, value))
  );
}

function isDeliveryListed(delivery: Delivery, filter: DeliveryFilter): boolean {
  return (
    (filter.status === null || delivery.status === filter.status) &&
    (filter.scheduleId === null || delivery.scheduleId === filter.scheduleId) &&
    (filter.createdAfter === null || delivery.createdAt > filter.createdAfter) &&
    (filter.createdBefore === null || delivery.createdAt < filter.createdBefore)
  );
}

/** Schedules of every state and kind with some of the labels, several in one millisecond; oldest first. */
export async function populateSchedules(bench: Bench, count: number): Promise<readonly Schedule[]> {
  const added: Schedule[] = [];
  for (let i = 0; i < count; i++) {
    const made = bench.schedule({
      timing: i % 3 === 0 ? HOURLY : bench.oneShot(),
      metadata: TEAMS.filter((_, bit) => ((i * 7) >> bit) & 1),
    });
    const state = SCHEDULE_STATES[(i >> 1) % SCHEDULE_STATES.length] ?? 'active';
    added.push((await bench.addMade({ ...made, schedule: { ...made.schedule, state } })).schedule);
    bench.tick(i % 2);
  }
  return added;
}

/** Deliveries of every status, of several schedules, several in one millisecond; oldest first. */
async function populateDeliveries(bench: Bench, count: number): Promise<readonly Delivery[]> {
  const added: Delivery[] = [];
  for (let i = 0; i < 4; i++) added.push(pendingOf(await bench.addSchedule()));
  const originals = [...added];
  for (let i = 0; i < count; i++) {
    const original = originals[(i >> 2) % originals.length];
    const status = DELIVERY_STATUSES[i % DELIVERY_STATUSES.length];
    if (original === undefined || status === undefined) continue;
    const delivery = { ...bench.replay(original), status };
    expect(await bench.store.addReplay({ delivery, receipt: null })).toBe('done');
    added.push(delivery);
    bench.tick((i >> 1) % 2);
  }
  return added;
}
