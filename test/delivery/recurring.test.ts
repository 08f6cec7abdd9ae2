/**
 * Recurring schedules. The tests move the next occurrence of a yearly schedule to a second from now. It is
 * then sent while a test waits, and the one after it is where the cron expression puts it.
 */
import { describe, expect, it } from 'vitest';
import { deliveriesOf, delivery, ms, ordered, rescheduled, schedule } from '#test/e2e/expectations.ts';
import type { Delivery } from '#test/e2e/resources.ts';
import { answer, held, redirect } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { type Given, useDeliveries } from './harness.ts';
import { sleep, waitForStatus } from './waits.ts';

const { api, hook, given } = useDeliveries();

const YEARLY = { cron: '0 0 1 1 *' };
/** The instant of the occurrence by the cron expression, after `fired` earlier ones were moved and sent. */
function newYear(fired: number): string {
  return `${new Date().getUTCFullYear() + 1 + fired}-01-01T00:00:00.000Z`;
}

async function yearly(endpoint: string, more: object = {}): Promise<Given> {
  return given({ endpoint, ...YEARLY, ...more });
}

/** Moves the waiting occurrence to a second from now. */
async function moveToSoon(id: string): Promise<Delivery> {
  await rescheduled(api, id, { delay: '1s' });
  return waiting(id);
}

async function waiting(id: string): Promise<Delivery> {
  const scheduled = (await deliveriesOf(api, id)).filter(({ status }) => status === 'scheduled');
  expect(scheduled).toHaveLength(1);
  const [only] = scheduled;
  if (only === undefined) throw new Error(`${id} has nothing scheduled.`);
  return only;
}

describe.concurrent('claiming an occurrence creates exactly one next occurrence', () => {
  it('the next occurrence exists while the first is being sent, and the schedule stays active', async () => {
    const gate = held();
    const target = hook(gate);
    const { id, pending } = await yearly(target.url);
    expect(pending.scheduled_for).toBe(newYear(0));
    const moved = await moveToSoon(id);
    expect(moved.id).toBe(pending.id);
    const request = await target.arrived();
    expect(request.arrivedAt).toBeGreaterThanOrEqual(ms(moved.scheduled_for));

    const [next, first, ...others] = await deliveriesOf(api, id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ id: pending.id, status: 'claimed' });
    expect(next).toMatchObject({ status: 'scheduled', scheduled_for: newYear(1), attempt_count: 0 });
    expect(await schedule(api, id)).toMatchObject({ state: 'active', next_fire_at: newYear(1) });

    gate.release();
    await waitForStatus(api, pending.id, 'succeeded');
    expect(await deliveriesOf(api, id)).toHaveLength(2);
    expect((await schedule(api, id)).state).toBe('active');
  });

  it('each of three occurrences has its own delivery, key and trace', async () => {
    const target = hook();
    const { id } = await yearly(target.url);
    const fired: Delivery[] = [];
    for (let count = 1; count <= 3; count++) {
      const moved = await moveToSoon(id);
      await target.arrived(count);
      fired.push(await waitForStatus(api, moved.id, 'succeeded'));
    }
    expect(new Set(fired.map(({ id }) => id)).size).toBe(3);
    expect(fired.map(({ idempotency_key }) => idempotency_key)).toEqual(
      fired.map(({ scheduled_for }) => `${id}:${scheduled_for}`),
    );
    expect(target.requests.map((request) => headerOf(request, 'Idempotency-Key'))).toEqual(
      fired.map(({ idempotency_key }) => idempotency_key),
    );
    expect((await waiting(id)).scheduled_for).toBe(newYear(3));
    expect(target.requests).toHaveLength(3);
  });
});

describe.concurrent('idempotency keys, one per occurrence', () => {
  it('a given key becomes <key>:<nominal instant>, and is the same in retries', async () => {
    const target = hook(answer(500), answer(200));
    const more = { idempotency_key: 'report', retry_policy: { base: '30ms', factor: 1 } };
    const { id } = await yearly(target.url, more);
    const moved = await moveToSoon(id);
    await waitForStatus(api, moved.id, 'succeeded');
    const keys = target.requests.map((request) => headerOf(request, 'Idempotency-Key'));
    expect(keys).toEqual([`report:${moved.scheduled_for}`, `report:${moved.scheduled_for}`]);
    const nominal = target.requests.map((request) => headerOf(request, 'Sched-Occurrence'));
    // A moved occurrence keeps the instant of its recurrence.
    expect(nominal).toEqual([newYear(0), newYear(0)]);
    expect((await waiting(id)).idempotency_key).toBe(`report:${newYear(1)}`);
  });
});

describe.concurrent('jitter', () => {
  it('the occurrence is sent at its jittered instant, and its key has the nominal one', async () => {
    const target = hook();
    const { id } = await yearly(target.url, { jitter: '500ms' });
    const nominal = new Date(Date.now() + 2_500).toISOString();
    const { next_fire_at, next_runs } = await rescheduled(api, id, { fire_at: nominal });
    const moved = await waiting(id);
    expect(moved.scheduled_for).toBe(next_fire_at);
    expect(next_runs[0]).toBe(next_fire_at);
    expect(Math.abs(ms(next_fire_at) - ms(nominal))).toBeLessThanOrEqual(500);
    const request = await target.arrived();
    expect(request.arrivedAt).toBeGreaterThanOrEqual(ms(next_fire_at));
    expect(headerOf(request, 'Idempotency-Key')).toBe(`${id}:${nominal}`);
    await waitForStatus(api, moved.id, 'succeeded');
    // The one after it is where the preview said.
    expect((await waiting(id)).scheduled_for).toBe(next_runs[1]);
  });
});

describe.concurrent('the next occurrence does not wait for the previous one', () => {
  it('that waits for a retry', async () => {
    const target = hook(answer(500), answer(200));
    const { id } = await yearly(target.url, { retry_policy: { base: '1h' } });
    const first = await moveToSoon(id);
    await waitForStatus(api, first.id, 'retry_scheduled');
    const second = await moveToSoon(id);
    expect(second.id).not.toBe(first.id);
    await waitForStatus(api, second.id, 'succeeded');
    expect((await delivery(api, first.id)).status).toBe('retry_scheduled');
  });

  it('that is still being sent', async () => {
    const gate = held();
    const target = hook(gate, answer(200));
    const { id } = await yearly(target.url);
    const first = await moveToSoon(id);
    await target.arrived();
    const second = await moveToSoon(id);
    await waitForStatus(api, second.id, 'succeeded');
    expect((await delivery(api, first.id)).status).toBe('claimed');
    gate.release();
    await waitForStatus(api, first.id, 'succeeded');
    await waiting(id);
  });
});

describe.concurrent('a recurring schedule never completes by itself', () => {
  it.each([
    ['dead_letter', redirect(302, '/x'), {}],
    ['dead_letter', answer(500), { retry_policy: { max_attempts: 1 } }],
    ['expired', answer(500), { ttl: '1s' }],
    ['succeeded', answer(200), {}],
  ])('%s', async (status, behaviour, more) => {
    const { id } = await yearly(hook(behaviour).url, more);
    const moved = await moveToSoon(id);
    await waitForStatus(api, moved.id, status);
    expect(await schedule(api, id)).toMatchObject({ state: 'active', next_fire_at: newYear(1) });
    await waiting(id);
  });
});

describe.concurrent('actions', () => {
  it('cron on a one-shot makes it recurring: its moved occurrence is sent, and another follows', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url, delay: '1h' });
    await rescheduled(api, id, YEARLY);
    expect((await schedule(api, id)).kind).toBe('recurring');
    await moveToSoon(id);
    await waitForStatus(api, pending.id, 'succeeded');
    expect((await waiting(id)).scheduled_for).toBe(newYear(1));
  });

  it('cancel during an attempt: the attempt finishes, the next occurrence is canceled and none follows', async () => {
    const gate = held(answer(500));
    const target = hook(gate);
    const { id } = await yearly(target.url, { retry_policy: { base: '10ms' } });
    const first = await moveToSoon(id);
    await target.arrived();
    await ordered(api, id, 'cancel');
    gate.release();
    await waitForStatus(api, first.id, 'canceled');
    await sleep(100);
    expect((await deliveriesOf(api, id)).map(({ status }) => status)).toEqual(['canceled', 'canceled']);
    expect(target.requests).toHaveLength(1);
  });

  it('pause stops the next occurrence, and resume skips it when its instant has passed', async () => {
    const target = hook();
    const { id } = await yearly(target.url);
    const moved = await moveToSoon(id);
    await ordered(api, id, 'pause');
    await sleep(ms(moved.scheduled_for) - Date.now() + 200);
    expect(target.requests).toEqual([]);
    await ordered(api, id, 'resume');
    expect((await waiting(id)).scheduled_for).toBe(newYear(0));
    await sleep(300);
    expect(target.requests).toEqual([]);
  });
});
