import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import {
  type DeliveryFilter,
  type FoundSchedules,
  LISTED_BYTES_MAX,
  type Listed,
  type Page,
  type ScheduleFilter,
} from '#src/ports/store.ts';
import { FAILURE, HOURLY, SUCCESS } from './builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES, allListed, allPages } from './everything.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

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
    test('newest first, also within one millisecond', async () => {
      const fixture = await suite.fixture();
      const added = await populateSchedules(fixture, 7);
      const { items } = await fixture.store.listSchedules(fixture.partition, ALL_SCHEDULES, {
        before: null,
        limit: 100,
      });
      expect(items.map(({ schedule }) => schedule)).toEqual(added.toReversed());
    });

    test('by state, kind and labels in every combination, in pages of any size', async () => {
      const fixture = await suite.fixture();
      const added = await populateSchedules(fixture, 60);
      const filters = fc.record({
        state: fc.option(fc.constantFrom(...SCHEDULE_STATES)),
        kind: fc.option(fc.constantFrom(...SCHEDULE_KINDS)),
        labels: fc.subarray([...TEAMS, ['team', 'nobody'] as const], { maxLength: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
          const listed = await listSchedules(fixture, filter, limit);
          const expected = added.filter((schedule) => isListed(schedule, filter)).toReversed();
          expect(listed).toEqual(expected.map(({ id }) => id));
        }),
        { numRuns: 300, seed: 2 },
      );
    });

    test('by their current labels, not by earlier ones', async () => {
      const fixture = await suite.fixture();
      const {
        schedule: { id },
      } = await fixture.addSchedule({
        metadata: [
          ['stage', 'one'],
          ['team', 'ops'],
        ],
      });
      const metadata = [
        ['stage', 'two'],
        ['team', 'ops'],
      ] as const;
      await fixture.change(id, (view) => life.edit(view, { metadata }, fixture.tick()));
      const labelled = (labels: Labels) => listSchedules(fixture, { ...ALL_SCHEDULES, labels });
      expect(await labelled([['stage', 'one']])).toEqual([]);
      expect(await labelled([['stage', 'two']])).toEqual([id]);
      expect(await labelled(metadata)).toEqual([id]);
      await fixture.change(id, (view) => life.edit(view, { metadata: [] }, fixture.tick()));
      expect(await labelled([['stage', 'two']])).toEqual([]);
      expect(await labelled([['team', 'ops']])).toEqual([]);
    });

    test('without gaps or repetitions while others are added and changed', async () => {
      const fixture = await suite.fixture();
      const added = await populateSchedules(fixture, 30);
      const seen: ScheduleId[] = [];
      for (let before: ScheduleId | null = null; ; ) {
        const { items }: Listed<ScheduleView> = await fixture.store.listSchedules(
          fixture.partition,
          ALL_SCHEDULES,
          {
            before,
            limit: 4,
          },
        );
        if (items.length === 0) break;
        seen.push(...items.map(({ schedule }) => schedule.id));
        before = seen.at(-1) ?? null;
        fixture.tick();
        const { schedule } = await fixture.addSchedule();
        await fixture.change(schedule.id, (view) =>
          life.reschedule(view, fixture.oneShot(5_000), fixture.now),
        );
      }
      expect(seen).toEqual(added.map(({ id }) => id).toReversed());
    });

    test('of one partition only', async () => {
      const fixture = await suite.fixture();
      await populateSchedules(fixture, 5);
      for (const labels of [[], [['team', 'billing']]] as const) {
        for (const state of [null, 'active'] as const) {
          const filter = { state, kind: null, labels };
          const page = { before: null, limit: 100 };
          expect(await fixture.store.listSchedules(fixture.neighbour, filter, page)).toEqual(NOTHING);
        }
      }
      const several = { ...ALL_SCHEDULES, labels: TEAMS.slice(0, 2) };
      const page = { before: null, limit: 100 };
      expect(await fixture.store.searchSchedules(fixture.neighbour, several, page)).toEqual({
        found: [],
        next: null,
      });
    });
  });

  describe('a page ends before it is too large', () => {
    const large = (share: number) => 'x'.repeat(Math.ceil(LISTED_BYTES_MAX * share));

    test('of schedules, with any filter', async () => {
      const fixture = await suite.fixture();
      const views = [];
      for (const value of [large(0.4), large(3), '', large(0.4), large(0.4), large(0.4)]) {
        views.push(await fixture.addSchedule({ metadata: [TEAMS[0], ['value', value]] }));
      }
      const [f, e, d, c, b, a] = views;
      const parts = [[a, b], [c, d], [e], [f]];
      const { partition, store } = fixture;
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

    test('of schedules with many header names or long URLs', async () => {
      const fixture = await suite.fixture();
      const url = `https://example.com/${large(0.6)}`;
      for (let i = 0; i < 2; i++) {
        await fixture.addSchedule({ headerNames: [large(0.6)] });
        await fixture.addSchedule({ destination: { kind: 'inline', url, method: 'POST' } });
      }
      const list = (page: Page<ScheduleId>) =>
        fixture.store.listSchedules(fixture.partition, ALL_SCHEDULES, page);
      expect((await partsOf(list, viewId)).map((part) => part.length)).toEqual([1, 1, 1, 1]);
    });

    test('of profiles, and a schedule does not count the size of its profile', async () => {
      const fixture = await suite.fixture();
      const profiles = [];
      for (const value of [large(0.4), large(3), large(0.4), large(0.4)]) {
        profiles.push(await fixture.addProfile({ metadata: [['value', value]] }));
      }
      const [d, c, b, a] = profiles;
      const { partition, store } = fixture;
      for (const includeArchived of [true, false]) {
        const list = (page: Page<EndpointId>) => store.listProfiles(partition, includeArchived, page);
        expect(await partsOf(list, ({ id }) => id)).toEqual([[a, b], [c], [d]]);
      }
      for (const { id } of [...profiles, ...profiles]) {
        await fixture.addSchedule({ destination: { kind: 'profile', endpointId: id } });
      }
      const all = await store.listSchedules(partition, ALL_SCHEDULES, { before: null, limit: 100 });
      expect(all).toMatchObject({ items: { length: 8 }, hasMore: false });
    });

    test('and a full page tells whether there is more', async () => {
      const fixture = await suite.fixture();
      for (let i = 0; i < 3; i++) {
        await fixture.addSchedule();
        await fixture.addProfile();
      }
      for (const [limit, hasMore] of [
        [2, true],
        [3, false],
      ] as const) {
        const page = { before: null, limit };
        const expected = { items: { length: limit }, hasMore };
        expect(await fixture.store.listSchedules(fixture.partition, ALL_SCHEDULES, page)).toMatchObject(
          expected,
        );
        expect(await fixture.store.listProfiles(fixture.partition, false, page)).toMatchObject(expected);
      }
    });

    test('ids of other partitions and ids without a schedule are ignored', async () => {
      const fixture = await suite.fixture();
      const one = await fixture.addSchedule();
      fixture.tick();
      const ids = [fixture.ids.mint('sch', fixture.now), viewId(one)];
      expect(await fixture.store.findSchedules(fixture.partition, ids)).toEqual({
        items: [one],
        hasMore: false,
      });
      expect(await fixture.store.findSchedules(fixture.neighbour, ids)).toEqual(NOTHING);
      expect(await fixture.store.findSchedules(fixture.partition, [])).toEqual(NOTHING);
    });
  });

  describe('deliveries are listed', () => {
    test('by status, schedule and time of creation in every combination, newest first, in pages', async () => {
      const fixture = await suite.fixture();
      const added = await populateDeliveries(fixture, 80);
      const schedules = [...new Set(added.map(({ scheduleId }) => scheduleId))];
      const times = fc.constantFrom(
        ...added.flatMap(({ createdAt }) => [instant(createdAt - 1), createdAt, instant(createdAt + 1)]),
        instant(-1),
        instant(253_402_300_799_999),
      );
      const filters = fc.record({
        status: fc.option(fc.constantFrom(...DELIVERY_STATUSES)),
        scheduleId: fc.option(fc.constantFrom(...schedules, fixture.ids.mint('sch', fixture.now))),
        createdAfter: fc.option(times),
        createdBefore: fc.option(times),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
          const listed = await allPages(
            (page) => fixture.store.listDeliveries(fixture.partition, filter, page),
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
      const fixture = await suite.fixture();
      const at = [];
      for (let i = 0; i < 3; i++) {
        at.push((await fixture.addSchedule()).schedule.createdAt);
        fixture.tick();
      }
      const [first = null, , last = null] = at;
      const filter = { ...ALL_DELIVERIES, createdAfter: first, createdBefore: last };
      const listed = await fixture.store.listDeliveries(fixture.partition, filter, {
        before: null,
        limit: 9,
      });
      expect(listed.map(({ createdAt }) => createdAt)).toEqual([at[1]]);
    });

    test('of one partition only, also with the id of a schedule', async () => {
      const fixture = await suite.fixture();
      const { schedule } = await fixture.addSchedule();
      for (const scheduleId of [null, schedule.id]) {
        for (const status of [null, 'scheduled'] as const) {
          const filter = { ...ALL_DELIVERIES, scheduleId, status };
          const page = { before: null, limit: 100 };
          expect(await fixture.store.listDeliveries(fixture.neighbour, filter, page)).toEqual([]);
        }
      }
    });
  });

  describe('attempts are listed', () => {
    test('in order, after a given one, of one delivery and partition', async () => {
      const fixture = await suite.fixture();
      const {
        schedule: { id },
      } = await fixture.addSchedule();
      const other = await fixture.addSchedule();
      await fixture.fire(pendingOf(other), FAILURE);
      for (const result of [FAILURE, FAILURE, FAILURE, SUCCESS]) {
        fixture.tick(1_000);
        await fixture.fire(await fixture.pending(id), result);
      }
      const delivery = await fixture.pending(id);
      const numbers = async (after: number, limit: number) =>
        (await fixture.store.listAttempts(fixture.partition, delivery.id, after, limit)).map(
          (a) => a.attemptNo,
        );
      expect(await numbers(0, 100)).toEqual([1, 2, 3, 4]);
      expect(await numbers(0, 2)).toEqual([1, 2]);
      expect(await numbers(2, 100)).toEqual([3, 4]);
      expect(await numbers(4, 100)).toEqual([]);
      expect(await fixture.store.listAttempts(fixture.neighbour, delivery.id, 0, 100)).toEqual([]);
    });
  });

  describe('profiles are listed', () => {
    test('newest first in pages, with archived ones on demand, of one partition only', async () => {
      const fixture = await suite.fixture();
      const added = [];
      for (let i = 0; i < 12; i++) {
        added.push(await fixture.addProfile({ archived: i % 3 === 0 }));
        fixture.tick(i % 2);
      }
      for (const includeArchived of [true, false]) {
        const listed = await allListed(
          (page) => fixture.store.listProfiles(fixture.partition, includeArchived, page),
          ({ id }: EndpointProfile): EndpointId => id,
          5,
        );
        expect(listed).toEqual(added.filter(({ archived }) => includeArchived || !archived).toReversed());
        const page = { before: null, limit: 100 };
        expect(await fixture.store.listProfiles(fixture.neighbour, includeArchived, page)).toEqual(NOTHING);
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
  fixture: Fixture,
  filter: ScheduleFilter,
  limit = 100,
): Promise<readonly ScheduleId[]> {
  const [label, ...others] = filter.labels;
  if (others.length > 0) return searchSchedules(fixture, filter, limit);
  const labels = label === undefined ? ([] as const) : ([label] as const);
  return allListed(
    async (page) => {
      const { items, hasMore } = await fixture.store.listSchedules(
        fixture.partition,
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
  fixture: Fixture,
  filter: ScheduleFilter,
  limit: number,
): Promise<readonly ScheduleId[]> {
  const all: ScheduleId[] = [];
  for (let before: ScheduleId | null = null; ; ) {
    const { found, next }: FoundSchedules = await fixture.store.searchSchedules(fixture.partition, filter, {
      before,
      limit,
    });
    expect(found.length).toBeLessThanOrEqual(limit);
    all.push(...found);
    if (next === null) return all;
    expect(before === null || next < before, 'the search continues').toBe(true);
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

/**
 * Adds schedules of every state and kind with some of the labels, several in one millisecond. Returns the oldest
 * first.
 */
export async function populateSchedules(fixture: Fixture, count: number): Promise<readonly Schedule[]> {
  const all = Array.from({ length: count }, (_, i) => {
    const made = fixture.schedule({
      timing: i % 3 === 0 ? HOURLY : fixture.oneShot(),
      metadata: TEAMS.filter((_label, bit) => ((i * 7) >> bit) & 1),
    });
    const state = SCHEDULE_STATES[(i >> 1) % SCHEDULE_STATES.length] ?? 'active';
    fixture.tick(i % 2);
    return { ...made, schedule: { ...made.schedule, state } };
  });
  const added = await Promise.all(all.map((made) => fixture.addMade(made)));
  return added.map(({ schedule }) => schedule);
}

/** Adds deliveries of every status to several schedules, several in one millisecond. Returns the oldest first. */
async function populateDeliveries(fixture: Fixture, count: number): Promise<readonly Delivery[]> {
  const added: Delivery[] = [];
  for (let i = 0; i < 4; i++) added.push(pendingOf(await fixture.addSchedule()));
  const originals = [...added];
  for (let i = 0; i < count; i++) {
    const original = originals[(i >> 2) % originals.length];
    const status = DELIVERY_STATUSES[i % DELIVERY_STATUSES.length];
    if (original === undefined || status === undefined) continue;
    added.push({ ...fixture.replay(original), status, claim: fixture.claimIn(status) });
    fixture.tick((i >> 1) % 2);
  }
  const replays = added.slice(originals.length);
  const answers = await Promise.all(
    replays.map((delivery) => fixture.store.addReplay({ delivery, receipt: null })),
  );
  expect(new Set(answers)).toEqual(new Set(['done']));
  return added;
}
