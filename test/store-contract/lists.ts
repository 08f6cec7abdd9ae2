import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ATTEMPT_OUTCOMES,
  DELIVERY_STATUSES,
  type Delivery,
  type FinishedAttempt,
} from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import { withHiddenQuery } from '#src/domain/role.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import {
  type AttemptFilter,
  type AttemptPosition,
  type DeliveryFilter,
  type FoundIds,
  hasIndex,
  LISTED_BYTES_MAX,
  type Listed,
  listFilterOf,
  type Page,
  type RecentAttempt,
  type ScheduleFilter,
  type ScheduleSearch,
} from '#src/ports/lists.ts';
import { FAILURE, HOURLY, REDIRECT, SUCCESS } from './builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES, ANY_SCHEDULES, allListed, allPages } from './everything.ts';
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
        { numRuns: 100, seed: 2 },
      );
    });

    test('by name, profile and destination with all other filters', async () => {
      const fixture = await suite.fixture();
      const profiles = [
        await fixture.addProfile({ url: 'https://example.com/Profile?key=1' }),
        await fixture.addProfile({ url: 'https://example.com/other' }),
      ];
      const urlOf = (schedule: Schedule) =>
        schedule.destination.kind === 'inline'
          ? schedule.destination.url
          : (profiles.find(({ id }) => id === profileOf(schedule))?.url ?? '');
      const added = await populateSchedules(fixture, 60, profiles);
      const filters = fc.record({
        state: fc.option(fc.constantFrom(...SCHEDULE_STATES)),
        kind: fc.option(fc.constantFrom(...SCHEDULE_KINDS)),
        labels: fc.subarray([...TEAMS], { maxLength: 2 }),
        name: fc.option(fc.constantFrom('name-0', 'name-4', 'Name-4', 'name-8', 'nobody')),
        endpointId: fc.option(
          fc.constantFrom(...profiles.map(({ id }) => id), fixture.ids.mint('ep', fixture.now)),
        ),
        destination: fc.option(fc.constantFrom('EXAMPLE.com/p', '/hook', 'key', '?', '%', "'", 'nowhere')),
        hidesQueries: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (wanted, limit) => {
          const { destination, hidesQueries } = wanted;
          const isThere = (schedule: Schedule) => {
            const url = hidesQueries ? withHiddenQuery(urlOf(schedule)) : urlOf(schedule);
            return destination === null || url.toLowerCase().includes(destination.toLowerCase());
          };
          const expected = added.filter((schedule) => isListed(schedule, wanted) && isThere(schedule));
          expect(await listSchedules(fixture, wanted, limit)).toEqual(
            expected.map(({ id }) => id).toReversed(),
          );
        }),
        { numRuns: 60, seed: 4 },
      );
    });

    test('by a name also when they have ended, and not by an earlier name', async () => {
      const fixture = await suite.fixture();
      const ids: ScheduleId[] = [];
      for (let i = 0; i < 3; i++) {
        const { schedule } = await fixture.addSchedule({ name: 'report', timing: HOURLY });
        ids.unshift(schedule.id);
        if (i < 2) await fixture.change(schedule.id, (view) => life.cancel(view, fixture.tick()));
      }
      const [newest] = ids;
      if (newest === undefined) throw new Error('There is no schedule.');
      expect(await listSchedules(fixture, { name: 'report' })).toEqual(ids);
      expect(await listSchedules(fixture, { name: 'report', state: 'active' })).toEqual([newest]);
      await fixture.change(newest, (view) => life.edit(view, { name: 'other' }, fixture.tick()));
      expect(await listSchedules(fixture, { name: 'report' })).toEqual(ids.slice(1));
      expect(await listSchedules(fixture, { name: 'other' })).toEqual([newest]);
      const named = { ...ALL_SCHEDULES, name: 'other' };
      const page = { before: null, limit: 9 };
      expect(await fixture.store.listSchedules(fixture.neighbour, named, page)).toEqual(NOTHING);
    });

    test('by the present URL of their profile', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile({ url: 'https://example.com/before' });
      const { schedule } = await fixture.addSchedule({
        destination: { kind: 'profile', endpointId: profile.id },
        profile,
      });
      const found = (destination: string) => listSchedules(fixture, { destination });
      expect(await found('/BEFORE')).toEqual([schedule.id]);
      const changed = { ...profile, url: 'https://example.com/after', version: 2, revision: 2 };
      expect(await fixture.store.replaceProfile({ profile: changed, headers: null, receipt: null })).toBe(
        'done',
      );
      expect(await found('/before')).toEqual([]);
      expect(await found('/after')).toEqual([schedule.id]);
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
      const several = { ...ANY_SCHEDULES, labels: TEAMS.slice(0, 2) };
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
    test('by every combination of filters, newest first, in pages', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const added = await populateDeliveries(fixture, 80, profile);
      const originals = added.slice(0, 4).map(({ id }) => id);
      const schedules = [...new Set(added.map(({ scheduleId }) => scheduleId))];
      const times = fc.constantFrom(
        ...added.flatMap(({ createdAt }) => [instant(createdAt - 1), createdAt, instant(createdAt + 1)]),
        instant(-1),
        instant(253_402_300_799_999),
      );
      const filters = fc.record({
        status: fc.option(fc.constantFrom(...DELIVERY_STATUSES)),
        scheduleId: fc.option(fc.constantFrom(...schedules, fixture.ids.mint('sch', fixture.now))),
        endpointId: fc.option(fc.constantFrom(profile.id, fixture.ids.mint('ep', fixture.now))),
        replayOf: fc.option(fc.constantFrom(...originals, fixture.ids.mint('dlv', fixture.now))),
        createdAfter: fc.option(times),
        createdBefore: fc.option(times),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
          const listed = await listDeliveries(fixture, filter, limit);
          const expected = added.filter((delivery) => isDeliveryListed(delivery, filter));
          expect(listed).toEqual(expected.toReversed());
        }),
        { numRuns: 100, seed: 3 },
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

  describe('attempts that ended are listed', () => {
    test('by outcome and profile, those that ended last first, in pages', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile({ url: 'https://example.com/profile' });
      const ended = await populateAttempts(fixture, 40, profile);
      const filters = fc.record({
        outcome: fc.option(fc.constantFrom(...ATTEMPT_OUTCOMES)),
        endpointId: fc.option(fc.constantFrom(profile.id, fixture.ids.mint('ep', fixture.now))),
      });
      await fc.assert(
        fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
          const expected = ended.filter(
            ({ attempt }) =>
              (filter.outcome === null || attempt.outcome === filter.outcome) &&
              (filter.endpointId === null || attempt.endpointId === filter.endpointId),
          );
          expect(await allAttempts(fixture, filter, limit)).toEqual(expected.toSorted(byEnd));
        }),
        { numRuns: 60, seed: 5 },
      );
    });

    test('without gaps or repetitions while others end, and without those in flight', async () => {
      const fixture = await suite.fixture();
      const ended = await populateAttempts(fixture, 12, await fixture.addProfile());
      await fixture.addClaim(await fixture.addSchedule());
      const seen: RecentAttempt[] = [];
      for (let before: AttemptPosition | null = null; ; ) {
        const page: readonly RecentAttempt[] = await fixture.store.listRecentAttempts(
          fixture.partition,
          ALL_ATTEMPTS,
          before,
          5,
        );
        seen.push(...page);
        before = page.at(-1)?.attempt ?? null;
        if (before === null) break;
        fixture.tick();
        await fixture.fire(pendingOf(await fixture.addSchedule()), SUCCESS);
      }
      expect(seen).toEqual(ended.toSorted(byEnd));
    });

    test('of one partition only', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      await populateAttempts(fixture, 3, profile);
      for (const outcome of [null, 'success'] as const) {
        for (const endpointId of [null, profile.id]) {
          const filter = { outcome, endpointId };
          expect(await fixture.store.listRecentAttempts(fixture.neighbour, filter, null, 9)).toEqual([]);
        }
      }
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

/** Reads a list of schedules to its end: by an index if there is one, else by a search. */
export function listSchedules(
  fixture: Fixture,
  given: Partial<ScheduleSearch>,
  limit = 100,
): Promise<readonly ScheduleId[]> {
  const wanted = { ...ANY_SCHEDULES, ...given };
  const filter = listFilterOf(wanted);
  const { partition, store } = fixture;
  if (filter === null) return allFound((page) => store.searchSchedules(partition, wanted, page), limit);
  return allListed(
    async (page) => {
      const { items, hasMore } = await store.listSchedules(partition, filter, page);
      return { items: items.map(({ schedule }) => schedule.id), hasMore };
    },
    (id: ScheduleId) => id,
    limit,
  );
}

async function listDeliveries(
  fixture: Fixture,
  given: Partial<DeliveryFilter>,
  limit = 100,
): Promise<readonly Delivery[]> {
  const filter = { ...ALL_DELIVERIES, ...given };
  const { partition, store } = fixture;
  if (hasIndex(filter)) {
    const list = (page: Page<DeliveryId>) => store.listDeliveries(partition, filter, page);
    return allPages(list, ({ id }: Delivery): DeliveryId => id, limit);
  }
  const find = (page: Page<DeliveryId>) => store.searchDeliveries(partition, filter, page);
  const ids = await allFound(find, limit);
  return store.findDeliveries(partition, ids);
}

/** Reads a search to its end. */
async function allFound<Id extends string>(
  find: (page: Page<Id>) => Promise<FoundIds<Id>>,
  limit: number,
): Promise<readonly Id[]> {
  const all: Id[] = [];
  for (let before: Id | null = null; ; ) {
    const { found, next }: FoundIds<Id> = await find({ before, limit });
    expect(found.length).toBeLessThanOrEqual(limit);
    all.push(...found);
    if (next === null) return all;
    expect(before === null || next < before, 'the search continues').toBe(true);
    before = next;
  }
}

export function isListed(
  schedule: Schedule,
  { state, kind, labels, name = null, endpointId = null }: ScheduleFilter,
): boolean {
  const has = (label: string, value: string) =>
    schedule.metadata.some(([n, v]) => n === label && v === value);
  return (
    (state === null || schedule.state === state) &&
    (kind === null || schedule.timing.kind === kind) &&
    (name === null || schedule.name === name) &&
    (endpointId === null || profileOf(schedule) === endpointId) &&
    labels.every(([label, value]) => has(label, value))
  );
}

function profileOf({ destination }: Schedule): EndpointId | null {
  return destination.kind === 'profile' ? destination.endpointId : null;
}

function isDeliveryListed(delivery: Delivery, filter: DeliveryFilter): boolean {
  const { endpointId = null, replayOf = null } = filter;
  return (
    (filter.status === null || delivery.status === filter.status) &&
    (filter.scheduleId === null || delivery.scheduleId === filter.scheduleId) &&
    (endpointId === null || delivery.target.endpointId === endpointId) &&
    (replayOf === null || delivery.replayOf === replayOf) &&
    (filter.createdAfter === null || delivery.createdAt > filter.createdAfter) &&
    (filter.createdBefore === null || delivery.createdAt < filter.createdBefore)
  );
}

/**
 * Adds schedules of every state and kind with some of the labels, several in one millisecond. Returns the oldest
 * first.
 */
export async function populateSchedules(
  fixture: Fixture,
  count: number,
  profiles: readonly EndpointProfile[] = [],
): Promise<readonly Schedule[]> {
  const all = Array.from({ length: count }, (_, i) => {
    const profile = profiles[i % 4] ?? null;
    const url = `https://example.com/${i % 7 === 0 ? "HOOK?key=it's" : 'p%20q'}`;
    const made = fixture.schedule({
      name: i % 4 === 0 ? `name-${i}` : null,
      destination:
        profile === null
          ? { kind: 'inline', url, method: 'POST' }
          : { kind: 'profile', endpointId: profile.id },
      profile,
      timing: i % 3 === 0 ? HOURLY : fixture.oneShot(),
      metadata: TEAMS.filter((_label, bit) => ((i * 7) >> bit) & 1),
    });
    const state = SCHEDULE_STATES[(i >> 1) % SCHEDULE_STATES.length] ?? 'active';
    fixture.tick(i % 2);
    return { made: { ...made, schedule: { ...made.schedule, state } }, profile };
  });
  const added = await Promise.all(all.map(({ made, profile }) => fixture.addMade(made, profile)));
  return added.map(({ schedule }) => schedule);
}

/** Adds attempts of every outcome, several that end in one millisecond. */
async function populateAttempts(
  fixture: Fixture,
  count: number,
  profile: EndpointProfile,
): Promise<readonly RecentAttempt[]> {
  const ended: RecentAttempt[] = [];
  const results = [SUCCESS, FAILURE, REDIRECT];
  for (let i = 0; i < count; i++) {
    const isOnProfile = i % 2 === 0;
    const { schedule, pending } = await fixture.addSchedule({
      name: i % 5 === 0 ? `name-${i}` : null,
      ...(isOnProfile ? { destination: { kind: 'profile', endpointId: profile.id }, profile } : {}),
    });
    const result = results[i % results.length] ?? SUCCESS;
    if (pending === null) throw new Error('There is no pending delivery.');
    const { id, target } = await fixture.fire(pending, result);
    const attempts = await fixture.store.listAttempts(fixture.partition, id, 0, 9);
    for (const attempt of attempts) {
      ended.push({
        attempt: attempt as FinishedAttempt,
        scheduleId: schedule.id,
        scheduleName: schedule.name,
        url: target.url,
        method: target.method,
      });
    }
    fixture.tick((i >> 1) % 2);
  }
  return ended;
}

const ALL_ATTEMPTS = { outcome: null, endpointId: null };

function byEnd({ attempt: one }: RecentAttempt, { attempt: other }: RecentAttempt): number {
  return other.finishedAt - one.finishedAt || (one.id < other.id ? 1 : -1);
}

async function allAttempts(
  fixture: Fixture,
  filter: AttemptFilter,
  limit: number,
): Promise<readonly RecentAttempt[]> {
  const all: RecentAttempt[] = [];
  for (;;) {
    const before = all.at(-1)?.attempt ?? null;
    const page = await fixture.store.listRecentAttempts(fixture.partition, filter, before, limit);
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/**
 * Adds deliveries of every status to several schedules, several in one millisecond. Half of the schedules are on the
 * profile. Returns the oldest first.
 */
async function populateDeliveries(
  fixture: Fixture,
  count: number,
  profile: EndpointProfile,
): Promise<readonly Delivery[]> {
  const added: Delivery[] = [];
  const onProfile = { destination: { kind: 'profile', endpointId: profile.id }, profile } as const;
  for (let i = 0; i < 4; i++) {
    added.push(pendingOf(await fixture.addSchedule(i % 2 === 0 ? onProfile : {})));
  }
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
