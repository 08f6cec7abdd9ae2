/** Notifications of outcomes, as a customer sees them and as a receiver gets them. */
import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  created,
  createdProfile,
  delivery,
  expectError,
  fromNow,
  idOf,
  list,
  ordered,
  patched,
  patchedProfile,
  replayed,
  SECOND,
  schedule,
} from '#test/e2e/expectations.ts';
import type { Delivery, Endpoint } from '#test/e2e/resources.ts';
import { PUBLIC_HOST, PUBLIC_NETWORK } from '#test/egress/public-network.ts';
import { answer, type Behaviour, redirect } from '#test/receiver/behaviours.ts';
import { type Hook, headerOf, valuesOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given, live } = useDeliveries(
  { SCHED_RESPONSE_EXCERPT: '100' },
  { network: PUBLIC_NETWORK },
);

const ALL = ['succeeded', 'dead_letter', 'expired'];

interface Body {
  readonly type: string;
  readonly id: string;
  readonly created_at: string;
  readonly data: { readonly delivery: Delivery; readonly attempts: readonly object[] } & Record<
    string,
    unknown
  >;
}

interface Told {
  readonly hook: Hook;
  readonly profile: Endpoint;
}

/** An endpoint profile that is told, and its receiver. */
async function teller(script: readonly Behaviour[] = [answer(200)], more: object = {}): Promise<Told> {
  const receiver = hook(...script);
  return { hook: receiver, profile: await createdProfile(api, { url: receiver.url, ...more }) };
}

function bodyOf(request: { readonly body: Uint8Array }): Body {
  return JSON.parse(Buffer.from(request.body).toString()) as Body;
}

async function notificationsOf(id: string): Promise<readonly Delivery[]> {
  return (await list<Delivery>(api, `/v1/deliveries?notification_of=${id}`)).data;
}

/** Waits until the delivery has ended, and its notification too. */
async function toldOf(id: string): Promise<Delivery> {
  await waitForEnd(api, id);
  const [notification, ...others] = await notificationsOf(id);
  if (notification === undefined) throw new Error('Nothing was told.');
  expect(others).toEqual([]);
  return (await waitForEnd(api, notification.id)).delivery;
}

describe.concurrent('a delivery that ends', () => {
  it('is told to the endpoint profile that its schedule names, once and signed', async () => {
    const told = await teller();
    const notify = { endpoint_id: told.profile.id, on: ['expired', 'dead_letter'] };
    const { shown, pending } = await given({
      endpoint: hook(redirect(302, 'https://example.com/')).url,
      name: 'told-once',
      metadata: { team: 'ops & "more"' },
      notify,
    });
    expect(shown.notify).toEqual({ endpoint_id: told.profile.id, on: ['dead_letter', 'expired'] });
    expect(pending.notify).toEqual(shown.notify);

    const notification = await toldOf(pending.id);
    const ended = await delivery(api, pending.id);
    expect(notification).toMatchObject({
      id: expect.stringMatching(idOf('dlv')),
      object: 'delivery',
      schedule_id: null,
      notification_of: pending.id,
      replay_of: null,
      notify: null,
      status: 'succeeded',
      triggered: false,
      occurrence: null,
      url: told.hook.url,
      method: 'POST',
      endpoint_id: told.profile.id,
      endpoint_version: 1,
      deadline: null,
      idempotency_key: notification.id,
      scheduled_for: ended.finalized_at,
      created_at: ended.finalized_at,
    });
    const [request, ...others] = told.hook.requests;
    if (request === undefined) throw new Error('Nothing was sent.');
    expect(others).toEqual([]);
    expect(headerOf(request, 'Sched-Delivery-Id')).toBe(notification.id);
    expect(headerOf(request, 'Content-Type')).toBe('application/json');
    expect(valuesOf(request, 'Sched-Occurrence')).toEqual([]);
    expect(bodyOf(request)).toEqual({
      type: 'delivery.dead_letter',
      id: notification.id,
      created_at: notification.created_at,
      data: {
        delivery: ended,
        schedule: { id: shown.id, name: 'told-once', metadata: { team: 'ops & "more"' } },
        attempts: await attemptsOf(api, pending.id),
        response: null,
      },
    });
    expect(await notificationsOf(notification.id)).toEqual([]);
  });

  it('is told with the last attempts and the beginning of the last answer', async () => {
    const told = await teller();
    const { port, pathname } = new URL(
      hook(...Array.from({ length: 12 }, (_, i) => answer(500 + i, { body: `no ${i}` }))).url,
    );
    const target = await createdProfile(api, {
      url: `https://${PUBLIC_HOST}:${port}${pathname}`,
      retry_policy: { max_attempts: 12, base: '10ms', factor: 1 },
      breaker_policy: { threshold: 100, base_open: '1s', max_open: '1s', probe_timeout: '1s' },
      notify: { endpoint_id: told.profile.id, on: ['dead_letter'] },
    });
    const { pending } = await given({ endpoint_id: target.id });
    await toldOf(pending.id);
    const { data } = bodyOf(told.hook.requests[0] ?? { body: Buffer.from('') });
    expect(data.attempts).toEqual((await attemptsOf(api, pending.id)).slice(2));
    expect(data).toMatchObject({
      response: { status_code: 511, excerpt: 'no 11', encoding: 'utf-8', truncated: false },
    });
  });

  it('is not told with another outcome, or when it is canceled', async () => {
    const told = await teller();
    const notify = { endpoint_id: told.profile.id, on: ['dead_letter'] };
    const { pending } = await given({ endpoint: hook(answer(200)).url, notify });
    await waitForEnd(api, pending.id);
    expect(await notificationsOf(pending.id)).toEqual([]);
    const canceled = await given({ endpoint: hook().url, notify: { ...notify, on: ALL }, delay: '1h' });
    await ordered(api, canceled.id, 'cancel');
    expect(await notificationsOf(canceled.pending.id)).toEqual([]);
    expect(told.hook.requests).toEqual([]);
  });

  it('without an attempt is told too: expired while paused', async () => {
    const told = await teller();
    const notify = { endpoint_id: told.profile.id, on: ['expired'] };
    const { id, pending } = await given({ endpoint: hook().url, ttl: '100ms', delay: '1s', notify });
    await ordered(api, id, 'pause');
    await expect
      .poll(() => Date.now() > Date.parse(pending.scheduled_for) + 500, { timeout: 10_000 })
      .toBe(true);
    await ordered(api, id, 'resume');
    await toldOf(pending.id);
    expect(bodyOf(told.hook.requests[0] ?? { body: Buffer.from('') })).toMatchObject({
      type: 'delivery.expired',
      data: { attempts: [], delivery: { status: 'expired', attempt_count: 0 } },
    });
    expect((await schedule(api, id)).state).toBe('completed');
  });

  it('is told as its endpoint profile says, unless the schedule says otherwise', async () => {
    const told = await teller();
    const other = await teller();
    const target = await createdProfile(api, {
      url: hook(answer(200), answer(200), answer(200)).url,
      notify: { endpoint_id: told.profile.id, on: ['succeeded'] },
    });
    const byProfile = await given({ endpoint_id: target.id });
    expect(byProfile.shown.notify).toBeNull();
    expect(byProfile.pending.notify).toEqual({ endpoint_id: told.profile.id, on: ['succeeded'] });
    const bySchedule = await given({
      endpoint_id: target.id,
      notify: { endpoint_id: other.profile.id, on: ALL },
    });
    const optedOut = await given({ endpoint_id: target.id, notify: { on: [] } });
    expect(optedOut.shown.notify).toEqual({ endpoint_id: null, on: [] });
    expect(optedOut.pending.notify).toBeNull();

    await toldOf(byProfile.pending.id);
    await toldOf(bySchedule.pending.id);
    await waitForEnd(api, optedOut.pending.id);
    expect(await notificationsOf(optedOut.pending.id)).toEqual([]);
    expect(told.hook.requests).toHaveLength(1);
    expect(other.hook.requests).toHaveLength(1);
  });

  it('is told as a PATCH says that came before its end, and a clear goes back to the profile', async () => {
    const told = await teller();
    const { id, pending } = await given({ endpoint: hook(answer(200)).url, delay: '3s' });
    const notify = { endpoint_id: told.profile.id, on: ['succeeded'] };
    expect((await patched(api, id, { notify })).notify).toEqual(notify);
    expect((await delivery(api, pending.id)).notify).toEqual(notify);
    expect((await patched(api, id, { notify: null })).notify).toBeNull();
    expect((await delivery(api, pending.id)).notify).toBeNull();
    await patched(api, id, { notify });
    await toldOf(pending.id);
  });

  it('is told again when it was replayed, by a notification of the replay', async () => {
    const told = await teller([answer(200), answer(200), answer(200)]);
    const { pending } = await given({
      endpoint: hook(answer(200), answer(200)).url,
      notify: { endpoint_id: told.profile.id, on: ['succeeded'] },
    });
    const first = await toldOf(pending.id);
    const replay = await replayed(api, pending.id);
    expect(replay.notify).toEqual(pending.notify);
    const second = await toldOf(replay.id);
    expect(second.notification_of).toBe(replay.id);
    expect(second.id).not.toBe(first.id);

    const repeated = await replayed(api, first.id);
    expect(repeated).toMatchObject({ replay_of: first.id, notification_of: pending.id, schedule_id: null });
    await waitForEnd(api, repeated.id);
    expect(await notificationsOf(repeated.id)).toEqual([]);
    const bodies = told.hook.requests.map(bodyOf);
    expect(bodies.map(({ id }) => id)).toEqual([first.id, second.id, repeated.id]);
    expect(bodies[2]?.data).toEqual(bodies[0]?.data);
  });
});

describe.concurrent('a notification', () => {
  it('is retried and ends as any delivery, and nothing tells of it', async () => {
    const told = await teller([answer(500), answer(503)], {
      retry_policy: { max_attempts: 2, base: '20ms', factor: 1 },
    });
    // It would be told, if notifications were.
    await patchedProfile(api, told.profile.id, { notify: { endpoint_id: told.profile.id, on: ALL } });
    const { pending } = await given({
      endpoint: hook(answer(200)).url,
      notify: { endpoint_id: told.profile.id, on: ['succeeded'] },
    });
    const notification = await toldOf(pending.id);
    expect(notification).toMatchObject({ status: 'dead_letter', attempt_count: 2, last_status_code: 503 });
    expect(notification.endpoint_version).toBe(2);
    expect(await notificationsOf(notification.id)).toEqual([]);
    const [one, two] = told.hook.requests.map(bodyOf);
    expect(two).toEqual(one);
  });

  it('that waits for a retry can be canceled, and no action on the schedule reaches it', async () => {
    const told = await teller([answer(500)], { retry_policy: { max_attempts: 2, base: '1h' } });
    const { id, pending } = await given({
      cron: '0 0 1 1 *',
      endpoint: hook(answer(200)).url,
      notify: { endpoint_id: told.profile.id, on: ['succeeded'] },
    });
    const { status, json } = await api.post<Delivery>(`/v1/schedules/${id}/trigger`);
    expect(status).toBe(201);
    await waitForEnd(api, json.id);
    const [notification] = await notificationsOf(json.id);
    if (notification === undefined) throw new Error('Nothing was told.');
    await waitForStatus(api, notification.id, 'retry_scheduled');
    await ordered(api, id, 'pause');
    await ordered(api, id, 'cancel');
    expect((await delivery(api, notification.id)).status).toBe('retry_scheduled');
    expect(pending.status).toBe('scheduled');
    const canceled = await api.post<Delivery>(`/v1/deliveries/${notification.id}/cancel`);
    expect(canceled.json).toMatchObject({ status: 'canceled' });
  });
});

describe.concurrent('notify', () => {
  it('is refused for a profile that is unknown, of another mode or archived', async () => {
    const { profile } = await teller();
    const ofLive = await createdProfile(live, { url: 'https://example.com/' });
    const archived = await createdProfile(api, { url: 'https://example.com/' });
    expect((await api.post(`/v1/endpoints/${archived.id}/archive`)).status).toBe(200);
    const body = { endpoint: 'https://example.com/', delay: '1h' };
    for (const id of [profile.id.replace(/.{4}$/, '0000'), ofLive.id, archived.id, 'no id', '']) {
      const notify = { endpoint_id: id, on: ['succeeded'] };
      expectError(await api.post('/v1/schedules', { ...body, notify }), 422, 'invalid_notify', 'notify');
      expectError(
        await api.post('/v1/endpoints', { url: body.endpoint, notify }),
        422,
        'invalid_notify',
        'notify',
      );
      expectError(
        await api.patch(`/v1/endpoints/${profile.id}`, { notify }),
        422,
        'invalid_notify',
        'notify',
      );
    }
    for (const notify of [
      {},
      { on: ['succeeded'] },
      { endpoint_id: profile.id },
      [],
      'x',
      { endpoint_id: profile.id, on: ['canceled'] },
    ]) {
      expectError(await api.post('/v1/schedules', { ...body, notify }), 422, 'invalid_notify', 'notify');
    }
  });

  it('keeps the profile that it names from being archived', async () => {
    const { profile } = await teller();
    const archive = () => api.post(`/v1/endpoints/${profile.id}/archive`);
    const notify = { endpoint_id: profile.id, on: ['succeeded'] };
    const { id } = await created(api, {
      endpoint: 'https://example.com/',
      fire_at: fromNow(3_600 * SECOND),
      notify,
    });
    const other = await createdProfile(api, { url: 'https://example.com/', notify });
    expectError(await archive(), 409, 'profile_in_use');
    await ordered(api, id, 'pause');
    expectError(await archive(), 409, 'profile_in_use');
    await patched(api, id, { notify: { endpoint_id: profile.id, on: [] } });
    expectError(await archive(), 409, 'profile_in_use');
    await ordered(api, id, 'cancel');
    expectError(await archive(), 409, 'profile_in_use');
    // A profile that notifies itself does not keep itself from being archived.
    await patchedProfile(api, profile.id, { notify });
    expect((await api.post(`/v1/endpoints/${other.id}/archive`)).status).toBe(200);
    expect((await archive()).status).toBe(200);
  });
});
