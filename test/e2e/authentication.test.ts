/** API keys: every /v1 call needs one, and it is checked before anything else. */
import { describe, expect, it } from 'vitest';
import { expectError, expectStatus } from './expectations.ts';
import { LIVE_KEY, type NewKey, TEST_KEY, useSched } from './harness.ts';
import { ONE_SHOT, type Schedule, UNKNOWN } from './resources.ts';

const { anonymous, command } = useSched();

describe('Authorization: Bearer <API_KEY>', () => {
  it.each([
    ['as specified', `Bearer ${TEST_KEY}`],
    ['the scheme in any case', `bearer ${TEST_KEY}`],
    ['the scheme in capitals', `BEARER ${TEST_KEY}`],
    ['more than one space', `Bearer   ${TEST_KEY}`],
  ])('%s', async (_what, authorization) => {
    expectStatus(await anonymous.with({ authorization }).get('/v1/schedules'), 200);
  });

  it('the key decides the mode', async () => {
    const test = await anonymous.as(TEST_KEY).post<Schedule>('/v1/schedules', ONE_SHOT);
    const live = await anonymous.as(LIVE_KEY).post<Schedule>('/v1/schedules', ONE_SHOT);
    expect([test.json.mode, live.json.mode]).toEqual(['test', 'live']);
  });
});

describe('401 missing_api_key', () => {
  it.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['no key after the scheme', { authorization: 'Bearer' }],
    ['only spaces after the scheme', { authorization: 'Bearer   ' }],
    ['Basic', { authorization: `Basic ${Buffer.from(`${TEST_KEY}:`).toString('base64')}` }],
    ['the key alone', { authorization: TEST_KEY }],
    ['no space', { authorization: `Bearer${TEST_KEY}` }],
    ['the key in another header', { 'x-api-key': TEST_KEY }],
  ])('%s', async (_what, headers: Record<string, string>) => {
    expectError(await anonymous.with(headers).get('/v1/schedules'), 401, 'missing_api_key');
  });

  it('a key in the query is ignored', async () => {
    expectError(await anonymous.get(`/v1/schedules?api_key=${TEST_KEY}`), 401, 'missing_api_key');
  });
});

describe('401 invalid_api_key', () => {
  it.each([
    ['unknown', 'sk_test_0000000000000000000000000000dead'],
    ['one character short', TEST_KEY.slice(0, -1)],
    ['one character more', `${TEST_KEY}0`],
    ['another case', TEST_KEY.toUpperCase()],
    [
      'its secret with the prefix of the other mode',
      TEST_KEY.replace('sk_test_', 'sk_live_').replace('e2e', 'E2e'),
    ],
    ['not a key at all', 'x'],
    ['a very long one', 'x'.repeat(8_000)],
    ['two keys', `${TEST_KEY}, ${LIVE_KEY}`],
  ])('%s', async (_what, key) => {
    expectError(await anonymous.as(key).get('/v1/schedules'), 401, 'invalid_api_key');
  });
});

it('a revoked key is refused within a second', async () => {
  const { id, key } = await command<NewKey>('key', 'create', '--project', 'default', '--mode', 'test');
  const revocable = anonymous.as(key);
  expectStatus(await revocable.get('/v1/schedules'), 200);
  await command('key', 'revoke', id);
  const revokedAt = Date.now();
  let lastTakenAt = 0;
  for (let answer = await revocable.get('/v1/schedules'); answer.status === 200; ) {
    lastTakenAt = Date.now();
    answer = await revocable.get('/v1/schedules');
  }
  expectError(await revocable.get('/v1/schedules'), 401, 'invalid_api_key');
  expect(lastTakenAt - revokedAt).toBeLessThan(1_000);
  expectStatus(await anonymous.as(TEST_KEY).get('/v1/schedules'), 200);
});

describe('authentication comes first, on every path', () => {
  it.each([
    ['POST', '/v1/schedules'],
    ['GET', '/v1/schedules'],
    ['GET', `/v1/schedules/${UNKNOWN.schedule}`],
    ['PATCH', `/v1/schedules/${UNKNOWN.schedule}`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/reschedule`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/pause`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/resume`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/cancel`],
    ['GET', `/v1/schedules/${UNKNOWN.schedule}/deliveries`],
    ['POST', '/v1/endpoints'],
    ['GET', '/v1/endpoints'],
    ['GET', `/v1/endpoints/${UNKNOWN.endpoint}`],
    ['PATCH', `/v1/endpoints/${UNKNOWN.endpoint}`],
    ['POST', `/v1/endpoints/${UNKNOWN.endpoint}/archive`],
    ['GET', '/v1/deliveries'],
    ['GET', `/v1/deliveries/${UNKNOWN.delivery}`],
    ['POST', `/v1/deliveries/${UNKNOWN.delivery}/replay`],
    ['GET', `/v1/deliveries/${UNKNOWN.delivery}/attempts`],
    ['GET', '/v1/no/such/path'],
    ['DELETE', '/v1/schedules'],
    ['POST', `/v1/schedules/${'x'.repeat(200)}/pause`],
  ])('%s %s', async (method, path) => {
    expectError(await anonymous.send(method, path), 401, 'missing_api_key');
    expectError(await anonymous.as('sk_test_unknown').send(method, path), 401, 'invalid_api_key');
  });

  it('HEAD answers only the status', async () => {
    expect(await anonymous.send('HEAD', '/v1/schedules')).toMatchObject({ status: 401, text: '' });
  });
});
