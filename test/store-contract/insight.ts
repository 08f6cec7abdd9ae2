import { describe, expect, test } from 'vitest';
import { CLOSED } from '#src/domain/breaker.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { AttemptId, DeliveryId, ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { cancel, pause } from '#src/domain/schedule-lifecycle.ts';
import type { DuePosition } from '#src/ports/insight-store.ts';
import type { ScheduleSearch } from '#src/ports/lists.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS, REDIRECT, SECOND_MS, START, SUCCESS } from './builders.ts';
import { ALL_DELIVERIES, ANY_SCHEDULES } from './everything.ts';
import { type Fixture, firingSchedule, ownSuite, pendingOf, type Suite } from './fixture.ts';

const LATER = instant(START + 24 * HOUR_MS);
const LOOK_AT_MAX = 1_000;
const ANYTHING: ScheduleSearch = ANY_SCHEDULES;

function later(ms: number): Instant {
  return instant(START + ms);
}

function inline(url: string) {
  return { kind: 'inline', url, method: 'POST' } as const;
}

export function insightContract(suite: Suite): void {
  describe('upcoming deliveries', () => {
    test('are counted by steps of the window, without other partitions', async () => {
      const fixture = await suite.fixture();
      for (const ms of [HOUR_MS - 1, HOUR_MS, HOUR_MS + 59_999, HOUR_MS + 2 * MINUTE_MS, 2 * HOUR_MS]) {
        await fixture.addSchedule({ timing: fixture.oneShot(ms) });
      }
      await addNeighbour(fixture, HOUR_MS);
      const counted = await count(fixture, LOOK_AT_MAX, 4);
      expect(counted).toEqual({ counts: [2, 0, 1, 0], isComplete: true });
    });

    test('include retries, but not deliveries that are sent or paused', async () => {
      const fixture = await suite.fixture();
      const retried = await fixture.addSchedule({ timing: fixture.oneShot(1) });
      const sent = await fixture.addSchedule({ timing: fixture.oneShot(HOUR_MS) });
      const paused = await fixture.addSchedule({ timing: fixture.oneShot(HOUR_MS) });
      await fixture.change(paused.schedule.id, (view) => pause(view, fixture.now));
      await fixture.fire(pendingOf(sent), SUCCESS);
      const waiting = await fixture.fire(pendingOf(retried), FAILURE);
      expect(waiting.status).toBe('retry_scheduled');
      const from = instant((waiting.dueAt ?? 0) - 1);
      expect(
        await fixture.store.insight.countDue(
          fixture.partition,
          from,
          instant(from + SECOND_MS),
          10,
          LOOK_AT_MAX,
        ),
      ).toMatchObject({ counts: [1, ...Array.from({ length: 99 }, () => 0)] });
      expect((await count(fixture, LOOK_AT_MAX, 1)).counts).toEqual([0]);
    });

    test('are marked incomplete if there are too many to read', async () => {
      const fixture = await suite.fixture();
      for (let i = 0; i < 4; i++) await fixture.addSchedule({ timing: fixture.oneShot(HOUR_MS) });
      expect(await count(fixture, 4, 1)).toEqual({ counts: [4], isComplete: true });
      const { counts, isComplete } = await count(fixture, 3, 1);
      expect(isComplete).toBe(false);
      expect(counts[0]).toBeLessThanOrEqual(4);
    });

    test('are listed in the order in which they are due, with their schedule', async () => {
      const fixture = await suite.fixture();
      const second = await fixture.addSchedule({ timing: fixture.oneShot(2 * HOUR_MS) });
      const first = await fixture.addSchedule({ timing: HOURLY });
      await fixture.addSchedule({ timing: fixture.oneShot(3 * HOUR_MS) });
      await addNeighbour(fixture, HOUR_MS);
      const list = (limit: number, after: DuePosition = { dueAt: START, id: '' }) =>
        fixture.store.insight.listUpcoming(fixture.partition, after, later(3 * HOUR_MS), limit);
      const expected = [first, second].map((view) => ({
        delivery: pendingOf(view),
        schedule: firingSchedule(view.schedule),
      }));
      expect(await list(10)).toEqual(expected);
      expect(await list(1)).toEqual(expected.slice(0, 1));
      const { dueAt, id } = pendingOf(first);
      expect(await list(10, { dueAt: dueAt ?? START, id })).toEqual(expected.slice(1));
    });
  });

  describe('the delivery of an attempt', () => {
    test('is found by an attempt that ended, of every outcome, or is in flight', async () => {
      const fixture = await suite.fixture();
      const from = fixture.now;
      const find = (id: AttemptId, scanMax = 50, partition = fixture.partition) =>
        fixture.store.insight.findDeliveryOfAttempt(partition, id, from, later(HOUR_MS), scanMax);
      const found: (readonly [AttemptId, DeliveryId])[] = [];
      for (const result of [SUCCESS, FAILURE, REDIRECT]) {
        fixture.tick();
        const { id } = await fixture.fire(pendingOf(await fixture.addSchedule()), result);
        const [attempt] = await fixture.store.listAttempts(fixture.partition, id, 0, 1);
        if (attempt !== undefined) found.push([attempt.id, id]);
      }
      const { delivery } = await fixture.addClaim(await fixture.addSchedule());
      found.push([delivery.claim.attemptId, delivery.id]);
      expect(found).toHaveLength(4);
      for (const [attempt, id] of found) {
        expect(await find(attempt)).toBe(id);
        expect(await find(attempt, 50, fixture.neighbour)).toBeNull();
      }
      expect(await find('att_00000000000000000000000000' as AttemptId)).toBeNull();
      expect(await find(found[0]?.[0] as AttemptId, 0)).toBeNull();
    });
  });

  describe('a search of schedules', () => {
    test('finds text in the destination ignoring case, inline or of a profile, newest first', async () => {
      const fixture = await suite.fixture();
      const one = await fixture.addSchedule({ destination: inline('https://shop.example/Orders/new') });
      await fixture.addSchedule({ destination: inline('https://shop.example/invoices') });
      const profile = await fixture.addProfile({ url: 'https://other.example/ORDERS' });
      const elsewhere = await fixture.addProfile({ url: 'https://other.example/else' });
      const two = await fixture.addMade(fixture.scheduleOn(profile), profile);
      await fixture.addMade(fixture.scheduleOn(elsewhere), elsewhere);
      await addNeighbour(fixture, HOUR_MS, 'https://shop.example/orders');
      expect(await find(fixture, { destination: 'orders' })).toEqual({
        found: [two, one],
        next: null,
        scanned: 4,
      });
      expect((await find(fixture, { destination: 'nowhere' })).found).toEqual([]);
    });

    test('with hidden queries compares only the visible part of the destination', async () => {
      const fixture = await suite.fixture();
      const secret = await fixture.addSchedule({
        destination: inline('https://a.example/Hook?token=s3cret'),
      });
      const open = await fixture.addSchedule({ destination: inline('https://a.example/hook') });
      const profile = await fixture.addProfile({ url: 'https://b.example/hook?token=s3cret' });
      const through = await fixture.addMade(fixture.scheduleOn(profile), profile);
      const found = async (destination: string, hidesQueries = true) =>
        (await find(fixture, { destination, hidesQueries })).found;
      for (const part of ['s3cret', '?token', 'hook?t', 'https://a.example/Hook?token=s3cret'])
        expect(await found(part)).toEqual([]);
      expect(await found('HOOK')).toEqual([through, open, secret]);
      expect(await found('a.example/hook?…')).toEqual([secret]);
      expect(await found('?')).toEqual([through, secret]);
      expect(await found('s3cret', false)).toEqual([through, secret]);
    });

    test('finds names too, if it is asked to', async () => {
      const fixture = await suite.fixture();
      const named = await fixture.addSchedule({
        name: 'Nightly-report',
        destination: inline('https://a.example/x'),
      });
      const profile = await fixture.addProfile({ url: 'https://b.example/y' });
      const through = await fixture.addMade(fixture.scheduleOn(profile, { name: 'nightly-backup' }), profile);
      const unnamed = await fixture.addSchedule({ destination: inline('https://a.example/nightly') });
      const found = async (destination: string, inNames: boolean) =>
        (await find(fixture, { destination, inNames })).found;
      expect(await found('NIGHTLY', true)).toEqual([unnamed, through, named]);
      expect(await found('nightly', false)).toEqual([unnamed]);
      expect(await found('-report', true)).toEqual([named]);
      expect(await found('b.example', true)).toEqual([through]);
      expect(await found('%', true)).toEqual([]);
    });

    test('uses the current version of a profile', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile({ url: 'https://a.example/old' });
      await fixture.addMade(fixture.scheduleOn(profile), profile);
      const changed = { ...profile, version: 2, revision: 2, url: 'https://a.example/new' };
      await fixture.store.replaceProfile({ profile: changed, headers: null, receipt: null });
      expect((await find(fixture, { destination: '/old' })).found).toEqual([]);
      expect((await find(fixture, { destination: '/new' })).found).toHaveLength(1);
    });

    test('has no wildcard characters', async () => {
      const fixture = await suite.fixture();
      const plain = await fixture.addSchedule({ destination: inline('https://a.example/xyz') });
      const odd = await fixture.addSchedule({ destination: inline('https://a.example/%5F_x?a=%25') });
      for (const part of ['%', '_'])
        expect((await find(fixture, { destination: part })).found).toEqual([odd]);
      for (const part of ["'", '\\', 'x%z', 'a_example', '\0', '\ud800']) {
        expect((await find(fixture, { destination: part })).found).toEqual([]);
      }
      expect((await find(fixture, { destination: 'XYZ' })).found).toEqual([plain]);
    });

    test('filters by state, kind and all labels', async () => {
      const fixture = await suite.fixture();
      const label = (name: string) => [name, 'x'] as const;
      const both = await fixture.addSchedule({ metadata: [label('a'), label('b')], timing: HOURLY });
      const one = await fixture.addSchedule({ metadata: [label('a')] });
      const none = await fixture.addSchedule();
      const paused = await fixture.change(none.schedule.id, (view) => pause(view, fixture.now));
      const found = async (given: Partial<ScheduleSearch>) => (await find(fixture, given)).found;
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

    test('stops after its row limit, and can continue from there', async () => {
      const fixture = await suite.fixture();
      const views = [];
      for (let i = 0; i < 7; i++) {
        views.push(await fixture.addSchedule({ destination: inline(`https://a.example/${i % 3}`) }));
      }
      const wanted = views.filter((_, index) => index % 3 === 0).toReversed();
      const found = [];
      let before: ScheduleId | null = null;
      for (let pages = 0; pages < 10; pages++) {
        const search: ScheduleSearch = { ...ANYTHING, destination: '/0' };
        const page = { before, limit: 5 };
        const part = await fixture.store.insight.searchSchedules(fixture.partition, search, page, 2);
        expect(part.scanned).toBeLessThanOrEqual(2);
        found.push(...part.found);
        before = part.next;
        if (before === null) break;
      }
      expect(before).toBeNull();
      expect(found).toEqual(wanted);
    });

    test('ends when the page is full', async () => {
      const fixture = await suite.fixture();
      const views = [];
      for (let i = 0; i < 5; i++) views.push(await fixture.addSchedule());
      const newest = views.toReversed();
      const page = await find(fixture, { destination: 'example' }, 2);
      expect(page).toMatchObject({ found: newest.slice(0, 2), next: newest[1]?.schedule.id });
      expect(await find(fixture, { destination: 'example' }, 5)).toMatchObject({ found: newest, next: null });
    });
  });

  describe('deliveries', () => {
    test('are counted by status, schedule and time, up to a limit', async () => {
      const fixture = await suite.fixture();
      const first = await fixture.addSchedule({ timing: HOURLY });
      const next = await fixture.fire(pendingOf(first), SUCCESS);
      fixture.tick(SECOND_MS);
      const second = await fixture.addSchedule();
      await addNeighbour(fixture, HOUR_MS);
      const counted = (given: Partial<typeof ALL_DELIVERIES>, countMax = 100) =>
        fixture.store.insight.countDeliveries(fixture.partition, { ...ALL_DELIVERIES, ...given }, countMax);
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

    test('of a schedule are listed by occurrence, without replays', async () => {
      const fixture = await suite.fixture();
      const { schedule, pending } = await fixture.addSchedule({ timing: HOURLY });
      await fixture.addSchedule({ timing: HOURLY });
      const [first] = pending === null ? [] : [await fixture.fire(pending, SUCCESS)];
      if (first === undefined) throw new Error('The schedule has no first delivery.');
      await fixture.addReplay(first);
      const second = await fixture.pending(schedule.id);
      const [firstAt, secondAt] = [first, second].map(({ occurrence }) => occurrence as Instant);
      if (firstAt === undefined || secondAt === undefined) throw new Error('Both have an instant.');
      const list = (from: Instant, until: Instant, limit = 10) =>
        fixture.store.insight.listOccurrences(fixture.partition, schedule.id, from, until, limit);
      expect(await list(START, LATER)).toEqual([first, second]);
      expect(await list(START, LATER, 1)).toEqual([first]);
      expect(await list(firstAt, secondAt)).toEqual([first]);
      expect(await list(instant(firstAt + 1), LATER)).toEqual([second]);
      expect(
        await fixture.store.insight.listOccurrences(fixture.neighbour, schedule.id, START, LATER, 10),
      ).toEqual([]);
    });
  });

  describe('a profile', () => {
    test('sends payloads if any of its schedules has one, ended or not', async () => {
      const fixture = await suite.fixture();
      const [used, unused] = [await fixture.addProfile(), await fixture.addProfile()];
      const hasPayloads = () => fixture.store.insight.hasPayloads(fixture.partition, used.id);
      await fixture.addMade(fixture.scheduleOn(used), used);
      expect(await hasPayloads()).toBe(false);
      const { schedule } = await fixture.addMade(fixture.scheduleOn(used, { payloadBytes: 1 }), used);
      expect(await hasPayloads()).toBe(true);
      expect(await fixture.store.insight.hasPayloads(fixture.neighbour, used.id)).toBe(false);
      expect(await fixture.store.insight.hasPayloads(fixture.partition, unused.id)).toBe(false);
      await fixture.change(schedule.id, (view) => cancel(view, fixture.tick()));
      expect(await hasPayloads()).toBe(true);
    });
  });

  describe('gates', () => {
    test('are listed as they were saved, newest first', async () => {
      const fixture = await suite.fixture();
      const older = fixture.gate(endpoint('older'));
      const newer = fixture.gate(endpoint('newer'), { savedAt: instant(fixture.now + 1) });
      await fixture.store.saveGates([newer, older, { ...older, partition: fixture.neighbour }]);
      const listed = [newer, older].map(({ endpoint: key, gate, savedAt }) => ({
        endpoint: key,
        gate,
        savedAt,
      }));
      expect(await fixture.store.insight.listGates(fixture.partition, 10)).toEqual(listed);
      expect(await fixture.store.insight.listGates(fixture.partition, 1)).toEqual(listed.slice(0, 1));
    });

    test('with an open breaker come before newer ones', async () => {
      const fixture = await suite.fixture();
      const gate = (name: string, openUntil: Instant | null, savedAt: Instant) =>
        fixture.gate(endpoint(name), {
          savedAt,
          gate: { breaker: { ...CLOSED, openUntil }, budget: null, rateLimiters: {} },
        });
      await fixture.store.saveGates([
        gate('old and open', LATER, START),
        gate('closed', null, later(2)),
        gate('open', LATER, later(1)),
      ]);
      const listed = await fixture.store.insight.listGates(fixture.partition, 2);
      expect(listed.map((one) => one.endpoint)).toEqual([endpoint('open'), endpoint('old and open')]);
    });

    describe('have breaker resets', () => {
      const own = ownSuite(suite);

      test('that stay until they are removed, once per endpoint', async () => {
        const fixture = await own.fixture();
        const { insight } = fixture.store;
        const order = { partition: fixture.partition, endpoint: endpoint('a'), at: START };
        const elsewhere = { ...order, partition: fixture.neighbour };
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

  test('the cluster state is the one that its nodes see', async () => {
    const { store } = await suite.fixture();
    const lease = { node: 'looked-at', leaseUntil: LATER, isStopping: false, version: '1.2.3' };
    const state = await store.renewLease(lease);
    expect(await store.insight.readCluster()).toEqual(state);
    await store.leave(lease.node);
  });
}

function endpoint(name: string) {
  return endpointKeyOf({ endpointId: null, url: `https://example.com/${name}` });
}

function count(fixture: Fixture, scanMax: number, steps: number) {
  const from = later(HOUR_MS);
  const until = later(HOUR_MS + steps * MINUTE_MS);
  return fixture.store.insight.countDue(fixture.partition, from, until, MINUTE_MS, scanMax);
}

function find(fixture: Fixture, given: Partial<ScheduleSearch>, limit = 10) {
  const page = { before: null, limit };
  return fixture.store.insight.searchSchedules(
    fixture.partition,
    { ...ANYTHING, ...given },
    page,
    LOOK_AT_MAX,
  );
}

async function addNeighbour(fixture: Fixture, inMs: number, url = 'https://example.com/hook'): Promise<void> {
  const made = fixture.schedule({
    partition: fixture.neighbour,
    timing: fixture.oneShot(inMs),
    destination: inline(url),
  });
  await fixture.store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
}
