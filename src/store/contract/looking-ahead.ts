import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { defer, isWaiting } from '#src/domain/delivery-life.ts';
import { type DueDelivery, dueOf } from '#src/domain/due.ts';
import { instant } from '#src/domain/instant.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { CustomerCursor, Store } from '#src/ports/store.ts';
import * as arbitrary from './arbitraries.ts';
import { type Bench, ownSuite, pendingOf, type Suite } from './bench.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS } from './builders.ts';
import { crowd, deliveriesOf } from './crowd.ts';
import { ALL_DELIVERIES, allPages } from './everything.ts';

const THE_END = instant(Date.UTC(10_000, 0, 1));
const PAGE_ROWS = 50;
/** Sorts after every id. */
const LAST_ID = '\u{10ffff}' as DueDelivery['id'];
const LISTED_MAX = 10_000;

export function lookingAheadContract(suite: Suite): void {
  describe('looking ahead', () => {
    const own = ownSuite(suite);

    test('lists what waits in every partition, by instant and then by id', async () => {
      const bench = await own.bench();
      const other = await own.bench();
      const made: Delivery[] = [];
      for (const minutes of [5, 1, 3, 1, 5, 2]) {
        for (const partition of [bench.partition, other.partition, bench.neighbour]) {
          const timing = bench.oneShot(minutes * MINUTE_MS);
          const { pending } = bench.schedule({ partition, timing, ttl: minutes > 2 ? '1h' : null });
          made.push(pending);
        }
      }
      for (const pending of made.toReversed()) await addWith(bench, pending);
      const expected = inOrder(made);
      expect(of(expected, await all(bench.store))).toEqual(expected);
    });

    test('names the endpoint: the profile, or origin and path of the URL', async () => {
      const bench = await own.bench();
      const profile = await bench.addProfile();
      await bench.store.addSchedule(bench.scheduleOn(profile));
      const url = 'https://Example.com:443/a/%62?q=1#f';
      await bench.addSchedule({ destination: { kind: 'inline', url, method: 'GET' } });
      const endpoints = (await ofPartition(bench)).map(({ endpoint }) => endpoint);
      expect(endpoints.toSorted()).toEqual([profile.id, 'https://example.com/a/%62'].toSorted());
    });

    test('ends with what is due at `until`, and begins after `after`', async () => {
      const bench = await own.bench();
      const timing = bench.oneShot();
      const twins = [await bench.addSchedule({ timing }), await bench.addSchedule({ timing })];
      const both = inOrder(twins.map(pendingOf));
      const [first, second] = both;
      if (first === undefined || second === undefined) throw new Error('Both wait.');
      const { dueAt } = first;
      const before = instant(dueAt - 1);
      const { store } = bench;
      expect(of(both, await store.listDue(null, before, 1_000))).toEqual([]);
      expect(of(both, await store.listDue(null, dueAt, 1_000))).toEqual([first, second]);
      expect(of(both, await store.listDue(first, dueAt, 1_000))).toEqual([second]);
      expect(of(both, await store.listDue(second, THE_END, 1_000))).toEqual([]);
      const between = { dueAt: before, id: second.id };
      expect(of(both, await store.listDue(between, THE_END, 1_000))).toEqual([first, second]);
      expect(await store.listDue(first, before, 1_000)).toEqual([]);
    });

    test.for([1, 2, 3, 7])('in pages of %i skips and repeats nothing', async (limit) => {
      const bench = await own.bench();
      for (let i = 0; i < 12; i++) await bench.addSchedule({ timing: bench.oneShot(HOUR_MS + (i % 3)) });
      const expected = await all(bench.store, 1_000);
      expect(await all(bench.store, limit)).toEqual(expected);
      expect(expected).toEqual(expected.toSorted(byPlace));
      expect(await bench.store.listDue(null, THE_END, limit)).toHaveLength(limit);
    });

    test.for([
      [1, 1],
      [3, 2],
      [1_000, 1_000],
    ] as const)('lists customers in pages of %i, and of each %i at a time', async ([limit, limitEach]) => {
      const [bench, other, third] = [await own.bench(), await own.bench(), await own.bench()];
      for (let i = 0; i < 9; i++) {
        for (const { partition } of [bench, other, third]) {
          await addWith(
            bench,
            bench.schedule({ partition, timing: bench.oneShot(HOUR_MS + (i % 4)) }).pending,
          );
        }
      }
      await addWith(bench, bench.schedule({ partition: other.partition, timing: bench.oneShot(3) }).pending);
      const from = { dueAt: instant(bench.now + MINUTE_MS), id: LAST_ID };
      const until = instant(bench.now + HOUR_MS + 2);
      const customers = await allCustomers(bench.store, limit);
      expect(new Set(customers.map(keyOf)).size).toBe(customers.length);
      const wanted = customers.filter(({ partition }) => partition !== third.partition);
      const found: DueDelivery[] = [];
      let cursors: readonly CustomerCursor[] = wanted.map((cursor) => ({ ...cursor, after: from }));
      while (cursors.length > 0) {
        const page = await bench.store.listDueOfCustomers(cursors, until, limitEach);
        expect(page.due.length).toBeLessThanOrEqual(cursors.length * limitEach);
        found.push(...page.due);
        cursors = page.unfinished;
      }
      const isWanted = ({ partition, dueAt }: DueDelivery) =>
        partition !== third.partition && dueAt > from.dueAt && dueAt <= until;
      expect(found.toSorted(byPlace)).toEqual((await all(bench.store)).filter(isWanted));
      const ofOther = found.filter(({ partition }) => partition === other.partition);
      expect(ofOther).toHaveLength(7);
      expect(ofOther).toEqual(ofOther.toSorted(byPlace));
    });

    test('a customer of whom nothing waits is not listed', async () => {
      const bench = await own.bench();
      const { schedule } = await bench.addSchedule();
      const listed = async () =>
        (await allCustomers(bench.store, 2)).filter(({ partition }) => partition === bench.partition);
      expect(await listed()).toEqual([expect.objectContaining({ after: null })]);
      await bench.change(schedule.id, (view) => life.cancel(view, bench.now));
      expect(await listed()).toEqual([]);
    });

    test('shows only what waits to be sent', async () => {
      const bench = await own.bench();
      const { schedule } = await crowd(bench);
      const deliveries = await deliveriesOf(bench, schedule.id);
      const waiting = deliveries.filter(({ status }) => isWaiting(status));
      expect(await ofPartition(bench)).toEqual(inOrder(waiting));
    });

    test('shows whatever was stored as the domain would', async () => {
      const bench = await own.bench();
      for (const changes of fc.sample(arbitrary.deliveryChanges, { numRuns: 80, seed: 11 })) {
        await addWith(bench, { ...bench.schedule().pending, ...changes });
      }
      const stored = await allPages(
        (page) => bench.store.listDeliveries(bench.partition, ALL_DELIVERIES, page),
        ({ id }: Delivery) => id,
      );
      const expected = inOrder(stored);
      expect(expected.length).toBeGreaterThan(5);
      expect(await ofPartition(bench)).toEqual(expected);
    });

    test('follows a delivery through its moves', async () => {
      const bench = await own.bench();
      const { schedule } = await bench.addSchedule({ timing: HOURLY });
      const { id } = schedule;
      const expectShown = async (...deliveries: readonly Delivery[]) =>
        expect(await ofPartition(bench)).toEqual(inOrder(deliveries));
      const change = async (decide: Parameters<Bench['change']>[1]) =>
        pendingOf(await bench.change(id, decide));

      await expectShown(await bench.pending(id));
      await expectShown(await change((view) => life.reschedule(view, bench.oneShot(7), bench.now)));
      await change((view) => life.pause(view, bench.now));
      await expectShown();
      const resumed = await change((view) => life.resume(view, bench.now));
      await expectShown(resumed);
      const off = defer(resumed, instant(bench.now + MINUTE_MS), true);
      expect(await bench.store.defer([off])).toEqual(['done']);
      await expectShown(off);

      const claimed = await bench.take(await bench.view(id));
      const next = await bench.pending(id);
      await expectShown(next);
      const settled = bench.settle(claimed, (await bench.view(id)).schedule, FAILURE);
      expect(await bench.store.settle([settled])).toEqual(['done']);
      await expectShown(next, settled.delivery);
      const ended = bench.endUnsent(next, await bench.view(id));
      expect(await bench.store.endUnsent([ended])).toEqual(['done']);
      await expectShown(settled.delivery, await bench.pending(id));
      await change((view) => life.cancel(view, bench.now));
      await expectShown();
    });
  });
}

/** A schedule whose pending delivery is exactly this one. */
async function addWith(bench: Bench, pending: Delivery): Promise<void> {
  const { schedule } = bench.schedule({
    partition: pending.partition,
    id: pending.scheduleId,
    deliveryId: pending.id,
  });
  const addition = { schedule, pending, payload: null, profile: null, receipt: null };
  expect(await bench.store.addSchedule(addition)).toBe('done');
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
  throw new Error('The list does not come to an end.');
}

async function allCustomers(store: Store, limit: number): Promise<readonly CustomerCursor[]> {
  const found: CustomerCursor[] = [];
  while (found.length < LISTED_MAX) {
    const page: readonly CustomerCursor[] = await store.listWaitingCustomers(found.at(-1) ?? null, limit);
    found.push(...page);
    if (page.length < limit) return found;
  }
  throw new Error('The list does not come to an end.');
}

function keyOf({ partition, slot }: CustomerCursor): string {
  return `${partition}/${slot}`;
}

async function ofPartition(bench: Bench): Promise<readonly DueDelivery[]> {
  return (await all(bench.store)).filter(({ partition }) => partition === bench.partition);
}

/** Those of a list that a test has made. */
function of(made: readonly DueDelivery[], listed: readonly DueDelivery[]): readonly DueDelivery[] {
  const ids = new Set(made.map(({ id }) => id));
  return listed.filter(({ id }) => ids.has(id));
}

/** As they should be listed. */
function inOrder(deliveries: readonly Delivery[]): readonly DueDelivery[] {
  return deliveries.flatMap((delivery) => dueOf(delivery) ?? []).toSorted(byPlace);
}

function byPlace(one: DueDelivery, other: DueDelivery): number {
  return one.dueAt - other.dueAt || (one.id < other.id ? -1 : 1);
}
