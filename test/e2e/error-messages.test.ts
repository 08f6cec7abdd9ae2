/**
 * The commonest mistakes, each with the message that it gets. A message says what is wrong with the value, what is
 * allowed, and what to write. Where it names a correction, the corrected request is sent too and must be accepted.
 */
import { describe, expect, it, vi } from 'vitest';
import { type Answer, planted } from './client.ts';
import { created, createdProfile, expectError, expectStatus, ordered } from './expectations.ts';
import { useSched } from './harness.ts';
import { FIELD_MISTAKES, PROFILE_MISTAKES } from './mistakes/fields.ts';
import type { Mistakes } from './mistakes/mistakes.ts';
import { REQUEST_MISTAKES } from './mistakes/requests.ts';
import { TIMING_MISTAKES } from './mistakes/timing.ts';
import { type Delivery, type ErrorBody, type List, ONE_SHOT, PROFILE, URL } from './resources.ts';

const { api, anonymous, output } = useSched();

/** The example of a message is nine o'clock of the next day. Any day is accepted here. */
const EXAMPLE = /"\d{4}-\d{2}-\d{2}T09:00:00(Z?)"/g;
const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

/** Every message of this file, to search the log for it. */
const answered = new Set<string>();

function messageOf({ json }: Answer): string {
  const { message } = (json as ErrorBody).error;
  answered.add(message);
  return message.replaceAll(EXAMPLE, '"<tomorrow>$1"').replaceAll(INSTANT, '<instant>');
}

function split(expected: string): readonly [status: number, code: string, param: string | null] {
  const [status, code = '', param = null] = expected.split(' ');
  return [Number(status), code, param];
}

function rowsOf(tables: readonly Mistakes[]) {
  return tables.flatMap(({ on, expected, mistakes }) =>
    mistakes.map(([fields, message, corrected]) => ({
      what: `${expected} ${JSON.stringify(fields).slice(0, 80)}`,
      expected,
      body: { ...on, ...fields },
      message,
      corrected,
    })),
  );
}

type Row = ReturnType<typeof rowsOf>[number];

async function expectRow(path: string, { expected, body, message, corrected }: Row): Promise<void> {
  const answer = await api.post(path, body);
  expectError(answer, ...split(expected));
  expect(messageOf(answer)).toBe(message);
  if (corrected !== undefined) expectStatus(await api.post(path, { ...body, ...corrected }), 201);
}

describe('a schedule', () => {
  it.each(rowsOf([...TIMING_MISTAKES, ...FIELD_MISTAKES]))('$what', (row) => expectRow('/v1/schedules', row));
});

describe('an endpoint profile', () => {
  it.each(rowsOf(PROFILE_MISTAKES))('$what', (row) => expectRow('/v1/endpoints', row));
});

describe('a request', () => {
  const rows = REQUEST_MISTAKES.flatMap(({ expected, mistakes }) =>
    mistakes.map(([call, message, sending = {}]) => ({ expected, call, message, sending })),
  );
  it.each(rows)('$call: $message', async ({ expected, call, message, sending }) => {
    const [method = '', path = ''] = call.split(' ');
    const answer = await api.send(method, path, sending);
    expectError(answer, ...split(expected));
    expect(messageOf(answer)).toBe(message);
  });
});

const SEND = 'Send the header "Authorization: Bearer <key>".';
const BEGINS = 'begins with sk_test_ or sk_live_.';

it.each([
  [undefined, 'missing_api_key', `No API key was given. ${SEND}`],
  ['Bearer ', 'missing_api_key', `The Authorization header has no key after Bearer. ${SEND}`],
  [
    'sk_test_e2eE2EcafeCAFE0123456789',
    'missing_api_key',
    `The Authorization header has no scheme before the key. ${SEND}`,
  ],
  [
    'Basic dXNlcjpwYXNz',
    'missing_api_key',
    `The Authorization header has another scheme than Bearer. ${SEND}`,
  ],
  ['Bearer whsec_abc', 'invalid_api_key', `This is a signing secret, not an API key. An API key ${BEGINS}`],
  ['Bearer sk_test_abc', 'invalid_api_key', 'This API key is incomplete. Copy the whole key.'],
  [
    'Bearer $SCHED_API_KEY',
    'invalid_api_key',
    `The API key begins with a quote or a placeholder. Send the key itself: it ${BEGINS}`,
  ],
  ['Bearer eyJhbGciOi', 'invalid_api_key', `This is not an API key of this service. A key ${BEGINS}`],
  [
    `Bearer sk_test_${'x'.repeat(32)}`,
    'invalid_api_key',
    'This API key is unknown or revoked. "sched key create" creates a new one.',
  ],
])('Authorization: %s', async (authorization, code, message) => {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await anonymous.send('GET', '/v1/schedules', { headers });
  expectError(answer, 401, code);
  expect(messageOf(answer)).toBe(message);
});

describe('the state of the object', () => {
  it('an ended schedule says how it ended', async () => {
    const { id } = await created(api, ONE_SHOT);
    await ordered(api, id, 'cancel');
    const answer = await api.post(`/v1/schedules/${id}/reschedule`, { delay: '5m' });
    expectError(answer, 409, 'schedule_not_active');
    expect(messageOf(answer)).toBe(
      'This schedule is canceled, so it cannot be rescheduled. Create a new schedule.',
    );
  });

  it('a delivery that cannot be replayed says its status', async () => {
    const { id } = await created(api, ONE_SHOT);
    const list = await api.get<List<Delivery>>(`/v1/schedules/${id}/deliveries`);
    const path = `/v1/deliveries/${list.json.data[0]?.id}/replay`;
    const scheduled = await api.post(path);
    expectError(scheduled, 409, 'not_replayable');
    expect(messageOf(scheduled)).toBe(
      'This delivery is scheduled: it has not ended. Only a delivery that is succeeded, dead_letter or expired can be replayed. Wait until it ends.',
    );
    await ordered(api, id, 'cancel');
    expect(messageOf(await api.post(path))).toBe(
      'This delivery is canceled: it was never to be sent again. Only a delivery that is succeeded, dead_letter or expired can be replayed. Create a new schedule.',
    );
  });

  it('a profile in use, and an archived one, say what to do', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const schedule = await created(api, { endpoint_id: id, delay: '1h' });
    const used = await api.post(`/v1/endpoints/${id}/archive`);
    expectError(used, 409, 'profile_in_use');
    expect(messageOf(used)).toBe(
      'An active or paused schedule still uses or notifies this endpoint profile, or another profile notifies it. Cancel or change those first, then archive the profile.',
    );
    const url = await api.patch(`/v1/schedules/${schedule.id}`, { endpoint: URL });
    expectError(url, 400, 'multiple_endpoint', 'endpoint');
    expect(messageOf(url)).toBe(
      'This schedule sends to an endpoint profile, so it has no endpoint of its own. Change url of the profile.',
    );
    const method = await api.patch(`/v1/schedules/${schedule.id}`, { method: 'PUT' });
    expectError(method, 400, 'method_on_profile', 'method');
    expect(messageOf(method)).toBe(
      'method was given, but the method comes from the endpoint profile. Leave it out, or change the profile.',
    );
    await ordered(api, schedule.id, 'cancel');
    expectStatus(await api.post(`/v1/endpoints/${id}/archive`), 200);
    const archived = await api.post('/v1/schedules', { endpoint_id: id, delay: '1h' });
    expectError(archived, 422, 'endpoint_archived', 'endpoint_id');
    expect(messageOf(archived)).toBe(
      `The endpoint profile "${id}" is archived, so no new schedule can use it. Use another profile, or create one.`,
    );
  });

  it('a strict PATCH of the time names the call that was meant', async () => {
    const { id } = await created(api, ONE_SHOT);
    const answer = await api
      .with({ prefer: 'handling=strict' })
      .patch(`/v1/schedules/${id}`, { cron: '0 9 * * *' });
    expectError(answer, 400, 'unknown_field', 'cron');
    expect(messageOf(answer)).toBe(
      '`cron` cannot be changed by PATCH: use reschedule (POST /v1/schedules/{id}/reschedule).',
    );
    expectStatus(await api.patch(`/v1/schedules/${id}`, { cron: '0 9 * * *' }), 200);
  });

  it('a key that was used for another request says so', async () => {
    const keyed = api.with({ 'idempotency-key': planted('key') });
    expectStatus(await keyed.post('/v1/schedules', ONE_SHOT), 201);
    const answer = await keyed.post('/v1/schedules', { ...ONE_SHOT, delay: '2h' });
    expectError(answer, 409, 'idempotency_key_reuse');
    expect(messageOf(answer)).toBe(
      'This Idempotency-Key was used for a different request in the last 24 hours: another method, path or body. Use a new key for each request, and the same key only to repeat one unchanged.',
    );
  });
});

it('a request that is too large says the limit', async () => {
  const answer = await api.send('POST', '/v1/schedules', { raw: `{"body":"${'x'.repeat(1_048_576)}"}` });
  expectError(answer, 413, 'payload_too_large');
  expect(messageOf(answer)).toBe(
    'The request body has more than 1,048,576 bytes. Send a reference to large data instead.',
  );
});

it('no message is logged', async () => {
  const last = String((await api.get('/v1/schedules')).headers['sched-request-id']);
  await vi.waitFor(() => expect(output()).toContain(last));
  expect(answered.size).toBeGreaterThan(100);
  const logged = output();
  // A line of the log is JSON, so a message would be escaped there.
  const isLogged = (message: string) => logged.includes(JSON.stringify(message).slice(1, -1));
  expect([...answered].filter(isLogged)).toEqual([]);
});
