/** What receivers get when a schedule is changed by PUT, triggered, or its delivery canceled. */
import { describe, expect, it } from 'vitest';
import { planted } from '#test/e2e/client.ts';
import {
  createdProfile,
  delivery,
  expectStatus,
  onlyDelivery,
  ordered,
  patchedProfile,
  replayed,
} from '#test/e2e/expectations.ts';
import type { Delivery, Schedule } from '#test/e2e/resources.ts';
import { answer, held } from '#test/receiver/behaviours.ts';
import { headerOf, type ReceivedRequest, valuesOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const { api, hook } = useDeliveries();

const FAR = '2031-01-01T09:00:00Z';
/** A retry is far away, so that a test can change the schedule before. */
const SLOW_RETRY = { retry_policy: { base: '1h', factor: 1 } };

async function put(name: string, body: object): Promise<Schedule> {
  const answered = await api.send<Schedule>('PUT', `/v1/schedules/named/${name}`, {
    raw: JSON.stringify(body),
  });
  expect([200, 201]).toContain(answered.status);
  return answered.json;
}

async function triggered(id: string): Promise<Delivery> {
  const answered = await api.post<Delivery>(`/v1/schedules/${id}/trigger`);
  expect([200, 201]).toContain(answered.status);
  return answered.json;
}

const contentOf = (request: ReceivedRequest | undefined) => ({
  body: request?.body.toString(),
  version: request && valuesOf(request, 'X-Version').join(),
});
/** The content of a version. */
const content = (version: number) => ({ body: planted(`body ${version}`), version: planted(`${version}`) });
const payload = (version: number) => ({
  headers: { 'X-Version': planted(`${version}`) },
  body: planted(`body ${version}`),
});

describe.concurrent('a PUT', () => {
  it('reaches the pending delivery, and neither retries nor replays of earlier ones', async () => {
    const target = hook(answer(200), answer(500), answer(200), answer(200), answer(200));
    const base = { endpoint: target.url, cron: '0 0 1 1 *', ...SLOW_RETRY };
    const { id } = await put('versions', { ...base, ...payload(1) });
    const first = await triggered(id);
    await waitForEnd(api, first.id);
    const retried = await triggered(id);
    await waitForStatus(api, retried.id, 'retry_scheduled');

    await put('versions', { ...base, ...payload(2) });
    const replay = await replayed(api, first.id);
    await waitForEnd(api, replay.id);
    const second = await triggered(id);
    await waitForEnd(api, second.id);
    await put('versions', { ...base, body: null, headers: null });
    const third = await triggered(id);
    await waitForEnd(api, third.id);
    expect(target.requests.map(contentOf)).toEqual([
      content(1),
      content(1),
      content(1),
      content(2),
      { body: '', version: '' },
    ]);
    expect((await delivery(api, retried.id)).status).toBe('retry_scheduled');
    await ordered(api, id, 'cancel');
  });

  it('leaves a one-shot that waits for a retry what it was made with', async () => {
    const target = hook(answer(500), answer(200));
    const base = { endpoint: target.url, fire_at: FAR, ...SLOW_RETRY };
    const { id } = await put('retry', { ...base, ...payload(1) });
    const pending = await triggered(id);
    await waitForStatus(api, pending.id, 'retry_scheduled');
    await put('retry', { ...base, ...payload(2) });
    await triggered(id);
    await waitForEnd(api, pending.id);
    expect(target.requests.map(contentOf)).toEqual([content(1), content(1)]);
    const [one, other] = target.requests.map((request) => headerOf(request, 'Idempotency-Key'));
    expect(one).toBe(other);
  });

  it('of a large body reaches the delivery that is prefetched already', async () => {
    const target = hook(answer(200));
    const large = (letter: string) => planted(letter.repeat(200_000));
    const body = (letter: string) => ({ endpoint: target.url, fire_at: soon, body: large(letter) });
    const soon = new Date(Date.now() + 3_000).toISOString();
    const { id } = await put('large', body('a'));
    const pending = await onlyDelivery(api, id);
    // A busy machine may come too late for the last ones. They are refused then.
    let last = 'a';
    for (const letter of ['b', 'c', 'd']) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      const raw = JSON.stringify(body(letter));
      const { status } = await api.send('PUT', '/v1/schedules/named/large', { raw });
      if (status !== 200) break;
      last = letter;
    }
    await waitForEnd(api, pending.id);
    expect(target.requests.map(({ body: received }) => received.toString())).toEqual([large(last)]);
  });

  it('moves a schedule to a profile and back', async () => {
    const [inline, ofProfile] = [hook(answer(200)), hook(answer(200), answer(200))];
    const profile = await createdProfile(api, {
      url: ofProfile.url,
      method: 'PUT',
      headers: { 'X-Profile': planted('profile') },
    });
    const cron = '0 0 1 1 *';
    const { id } = await put('moves', { endpoint_id: profile.id, cron, ...payload(1) });
    await waitForEnd(api, (await triggered(id)).id);
    await patchedProfile(api, profile.id, { headers: {} });
    await waitForEnd(api, (await triggered(id)).id);
    await put('moves', { endpoint: inline.url, cron, ...payload(1) });
    await waitForEnd(api, (await triggered(id)).id);
    const [before, after] = ofProfile.requests;
    if (before === undefined || after === undefined) throw new Error('Not sent to the profile twice.');
    expect([before.method, headerOf(before, 'X-Profile')]).toEqual(['PUT', planted('profile')]);
    expect(valuesOf(after, 'X-Profile')).toEqual([]);
    expect(inline.requests.map(contentOf)).toEqual([content(1)]);
    await ordered(api, id, 'cancel');
  });
});

describe.concurrent('a trigger', () => {
  it('sends a request beside the recurrence, without Sched-Occurrence', async () => {
    const target = hook(answer(200), answer(200));
    const { id } = await put('triggered', {
      endpoint: target.url,
      cron: '0 0 1 1 *',
      idempotency_key: 'order',
    });
    const [one, other] = [await triggered(id), await triggered(id)];
    await Promise.all([waitForEnd(api, one.id), waitForEnd(api, other.id)]);
    const keys = target.requests.map((request) => headerOf(request, 'Idempotency-Key'));
    expect(keys.toSorted()).toEqual([`order:${one.id}`, `order:${other.id}`].toSorted());
    expect(target.requests.map((request) => valuesOf(request, 'Sched-Occurrence'))).toEqual([[], []]);
  });

  it('sends the request of a paused recurring schedule', async () => {
    const target = hook(answer(200));
    const { id } = await put('paused', { endpoint: target.url, cron: '0 0 1 1 *' });
    await ordered(api, id, 'pause');
    const { delivery: ended } = await waitForEnd(api, (await triggered(id)).id);
    expect(ended.status).toBe('succeeded');
  });

  it('of a one-shot sends it once, and completes the schedule', async () => {
    const target = hook(answer(200));
    const { id } = await put('once', { endpoint: target.url, fire_at: FAR, body: planted('once') });
    const fired = await triggered(id);
    const { delivery: ended } = await waitForEnd(api, fired.id);
    expect(ended).toMatchObject({ status: 'succeeded', triggered: true });
    expect(target.requests).toHaveLength(1);
    expect(expectStatus(await api.get<Schedule>(`/v1/schedules/${id}`), 200).state).toBe('completed');
  });
});

it('a canceled delivery is not sent again', async () => {
  const target = hook(answer(500), held());
  const { id } = await put('canceled', {
    endpoint: target.url,
    cron: '0 0 1 1 *',
    retry_policy: { base: '3s', factor: 1 },
  });
  const sent = await triggered(id);
  await waitForStatus(api, sent.id, 'retry_scheduled');
  expectStatus(await api.post(`/v1/deliveries/${sent.id}/cancel`), 200);
  const later = await triggered(id);
  await waitForStatus(api, later.id, 'claimed');
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect(target.requests.map((request) => headerOf(request, 'Sched-Delivery-Id'))).toEqual([
    sent.id,
    later.id,
  ]);
  expect((await delivery(api, sent.id)).status).toBe('canceled');
});
