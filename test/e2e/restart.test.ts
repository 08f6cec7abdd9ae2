/** A restart on the same data changes nothing. */
import { expect, it } from 'vitest';
import { planted } from './client.ts';
import { SERVER_ERROR } from './drive.ts';
import {
  attemptsOf,
  created,
  createdProfile,
  delivery,
  expectError,
  list,
  onlyDelivery,
  ordered,
  profile,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, PROFILE, RECURRING, type Schedule } from './resources.ts';

const { api, drive, restart } = useSched();

it('schedules, deliveries, attempts, profiles, cursors and idempotency keys survive a restart', async () => {
  const headers = { 'X-Secret': planted('header') };
  const endpoint = await createdProfile(api, { ...PROFILE, headers, timeout: '5s' });
  const keyed = api.with({ 'idempotency-key': 'across a restart' });
  const body = { endpoint_id: endpoint.id, delay: '1h', headers, body: planted('body') };
  const first = await keyed.post<Schedule>('/v1/schedules', body);
  const recurring = await created(api, { ...RECURRING, timezone: 'Europe/Berlin', jitter: '5m' });
  const paused = await created(api, ONE_SHOT);
  await ordered(api, paused.id, 'pause');
  const pending = await onlyDelivery(api, first.json.id);
  await drive.fire(pending.id, SERVER_ERROR);

  const all = async () => ({
    schedules: await list(api, '/v1/schedules'),
    deliveries: await list(api, '/v1/deliveries'),
    attempts: await attemptsOf(api, pending.id),
    retrying: await delivery(api, pending.id),
    recurring: await schedule(api, recurring.id),
    endpoint: await profile(api, endpoint.id),
  });
  const before = await all();
  const { next_cursor } = await list(api, '/v1/schedules?limit=1');
  const secondPage = await list(api, `/v1/schedules?limit=1&cursor=${next_cursor}`);

  await restart();

  expect(await all()).toEqual(before);
  expect(before.attempts).toHaveLength(1);
  expect(await list(api, `/v1/schedules?limit=1&cursor=${next_cursor}`)).toEqual(secondPage);

  const again = await keyed.post('/v1/schedules', body);
  expect(again).toMatchObject({ status: 201, text: first.text, headers: { 'idempotent-replayed': 'true' } });
  expectError(await keyed.post('/v1/schedules', ONE_SHOT), 409, 'idempotency_key_reuse');
  expect((await list(api, '/v1/schedules')).data).toHaveLength(3);
});
