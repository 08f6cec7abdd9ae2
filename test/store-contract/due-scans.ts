import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { defer, isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { instant } from '#src/domain/instant.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { CustomerCursor, Store } from '#src/ports/store.ts';
import * as arbitrary from './arbitraries.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS, scheduleIdOf } from './builders.ts';
import { addScheduleWithEveryStatus, deliveriesOf } from './every-status.ts';
import { ALL_DELIVERIES, allPages } from './everything.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';

const THE_END = instant(Date.UTC(10_000, 0, 1));
const PAGE_ROWS = 50;
/** Sorts after every id. */
const LAST_ID = '\u{10ffff}' as DueDelivery['id'];
const LISTED_MAX = 10_000;

export function dueScansContract(suite: Suite): void {
  describe('a scan for due deliveries', () => {
    const own = ownSuite(suite);

    test('lists waiting deliveries of all partitions by due instant and id', async () => {
      const fixture = await own.fixture();
      const other = await own.fixture();
      const made: Delivery[] = [];
      for (const minutes of [5, 1, 3, 1, 5, 2]) {
        for (const partition of [fixture.partition, other.partition, fixture.neighbour]) {
          const timing = fixture.oneShot(minutes * MINUTE_MS);
          const { pending } = fixture.schedule({ partition, timing, ttl: minutes > 2 ? '1h' : null });
          made.push(pending);
        }
      }
      for (const pending of made.toReversed()) await addWith(fixture, pending);
      const expected = inOrder(made);
      expect(of(expected, await all(fixture.store))).toEqual(expected);
    });

    test('returns the endpoint: the profile, or origin and path of the URL', async () => {
      const fixture = await own.fixture();
      const profile = await fixture.addProfile();
      await fixture.store.addSchedule(fixture.scheduleOn(profile));
      const url = 'https://Example.com:443/a/%62?q=1#f';
      await fixture.addSchedule({ destination: { kind: 'inline', url, method: 'GET' } });
      const endpoints = (await ofPartition(fixture)).map(({ endpoint }) => endpoint);
      expect(endpoints.toSorted()).toEqual([profile.id, 'https://example.com/a/%62'].toSorted());
    });

    test('begins after `after` and ends with deliveries due at `until`', async () => {
      const fixture = await own.fixture();
      const timing = fixture.oneShot();
      const twins = [await fixture.addSchedule({ timing }), await fixture.addSchedule({ timing })];
      const both = inOrder(twins.map(pendingOf));
      const [first, second] = both;
      if (first === undefined || second === undefined)
        throw new Error('There are fewer than two waiting deliveries.');
      const { dueAt } = first;
      const before = instant(dueAt - 1);
      const { store } = fixture;
      expect(of(both, await store.listDue(null, before, 1_000))).toEqual([]);
      expect(of(both, await store.listDue(null, dueAt, 1_000))).toEqual([first, second]);
      expect(of(both, await store.listDue(first, dueAt, 1_000))).toEqual([second]);
      expect(of(both, await store.listDue(second, THE_END, 1_000))).toEqual([]);
      const between = { dueAt: before, id: second.id };
      expect(of(both, await store.listDue(between, THE_END, 1_000))).toEqual([first, second]);
      expect(await store.listDue(first, before, 1_000)).toEqual([]);
    });

    test.for([1, 2, 3, 7])('skips and repeats nothing in pages of %i', async (limit) => {
      const fixture = await own.fixture();
      for (let i = 0; i < 12; i++) await fixture.addSchedule({ timing: fixture.oneShot(HOUR_MS + (i % 3)) });
      const expected = await all(fixture.store, 1_000);
      expect(await all(fixture.store, limit)).toEqual(expected);
      expect(expected).toEqual(expected.toSorted(byDueInstant));
      expect(await fixture.store.listDue(null, THE_END, limit)).toHaveLength(limit);
    });

    test.for([
      [1, 1],
      [3, 2],
      [1_000, 1_000],
    ] as const)(
      'lists customers in pages of %i, with %i deliveries of each at a time',
      async ([limit, limitEach]) => {
        const [fixture, other, third] = [await own.fixture(), await own.fixture(), await own.fixture()];
        for (let i = 0; i < 9; i++) {
          for (const { partition } of [fixture, other, third]) {
            await addWith(
              fixture,
              fixture.schedule({ partition, timing: fixture.oneShot(HOUR_MS + (i % 4)) }).pending,
            );
          }
        }
        await addWith(
          fixture,
          fixture.schedule({ partition: other.partition, timing: fixture.oneShot(3) }).pending,
        );
        const from = { dueAt: instant(fixture.now + MINUTE_MS), id: LAST_ID };
        const until = instant(fixture.now + HOUR_MS + 2);
        const customers = await allCustomers(fixture.store, limit);
        expect(new Set(customers.map(keyOf)).size).toBe(customers.length);
        const wanted = customers.filter(({ partition }) => partition !== third.partition);
        const found: DueDelivery[] = [];
        let cursors: readonly CustomerCursor[] = wanted.map((cursor) => ({ ...cursor, after: from }));
        while (cursors.length > 0) {
          const page = await fixture.store.listDueOfCustomers(cursors, until, limitEach);
          expect(page.due.length).toBeLessThanOrEqual(cursors.length * limitEach);
          found.push(...page.due);
          cursors = page.unfinished;
        }
        const isWanted = ({ partition, dueAt }: DueDelivery) =>
          partition !== third.partition && dueAt > from.dueAt && dueAt <= until;
        expect(found.toSorted(byDueInstant)).toEqual((await all(fixture.store)).filter(isWanted));
        const ofOther = found.filter(({ partition }) => partition === other.partition);
        expect(ofOther).toHaveLength(7);
        expect(ofOther).toEqual(ofOther.toSorted(byDueInstant));
      },
    );

    test('does not list a customer without waiting deliveries', async () => {
      const fixture = await own.fixture();
      const { schedule } = await fixture.addSchedule();
      const listed = async () =>
        (await allCustomers(fixture.store, 2)).filter(({ partition }) => partition === fixture.partition);
      expect(await listed()).toEqual([expect.objectContaining({ after: null })]);
      await fixture.change(schedule.id, (view) => life.cancel(view, fixture.now));
      expect(await listed()).toEqual([]);
    });

    test('lists only deliveries that wait to be sent', async () => {
      const fixture = await own.fixture();
      const { schedule } = await addScheduleWithEveryStatus(fixture);
      const deliveries = await deliveriesOf(fixture, schedule.id);
      const waiting = deliveries.filter(({ status }) => isWaiting(status));
      expect(await ofPartition(fixture)).toEqual(inOrder(waiting));
    });

    test('returns every delivery as the domain converts it', async () => {
      const fixture = await own.fixture();
      for (const changes of fc.sample(arbitrary.deliveryChanges, { numRuns: 80, seed: 11 })) {
        await addWith(fixture, { ...fixture.schedule().pending, ...changes });
      }
      const stored = await allPages(
        (page) => fixture.store.listDeliveries(fixture.partition, ALL_DELIVERIES, page),
        ({ id }: Delivery) => id,
      );
      const expected = inOrder(stored);
      expect(expected.length).toBeGreaterThan(5);
      expect(await ofPartition(fixture)).toEqual(expected);
    });

    test('follows a delivery when it is moved', async () => {
      const fixture = await own.fixture();
      const { schedule } = await fixture.addSchedule({ timing: HOURLY });
      const { id } = schedule;
      const expectShown = async (...deliveries: readonly Delivery[]) =>
        expect(await ofPartition(fixture)).toEqual(inOrder(deliveries));
      const change = async (decide: Parameters<Fixture['change']>[1]) =>
        pendingOf(await fixture.change(id, decide));

      await expectShown(await fixture.pending(id));
      await expectShown(await change((view) => life.reschedule(view, fixture.oneShot(7), fixture.now)));
      await change((view) => life.pause(view, fixture.now));
      await expectShown();
      const resumed = await change((view) => life.resume(view, fixture.now));
      await expectShown(resumed);
      const off = defer(resumed, instant(fixture.now + MINUTE_MS), true);
      expect(await fixture.store.defer([off])).toEqual(['done']);
      await expectShown(off);

      const claimed = await fixture.addClaim(await fixture.view(id));
      const next = await fixture.pending(id);
      await expectShown(next);
      const settled = fixture.settle(claimed, (await fixture.view(id)).schedule, FAILURE);
      expect(await fixture.store.settle([settled])).toEqual(['done']);
      await expectShown(next, settled.delivery);
      const ended = fixture.endUnsent(next, await fixture.view(id));
      expect(await fixture.store.endUnsent([ended])).toEqual(['done']);
      await expectShown(settled.delivery, await fixture.pending(id));
      await change((view) => life.cancel(view, fixture.now));
      await expectShown();
    });
  });
}

/** Adds a schedule with exactly this pending delivery. */
async function addWith(fixture: Fixture, pending: Delivery): Promise<void> {
  const { schedule } = fixture.schedule({
    partition: pending.partition,
    id: scheduleIdOf(pending),
    deliveryId: pending.id,
  });
  const addition = { schedule, pending, payload: null, profile: null, receipt: null };
  expect(await fixture.store.addSchedule(addition)).toBe('done');
}

async function all(store: Store, limit = PAGE_ROWS): Promise<readonly DueDelivery[]> {
  const found: DueDelivery[] = [];
  let after: DueDelivery | null = null;
  while (found.length < LISTED_MAX) {
    const page: readonly DueDelivery[] = await store.listDue(after, THE_END, limit);
    found.push(...page);
    after = page.at(-1) ?? after;
    if (page.length < limit) return found;
  }
  throw new Error('The list does not end.');
}

async function allCustomers(store: Store, limit: number): Promise<readonly CustomerCursor[]> {
  const found: CustomerCursor[] = [];
  while (found.length < LISTED_MAX) {
    const page: readonly CustomerCursor[] = await store.listWaitingCustomers(
      found.at(-1) ?? null,
      THE_END,
      limit,
    );
    found.push(...page);
    if (page.length < limit) return found;
  }
  throw new Error('The list does not end.');
}

function keyOf({ partition, slot }: CustomerCursor): string {
  return `${partition}/${slot}`;
}

async function ofPartition(fixture: Fixture): Promise<readonly DueDelivery[]> {
  return (await all(fixture.store)).filter(({ partition }) => partition === fixture.partition);
}

/** The listed deliveries that this test has added. */
function of(made: readonly DueDelivery[], listed: readonly DueDelivery[]): readonly DueDelivery[] {
  const ids = new Set(made.map(({ id }) => id));
  return listed.filter(({ id }) => ids.has(id));
}

/** The order in which they must be listed. */
function inOrder(deliveries: readonly Delivery[]): readonly DueDelivery[] {
  return deliveries.flatMap((delivery) => dueDeliveryOf(delivery) ?? []).toSorted(byDueInstant);
}

function byDueInstant(one: DueDelivery, other: DueDelivery): number {
  return one.dueAt - other.dueAt || (one.id < other.id ? -1 : 1);
}
