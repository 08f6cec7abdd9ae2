/** The output of the process has a line for each request, and never a key, a header value, a body or a secret. */
import { expect, it, vi } from 'vitest';
import { startSched } from '#test/process/sched-process.ts';
import { Api, planted } from './client.ts';
import { created, createdProfile, expectError, expectStatus, patchedProfile } from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, PROFILE } from './resources.ts';

const { api, anonymous, output } = useSched();

it('every request is logged with its request id, method, route and status, at any level of detail', async () => {
  const { headers } = await api.post('/v1/schedules', ONE_SHOT);
  const refused = await api.post('/v1/schedules', {});
  const ids = [headers['sched-request-id'], refused.headers['sched-request-id']].map(String);
  const line = (id: string) =>
    output()
      .split('\n')
      .find((text) => text.includes(id));
  await vi.waitFor(() => expect(ids.map(line)).not.toContain(undefined));
  expect(ids.map((id) => JSON.parse(line(id) ?? '{}'))).toEqual([
    expect.objectContaining({ request_id: ids[0], method: 'POST', route: '/v1/schedules', status: 201 }),
    expect.objectContaining({ request_id: ids[1], method: 'POST', route: '/v1/schedules', status: 422 }),
  ]);
});

it('no planted secret is written with SCHED_LOG_LEVEL=debug, by any route', async () => {
  const secret = planted('secret');
  const headers = { Authorization: secret, [`X-${secret}`.slice(0, 2)]: secret };
  await created(api, { ...ONE_SHOT, headers, body: secret });
  const { id } = await createdProfile(api, { ...PROFILE, headers });
  await patchedProfile(api, id, { headers: { 'X-Other': secret } });

  expectError(await api.send('POST', '/v1/schedules', { raw: `{"body":"${secret}` }), 400, 'invalid_json');
  expectError(
    await api.post('/v1/schedules', { ...ONE_SHOT, headers: { a: [secret] } }),
    400,
    'invalid_request',
    'headers',
  );
  expectError(
    await api.post('/v1/schedules', { ...ONE_SHOT, body: { secret } }),
    400,
    'invalid_request',
    'body',
  );
  expectError(
    await api.post('/v1/schedules', { ...ONE_SHOT, endpoint: `https://u:${secret}@a.example` }),
    422,
    'url_blocked',
    'endpoint',
  );
  expectError(await anonymous.as(`sk_test_${secret}`).get('/v1/schedules'), 401, 'invalid_api_key');
  expectError(await anonymous.get(`/v1/schedules?api_key=${secret}`), 401, 'missing_api_key');
  expectError(await api.get(`/v1/schedules/${secret}`), 404, 'not_found');
  expectError(await api.get(`/v1/deliveries?cursor=${secret}`), 400, 'invalid_cursor', 'cursor');
  const keyed = api.with({ 'idempotency-key': secret, 'sched-version': secret });
  expectError(await keyed.post('/v1/schedules', ONE_SHOT), 400, 'invalid_version', 'Sched-Version');

  // The harness checks the output again when the process has ended. This check names the cause.
  const last = String((await api.get('/v1/schedules')).headers['sched-request-id']);
  await vi.waitFor(() => expect(output()).toContain(last));
  expect(output()).not.toContain(secret);
});

it('a first start prints its keys and signing secrets once, to standard output, and never again', async () => {
  await using first = await startSched({ env: { SCHED_LOG_LEVEL: 'debug' } });
  const secrets = [...first.output.stdout.matchAll(/\b(?:sk_(?:test|live)_\w{32}|whsec_[\w+/=]+)/g)].map(
    ([text]) => text,
  );
  expect(secrets.map((text) => text.slice(0, 8)).toSorted()).toEqual(
    ['sk_live_', 'sk_test_', 'whsec_', 'whsec_'].map((prefix) => expect.stringMatching(`^${prefix}`)),
  );
  expect(new Set(secrets).size).toBe(4);

  const { testKey, liveKey } = first;
  const service = Api.at(() => first.url);
  for (const key of [testKey, liveKey])
    expectStatus(await service.as(key).post('/v1/schedules', ONE_SHOT), 201);
  expectError(await service.as(`${testKey}x`).get('/v1/schedules'), 401, 'invalid_api_key');
  expect((await first.stop()).code).toBe(0);

  const { stdout, stderr } = first.output;
  expect(secrets.filter((text) => stderr.includes(text))).toEqual([]);
  expect(secrets.map((text) => stdout.split(text).length - 1)).toEqual([1, 1, 1, 1]);
  expect(stderr).toContain('"status":201');
});
