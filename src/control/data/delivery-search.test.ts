import { expect, test } from 'vitest';
import { encodeCursor } from '#src/api/cursor.ts';
import { CLOSED } from '#src/domain/breaker.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';
import { FAILURE, REDIRECT, SUCCESS } from '#test/store-contract/builders.ts';

const open = useDataHarness();

const NO_FILTERS = { schedule_id: null, endpoint_id: null, created_after: null, created_before: null };

type Made = { readonly schedule: Schedule; readonly pending: Delivery };

async function add({ build, control: { store } }: DataHarness, dueMs: number, changes = {}): Promise<Made> {
  const timing = { kind: 'one_shot', fireAt: instant(build.now + dueMs), timezone: null } as const;
  const made = build.schedule({ timing, ...changes });
  await store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
  return made;
}

async function claim({ build, control: { store } }: DataHarness, { schedule, pending }: Made) {
  const claimed = build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  return claimed;
}

async function settle(harness: DataHarness, made: Made, result: typeof SUCCESS) {
  const settled = harness.build.settle(await claim(harness, made), made.schedule, result);
  await harness.control.store.settle([settled]);
}

async function ids(harness: DataHarness, query: string): Promise<readonly string[]> {
  const { body } = await harness.get(`search/deliveries?${query}`);
  return body.data.map(({ id }: { id: string }) => id);
}

test('what waits comes with attempts in flight first, then soonest first, page by page', async () => {
  const harness = await open();
  const late = await add(harness, 9_000);
  const soon = await add(harness, 2_000);
  const between = await add(harness, 5_000);
  const inFlight = await add(harness, 1);
  await claim(harness, inFlight);
  const ended = await add(harness, 1);
  await settle(harness, ended, SUCCESS);
  const order = [inFlight, soon, between, late].map(({ pending }) => pending.id);
  expect(await ids(harness, 'group=waiting')).toEqual(order);
  const pages: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await harness.get(`search/deliveries?group=waiting&limit=1&cursor=${cursor}`);
    expect(body.data).toHaveLength(1);
    pages.push(body.data[0].id);
    if (body.next_cursor === null) break;
    cursor = body.next_cursor;
  }
  expect(pages).toEqual(order);
});

test('a made-up cursor is refused, also one with a time that no delivery can have', async () => {
  const harness = await open();
  const name = `search deliveries ${JSON.stringify(['waiting', null, NO_FILTERS])}`;
  const list = { partition: harness.project.partitions.test, name };
  for (const position of ['9999999999999999/', '8640000000000001/', '-1/', '01/', '0/x', '/', '1']) {
    const answer = await harness.get(
      `search/deliveries?group=waiting&cursor=${encodeCursor(list, position)}`,
    );
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor' } } });
  }
  const first = await harness.get(`search/deliveries?group=waiting&cursor=${encodeCursor(list, '0/')}`);
  expect(first.status).toBe(200);
});

test('what ended comes newest first, of all statuses or of one', async () => {
  const harness = await open();
  const [first, second, third] = [await add(harness, 1), await add(harness, 1), await add(harness, 1)];
  await add(harness, 1_000);
  await settle(harness, first, SUCCESS);
  await settle(harness, second, REDIRECT);
  await settle(harness, third, SUCCESS);
  const newest = [third, second, first].map(({ pending }) => pending.id);
  expect(await ids(harness, 'group=ended')).toEqual(newest);
  expect(await ids(harness, 'group=ended&status=dead_letter')).toEqual([second.pending.id]);
  expect(await ids(harness, `group=ended&schedule_id=${first.schedule.id}`)).toEqual([first.pending.id]);
  const page = await harness.get('search/deliveries?group=ended&limit=2');
  expect(page.body.data).toHaveLength(2);
  expect(await ids(harness, `group=ended&limit=2&cursor=${page.body.next_cursor}`)).toEqual(newest.slice(2));
  // A cursor of another list is refused.
  const wrong = await harness.get(`search/deliveries?group=all&cursor=${page.body.next_cursor}`);
  expect(wrong.status).toBe(400);
});

test('what has an endpoint profile is found by it, and not by a schedule at once', async () => {
  const harness = await open();
  const { store } = harness.control;
  const profile = harness.build.profile();
  await store.addProfile({ profile, headers: null, receipt: null });
  const made = harness.build.scheduleOn(profile);
  await store.addSchedule({ ...made, payload: null, profile, receipt: null });
  await add(harness, 1_000);
  expect(await ids(harness, `group=waiting&endpoint_id=${profile.id}`)).toEqual([made.pending.id]);
  expect(await ids(harness, `group=ended&endpoint_id=${profile.id}`)).toEqual([]);
  const both = `search/deliveries?endpoint_id=${profile.id}&schedule_id=${made.schedule.id}`;
  expect(await harness.get(both)).toMatchObject({ status: 400, body: { error: { param: 'endpoint_id' } } });
});

test('an attempt leads to its delivery', async () => {
  const harness = await open();
  const made = await add(harness, 1);
  await settle(harness, made, SUCCESS);
  const { body } = await harness.get(`deliveries/${made.pending.id}/attempts`);
  const found = await harness.get(`attempts/${body.data[0].id}/delivery`, 'viewer');
  expect(found).toEqual({ status: 200, body: { delivery_id: made.pending.id } });
  for (const id of ['att_00000000000000000000000000', 'nonsense', made.pending.id]) {
    expect((await harness.get(`attempts/${id}/delivery`)).status).toBe(404);
  }
});

test('a status of the other group matches nothing', async () => {
  const harness = await open();
  await add(harness, 1_000);
  expect(await ids(harness, 'group=ended&status=scheduled')).toEqual([]);
  expect(await ids(harness, 'group=waiting&status=scheduled')).toHaveLength(1);
});

test('each row has the name of its schedule, its failure, and why it waits and until when', async () => {
  const harness = await open();
  const { store, clock } = harness.control;
  const named = await add(harness, 3_600_000, { name: 'nightly-report' });
  const deferred = await add(harness, 1, {
    destination: { kind: 'inline', url: 'https://down.example/', method: 'PUT' },
  });
  const openUntil = instant(clock.now() + 30_000);
  const breaker = { ...CLOSED, failures: 5, openUntil, windowMs: 30_000 };
  await store.saveGates([
    harness.build.gate(endpointKeyOf(deferred.pending.target), {
      gate: { breaker, budget: null, rateLimiters: {} },
    }),
  ]);
  const retried = await add(harness, 1);
  await settle(harness, retried, FAILURE);
  const { body } = await harness.get('search/deliveries?group=waiting');
  const rows = new Map(body.data.map((row: { id: string }) => [row.id, row]));
  expect(rows.get(named.pending.id)).toMatchObject({
    schedule_name: 'nightly-report',
    waiting: { reason: 'not_due' },
  });
  expect(rows.get(deferred.pending.id)).toMatchObject({
    schedule_name: null,
    method: 'PUT',
    waiting: {
      reason: 'breaker_open',
      until: new Date(openUntil).toISOString(),
      words: 'circuit breaker is open',
    },
  });
  expect(rows.get(retried.pending.id)).toMatchObject({
    failure_code: 'http_status',
    waiting: { reason: 'backoff' },
  });
});
