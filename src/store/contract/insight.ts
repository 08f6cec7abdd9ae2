import { describe, expect, test } from 'vitest';
import { CLOSED } from '#src/domain/breaker.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { cancel, pause } from '#src/domain/schedule-life.ts';
import type { ScheduleSearch } from '#src/ports/insight-store.ts';
import { type Bench, firingSchedule, ownSuite, pendingOf, type Suite } from './bench.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS, SECOND_MS, START, SUCCESS } from './builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from './everything.ts';

const LATER = instant(START + 24 * HOUR_MS);
const LOOK_AT_MAX = 1_000;
const ANYTHING: ScheduleSearch = { ...ALL_SCHEDULES, destination: null, hidesQueries: false };

function later(ms: number): Instant {
  return instant(START + ms);
}

function inline(url: string) {
  return { kind: 'inline', url, method: 'POST' } as const;
}

export function insightContract(suite: Suite): void {
  describe('what is coming', () => {
    test('is counted by steps of the window, past its edges and other partitions', async () => {
      const bench = await suite.bench();
      for (const ms of [HOUR_MS - 1, HOUR_MS, HOUR_MS + 59_999, HOUR_MS + 2 * MINUTE_MS, 2 * HOUR_MS]) {
        await bench.addSchedule({ timing: bench.oneShot(ms) });
      }
      await addNeighbour(bench, HOUR_MS);
      const counted = await count(bench, LOOK_AT_MAX, 4);
      expect(counted).toEqual({ counts: [2, 0, 1, 0], isComplete: true });
    });

    test('counts retries, and neither what was sent nor what is paused', async () => {
      const bench = await suite.bench();
      const retried = await bench.addSchedule({ timing: bench.oneShot(1) });
      const sent = await bench.addSchedule({ timing: bench.oneShot(HOUR_MS) });
      const paused = await bench.addSchedule({ timing: bench.oneShot(HOUR_MS) });
      await bench.change(paused.schedule.id, (view) => pause(view, bench.now));
      await bench.fire(pendingOf(sent), SUCCESS);
      const waiting = await bench.fire(pendingOf(retried), FAILURE);
      expect(waiting.status).toBe('retry_scheduled');
      const from = instant((waiting.dueAt ?? 0) - 1);
      expect(
        await bench.store.insight.countDue(bench.partition, from, instant(from + SECOND_MS), 10, LOOK_AT_MAX),
      ).toMatchObject({ counts: [1, ...Array.from({ length: 99 }, () => 0)] });
      expect((await count(bench, LOOK_AT_MAX, 1)).counts).toEqual([0]);
    });

    test('is said to be incomplete where there was too much to look at', async () => {
      const bench = await suite.bench();
      for (let i = 0; i < 4; i++) await bench.addSchedule({ timing: bench.oneShot(HOUR_MS) });
      expect(await count(bench, 4, 1)).toEqual({ counts: [4], isComplete: true });
      const { counts, isComplete } = await count(bench, 3, 1);
      expect(isComplete).toBe(false);
      expect(counts[0]).toBeLessThanOrEqual(4);
    });

    test('is listed in the order it is due, with its schedule', async () => {
      const bench = await suite.bench();
      const second = await bench.addSchedule({ timing: bench.oneShot(2 * HOUR_MS) });
      const first = await bench.addSchedule({ timing: HOURLY });
      await bench.addSchedule({ timing: bench.oneShot(3 * HOUR_MS) });
      await addNeighbour(bench, HOUR_MS);
      const list = (limit: number) =>
        bench.store.insight.listUpcoming(bench.partition, START, later(3 * HOUR_MS), limit);
      const expected = [first, second].map((view) => ({
        delivery: pendingOf(view),
        schedule: firingSchedule(view.schedule),
      }));
      expect(await list(10)).toEqual(expected);
      expect(await list(1)).toEqual(expected.slice(0, 1));
    });
  });

  describe('a search of schedules', () => {
    test('finds a part of the destination in any case, inline or of a profile, newest first', async () => {
      const bench = await suite.bench();
      const one = await bench.addSchedule({ destination: inline('https://shop.example/Orders/new') });
      await bench.addSchedule({ destination: inline('https://shop.example/invoices') });
      const profile = await bench.addProfile({ url: 'https://other.example/ORDERS' });
      const elsewhere = await bench.addProfile({ url: 'https://other.example/else' });
      const two = await bench.addMade(bench.scheduleOn(profile), profile);
      await bench.addMade(bench.scheduleOn(elsewhere), elsewhere);
      await addNeighbour(bench, HOUR_MS, 'https://shop.example/orders');
      expect(await find(bench, { destination: 'orders' })).toEqual({
        found: [two, one],
        next: null,
        lookedAt: 4,
      });
      expect((await find(bench, { destination: 'nowhere' })).found).toEqual([]);
    });

    test('with hidden queries goes by what is shown of a destination', async () => {
      const bench = await suite.bench();
      const secret = await bench.addSchedule({ destination: inline('https://a.example/Hook?token=s3cret') });
      const open = await bench.addSchedule({ destination: inline('https://a.example/hook') });
      const profile = await bench.addProfile({ url: 'https://b.example/hook?token=s3cret' });
      const through = await bench.addMade(bench.scheduleOn(profile), profile);
      const found = async (destination: string, hidesQueries = true) =>
        (await find(bench, { destination, hidesQueries })).found;
      for (const part of ['s3cret', '?token', 'hook?t', 'https://a.example/Hook?token=s3cret'])
        expect(await found(part)).toEqual([]);
      expect(await found('HOOK')).toEqual([through, open, secret]);
      expect(await found('a.example/hook?…')).toEqual([secret]);
      expect(await found('?')).toEqual([through, secret]);
      expect(await found('s3cret', false)).toEqual([through, secret]);
    });

    test('goes by the version that a profile has now', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile({ url: 'https://a.example/old' });
      await bench.addMade(bench.scheduleOn(profile), profile);
      const changed = { ...profile, version: 2, revision: 2, url: 'https://a.example/new' };
      await bench.store.replaceProfile({ profile: changed, headers: null, receipt: null });
      expect((await find(bench, { destination: '/old' })).found).toEqual([]);
      expect((await find(bench, { destination: '/new' })).found).toHaveLength(1);
    });

    test('takes every character as it is', async () => {
      const bench = await suite.bench();
      const plain = await bench.addSchedule({ destination: inline('https://a.example/xyz') });
      const odd = await bench.addSchedule({ destination: inline('https://a.example/%5F_x?a=%25') });
      for (const part of ['%', '_']) expect((await find(bench, { destination: part })).found).toEqual([odd]);
      for (const part of ["'", '\\', 'x%z', 'a_example', '\0', '\ud800']) {
        expect((await find(bench, { destination: part })).found).toEqual([]);
      }
      expect((await find(bench, { destination: 'XYZ' })).found).toEqual([plain]);
    });

    test('keeps to state, kind and every label', async () => {
      const bench = await suite.bench();
      const label = (name: string) => [name, 'x'] as const;
      const both = await bench.addSchedule({ metadata: [label('a'), label('b')], timing: HOURLY });
      const one = await bench.addSchedule({ metadata: [label('a')] });
      const none = await bench.addSchedule();
      const paused = await bench.change(none.schedule.id, (view) => pause(view, bench.now));
      const found = async (given: Partial<ScheduleSearch>) => (await find(bench, given)).found;
      expect(await found({})).toEqual([paused, one, both]);
      expect(await found({ state: 'paused' })).toEqual([paused]);
      expect(await found({ state: 'active' })).toEqual([one, both]);
      expect(await found({ kind: 'recurring' })).toEqual([both]);
      expect(await found({ state: 'active', kind: 'one_shot' })).toEqual([one]);
      expect(await found({ labels: [label('a')] })).toEqual([one, both]);
      expect(await found({ labels: [label('a'), label('b')] })).toEqual([both]);
      expect(await found({ labels: [label('b'), label('a')] })).toEqual([both]);
      expect(await found({ labels: [label('a')], kind: 'one_shot' })).toEqual([one]);
      expect(await found({ labels: [label('a')], state: 'paused' })).toEqual([]);
      expect(await found({ state: 'active', destination: 'EXAMPLE.com' })).toEqual([one, both]);
      expect(await found({ labels: [label('a')], state: 'active', destination: '/other' })).toEqual([]);
    });

    test('stops at what it may look at, and goes on from there', async () => {
      const bench = await suite.bench();
      const views = [];
      for (let i = 0; i < 7; i++) {
        views.push(await bench.addSchedule({ destination: inline(`https://a.example/${i % 3}`) }));
      }
      const wanted = views.filter((_, index) => index % 3 === 0).toReversed();
      const found = [];
      let before: ScheduleId | null = null;
      for (let pieces = 0; pieces < 10; pieces++) {
        const search: ScheduleSearch = { ...ANYTHING, destination: '/0' };
        const page = { before, limit: 5 };
        const piece = await bench.store.insight.searchSchedules(bench.partition, search, page, 2);
        expect(piece.lookedAt).toBeLessThanOrEqual(2);
        found.push(...piece.found);
        before = piece.next;
        if (before === null) break;
      }
      expect(before).toBeNull();
      expect(found).toEqual(wanted);
    });

    test('ends a page where it is full', async () => {
      const bench = await suite.bench();
      const views = [];
      for (let i = 0; i < 5; i++) views.push(await bench.addSchedule());
      const newest = views.toReversed();
      const page = await find(bench, { destination: 'example' }, 2);
      expect(page).toMatchObject({ found: newest.slice(0, 2), next: newest[1]?.schedule.id });
      expect(await find(bench, { destination: 'example' }, 5)).toMatchObject({ found: newest, next: null });
    });
  });

  describe('deliveries', () => {
    test('are counted by status, schedule and time, no further than asked', async () => {
      const bench = await suite.bench();
      const first = await bench.addSchedule({ timing: HOURLY });
      const next = await bench.fire(pendingOf(first), SUCCESS);
      bench.tick(SECOND_MS);
      const second = await bench.addSchedule();
      await addNeighbour(bench, HOUR_MS);
      const counted = (given: Partial<typeof ALL_DELIVERIES>, countMax = 100) =>
        bench.store.insight.countDeliveries(bench.partition, { ...ALL_DELIVERIES, ...given }, countMax);
      const scheduleId = first.schedule.id;
      expect(await counted({})).toBe(3);
      expect(await counted({}, 2)).toBe(2);
      expect(await counted({ status: 'succeeded' })).toBe(1);
      expect(await counted({ status: 'scheduled' })).toBe(2);
      expect(await counted({ status: 'scheduled' }, 1)).toBe(1);
      expect(await counted({ status: 'dead_letter' })).toBe(0);
      expect(await counted({ scheduleId })).toBe(2);
      expect(await counted({ scheduleId }, 1)).toBe(1);
      expect(await counted({ scheduleId, status: 'succeeded' })).toBe(1);
      expect(await counted({ createdAfter: next.createdAt })).toBe(1);
      expect(await counted({ createdBefore: second.schedule.createdAt })).toBe(2);
      expect(await counted({ status: 'scheduled', createdBefore: second.schedule.createdAt })).toBe(1);
      expect(await counted({ scheduleId, createdAfter: next.createdAt })).toBe(0);
    });

    test('of a schedule are listed by their nominal instant, without replays', async () => {
      const bench = await suite.bench();
      const { schedule, pending } = await bench.addSchedule({ timing: HOURLY });
      await bench.addSchedule({ timing: HOURLY });
      const [first] = pending === null ? [] : [await bench.fire(pending, SUCCESS)];
      if (first === undefined) throw new Error('It has a first delivery.');
      await bench.addReplay(first);
      const second = await bench.pending(schedule.id);
      const list = (from: Instant, until: Instant, limit = 10) =>
        bench.store.insight.listOccurrences(bench.partition, schedule.id, from, until, limit);
      expect(await list(START, LATER)).toEqual([first, second]);
      expect(await list(START, LATER, 1)).toEqual([first]);
      expect(await list(first.occurrence, second.occurrence)).toEqual([first]);
      expect(await list(instant(first.occurrence + 1), LATER)).toEqual([second]);
      expect(
        await bench.store.insight.listOccurrences(bench.neighbour, schedule.id, START, LATER, 10),
      ).toEqual([]);
    });
  });

  describe('a profile', () => {
    test('sends payloads while a schedule that names it has one, ended or not', async () => {
      const bench = await suite.bench();
      const [used, unused] = [await bench.addProfile(), await bench.addProfile()];
      const ask = () => bench.store.insight.sendsPayloads(bench.partition, used.id);
      await bench.addMade(bench.scheduleOn(used), used);
      expect(await ask()).toBe(false);
      const { schedule } = await bench.addMade(bench.scheduleOn(used, { payloadBytes: 1 }), used);
      expect(await ask()).toBe(true);
      expect(await bench.store.insight.sendsPayloads(bench.neighbour, used.id)).toBe(false);
      expect(await bench.store.insight.sendsPayloads(bench.partition, unused.id)).toBe(false);
      await bench.change(schedule.id, (view) => cancel(view, bench.tick()));
      expect(await ask()).toBe(true);
    });
  });

  describe('gates', () => {
    test('are listed as they were saved, the newest first', async () => {
      const bench = await suite.bench();
      const older = bench.gate(endpoint('older'));
      const newer = bench.gate(endpoint('newer'), { savedAt: instant(bench.now + 1) });
      await bench.store.saveGates([newer, older, { ...older, partition: bench.neighbour }]);
      const listed = [newer, older].map(({ endpoint: key, gate, savedAt }) => ({
        endpoint: key,
        gate,
        savedAt,
      }));
      expect(await bench.store.insight.listGates(bench.partition, 10)).toEqual(listed);
      expect(await bench.store.insight.listGates(bench.partition, 1)).toEqual(listed.slice(0, 1));
    });

    test('that hold something back come before newer ones', async () => {
      const bench = await suite.bench();
      const gate = (name: string, openUntil: Instant | null, savedAt: Instant) =>
        bench.gate(endpoint(name), {
          savedAt,
          gate: { breaker: { ...CLOSED, openUntil }, budget: null, paces: {} },
        });
      await bench.store.saveGates([
        gate('old and open', LATER, START),
        gate('closed', null, later(2)),
        gate('open', LATER, later(1)),
      ]);
      const listed = await bench.store.insight.listGates(bench.partition, 2);
      expect(listed.map((one) => one.endpoint)).toEqual([endpoint('open'), endpoint('old and open')]);
    });

    describe('have orders', () => {
      const own = ownSuite(suite);

      test('that stay until they are carried out, each once', async () => {
        const bench = await own.bench();
        const { insight } = bench.store;
        const order = { partition: bench.partition, endpoint: endpoint('a'), at: START };
        const elsewhere = { ...order, partition: bench.neighbour };
        await insight.addBreakerReset(order);
        await insight.addBreakerReset(order);
        await insight.addBreakerReset(elsewhere);
        const all = async () => new Set(await insight.listBreakerResets(10));
        expect(await all()).toEqual(new Set([order, elsewhere]));
        expect(await insight.listBreakerResets(1)).toHaveLength(1);
        const again = { ...order, at: later(1) };
        await insight.addBreakerReset(again);
        await insight.removeBreakerReset(order);
        expect(await all()).toEqual(new Set([again, elsewhere]));
        await insight.removeBreakerReset(again);
        await insight.removeBreakerReset(again);
        expect(await all()).toEqual(new Set([elsewhere]));
      });
    });
  });

  test('the cluster is shown as its nodes see it', async () => {
    const { store } = await suite.bench();
    const lease = { node: 'looked-at', leaseUntil: LATER, isStopping: false };
    const state = await store.renewLease(lease);
    expect(await store.insight.readCluster()).toEqual(state);
    await store.leave(lease.node);
  });
}

function endpoint(name: string) {
  return endpointKeyOf({ endpointId: null, url: `https://example.com/${name}` });
}

function count(bench: Bench, lookAtMax: number, steps: number) {
  const from = later(HOUR_MS);
  const until = later(HOUR_MS + steps * MINUTE_MS);
  return bench.store.insight.countDue(bench.partition, from, until, MINUTE_MS, lookAtMax);
}

function find(bench: Bench, given: Partial<ScheduleSearch>, limit = 10) {
  const page = { before: null, limit };
  return bench.store.insight.searchSchedules(bench.partition, { ...ANYTHING, ...given }, page, LOOK_AT_MAX);
}

async function addNeighbour(bench: Bench, inMs: number, url = 'https://example.com/hook'): Promise<void> {
  const made = bench.schedule({
    partition: bench.neighbour,
    timing: bench.oneShot(inMs),
    destination: inline(url),
  });
  await bench.store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
}
