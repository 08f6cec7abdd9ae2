/** The examples of `docs/openapi.json` are what the service really takes and answers. */
import { describe, expect, test } from 'vitest';
import { startCheapest } from '#test/process/run-command.ts';
import type { Answer } from './client.ts';
import { DOCUMENT } from './document.ts';
import { OK, SERVER_ERROR } from './drive.ts';
import { expectStatus } from './expectations.ts';
import { useSched } from './harness.ts';
import { type Delivery, type ErrorBody, ONE_SHOT, PROFILE, URL } from './resources.ts';

/** No secret is whsec_ and base64, so that `standard_webhooks` is refused. */
const { api, anonymous, drive } = useSched(({ env, ...options }) =>
  startCheapest({
    ...options,
    env: { ...env, SCHED_BOOTSTRAP_SIGNING_SECRET: 'a free text of the operator' },
  }),
);

type Cause = () => Promise<Answer>;

const create =
  (body: object): Cause =>
  () =>
    api.post('/v1/schedules', { ...ONE_SHOT, ...body });
const timed =
  (body: object): Cause =>
  () =>
    api.post('/v1/schedules', { endpoint: URL, ...body });
const profile =
  (body: object): Cause =>
  () =>
    api.post('/v1/endpoints', { ...PROFILE, ...body });

async function newId(path: string, body: object): Promise<string> {
  return expectStatus(await api.post<{ readonly id: string }>(path, body), 201).id;
}

async function firstDelivery(scheduleId: string): Promise<string> {
  const path = `/v1/schedules/${scheduleId}/deliveries`;
  return (await api.get<{ readonly data: readonly [Delivery] }>(path)).json.data[0].id;
}

/** A request that causes each error. Nothing outside causes the two errors of the service itself at will. */
const CAUSES: Readonly<Record<string, Cause>> = {
  missing_api_key: () => anonymous.get('/v1/schedules'),
  invalid_api_key: () => anonymous.as('sk_test_unknown_unknown_unknown').get('/v1/schedules'),
  not_found: () => api.get('/v1/schedules/sch_7zzzzzzzzz0000000000000000'),
  unknown_field: () =>
    api.with({ prefer: 'handling=strict' }).post('/v1/schedules', { ...ONE_SHOT, timeout: '10s' }),
  invalid_request: create({ metadata: { count: 42 } }),
  invalid_json: () => api.send('POST', '/v1/schedules', { raw: '{"delay": "5m",}' }),
  invalid_duration: timed({ delay: '1d' }),
  invalid_fire_at: timed({ fire_at: '2027-01-01T09:00:00' }),
  multiple_timing: timed({ delay: '5m', cron: '0 9 * * *' }),
  multiple_endpoint: create({ endpoint_id: 'ep_01m7f3gs00zqgw5m2r7n9x0abc' }),
  method_on_profile: () =>
    api.post('/v1/schedules', { endpoint_id: 'ep_01m7f3gs00zqgw5m2r7n9x0abc', delay: '5m', method: 'PUT' }),
  invalid_method: create({ method: 'post' }),
  invalid_cursor: () => api.get('/v1/schedules?cursor=abc'),
  invalid_version: () => api.with({ 'sched-version': '2026-13-01' }).get('/v1/schedules'),
  payload_too_large: create({ body: 'a'.repeat(262_145) }),
  idempotency_key_too_long: () =>
    api.with({ 'idempotency-key': 'a'.repeat(300) }).post('/v1/schedules', ONE_SHOT),
  idempotency_key_reuse: async () => {
    const keyed = api.with({ 'idempotency-key': 'order-4711' });
    expectStatus(await keyed.post('/v1/schedules', ONE_SHOT), 201);
    return keyed.post('/v1/schedules', { ...ONE_SHOT, delay: '2h' });
  },
  not_replayable: async () => {
    const id = await newId('/v1/schedules', ONE_SHOT);
    const delivery = await firstDelivery(id);
    await drive.fire(delivery, SERVER_ERROR);
    return api.post(`/v1/deliveries/${delivery}/replay`);
  },
  not_cancelable: async () => {
    const delivery = await firstDelivery(await newId('/v1/schedules', ONE_SHOT));
    await drive.fire(delivery, OK);
    return api.post(`/v1/deliveries/${delivery}/cancel`);
  },
  name_taken: async () => {
    await newId('/v1/schedules', { ...ONE_SHOT, name: 'nightly-report' });
    return api.post('/v1/schedules', { ...ONE_SHOT, name: 'nightly-report' });
  },
  delivery_in_progress: async () => {
    const id = await newId('/v1/schedules', ONE_SHOT);
    await drive.claim(await firstDelivery(id));
    return api.post(`/v1/schedules/${id}/trigger`);
  },
  invalid_name: create({ name: 'nightly report' }),
  invalid_response_excerpt: profile({ response_excerpt: 100_000 }),
  invalid_notify: create({ notify: { endpoint_id: 'ep_01m7f3gs00zqgw5m2r7n9x0abc', on: ['failed'] } }),
  profile_in_use: async () => {
    const endpoint_id = await newId('/v1/endpoints', PROFILE);
    await newId('/v1/schedules', { endpoint_id, delay: '5m' });
    return api.post(`/v1/endpoints/${endpoint_id}/archive`);
  },
  schedule_not_active: async () => {
    const id = await newId('/v1/schedules', ONE_SHOT);
    await drive.fire(await firstDelivery(id), OK);
    return api.post(`/v1/schedules/${id}/reschedule`, { delay: '5m' });
  },
  missing_timing: timed({}),
  missing_endpoint: () => api.post('/v1/schedules', { delay: '5m' }),
  sub_floor_delay: timed({ delay: '500ms' }),
  fire_at_in_past: timed({ fire_at: '2026-01-01T09:00:00Z' }),
  fire_at_too_far: timed({ fire_at: '2040-01-01T09:00:00Z' }),
  invalid_cron: timed({ cron: '0 25 * * *' }),
  too_many_labels: create({
    metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`label-${at}`, 'value'])),
  }),
  url_blocked: create({ endpoint: 'http://example.com/hook' }),
  invalid_retry_policy: create({ retry_policy: { max_attempts: 100 } }),
  missing_url: () => api.post('/v1/endpoints', {}),
  invalid_endpoint: () =>
    api.post('/v1/schedules', { endpoint_id: 'ep_01m7f3gs00zqgw5m2r7n9x0abc', delay: '5m' }),
  endpoint_archived: async () => {
    const endpoint_id = await newId('/v1/endpoints', PROFILE);
    await api.post(`/v1/endpoints/${endpoint_id}/archive`);
    return api.post('/v1/schedules', { endpoint_id, delay: '5m' });
  },
  invalid_timeout: profile({ timeout: 30 }),
  invalid_retry_budget: profile({ retry_budget: { rate: 10 } }),
  invalid_rate_limit: create({ rate_limit: 5 }),
  invalid_signature: profile({ standard_webhooks: true }),
  invalid_breaker_policy: profile({ breaker_policy: { threshold: 5 } }),
};

/** Nothing that a client sends causes these for certain. */
const NOT_CAUSED = ['idempotency_in_progress', 'internal_error', 'unavailable'];

/** Instants and ids differ from run to run. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>').replaceAll(/[a-z]+_[0-9a-z]{26}/g, '<id>');
}

describe('the example of the error', () => {
  test.each(Object.entries(CAUSES))('%s', async (code, cause) => {
    const { status, json } = (await cause()) as Answer<ErrorBody>;
    const { summary, value } = DOCUMENT.components.examples[code] ?? {};
    expect(summary).toBe(`${status} ${code}`);
    expect(withoutTimes(JSON.stringify(json))).toBe(withoutTimes(JSON.stringify(value)));
  });

  test('is there for every code', () => {
    const codes = [...Object.keys(CAUSES), ...NOT_CAUSED];
    expect(codes.toSorted()).toEqual(Object.keys(DOCUMENT.components.examples).toSorted());
  });
});

function documented(operation: string) {
  const found = Object.values(DOCUMENT.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === operation);
  if (found === undefined) throw new Error(`There is no operation ${operation}.`);
  return found;
}

/** The example of the request and of the answer of an operation. */
function example(operation: string, name = 'default') {
  const { requestBody, responses } = documented(operation);
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const request = requestBody?.content['application/json']?.examples[name]?.value ?? {};
  return { request, answer: success?.content?.['application/json']?.examples[name]?.value };
}

/** Runs are listed by their instants, and the time that an attempt took differs. */
function comparable(value: unknown): string {
  const text = JSON.stringify(value, (name, part: unknown) =>
    name === 'lateness_ms' || name === 'egress_ms' ? 0 : part,
  );
  return withoutTimes(text);
}

function successOf(operation: string): number {
  return Number(Object.keys(documented(operation).responses).find((status) => status.startsWith('2')));
}

function expectExample(answer: Answer, operation: string, name?: string): void {
  expect([answer.status, comparable(answer.json)]).toEqual([
    successOf(operation),
    comparable(example(operation, name).answer),
  ]);
}

test('every operation can refuse a request that is not valid HTTP, and every change a large body', async () => {
  const schedule = `/v1/schedules/${await newId('/v1/schedules', ONE_SHOT)}`;
  const large = await api.send('POST', `${schedule}/pause`, { raw: ' '.repeat(1_048_577) });
  expect(large.status).toBe(413);
  const unmet = await api.with({ expect: 'nothing' }).get(schedule);
  expect(unmet.status).toBe(400);
});

describe('the examples of schedules and deliveries', () => {
  test.each([
    ['delay', 'one_shot'],
    ['cron', 'recurring'],
  ])('createSchedule with %s', async (request, answer) => {
    const created = await api.post('/v1/schedules', example('createSchedule', request).request);
    expectExample(created, 'createSchedule', answer);
  });

  test('createSchedule with the other timings', async () => {
    const local = await api.post('/v1/schedules', example('createSchedule', 'local_fire_at').request);
    expect(local).toMatchObject({ status: 201, json: { timezone: 'Europe/Berlin' } });
    const endpoint_id = await newId('/v1/endpoints', PROFILE);
    const { request } = example('createSchedule', 'fire_at');
    const atInstant = await api.post('/v1/schedules', { ...request, endpoint_id });
    expect(atInstant).toMatchObject({ status: 201, json: { fire_at: '2030-01-01T08:00:00.000Z' } });
  });

  test('of the operations on a schedule', async () => {
    const schedule = `/v1/schedules/${await newId('/v1/schedules', example('createSchedule', 'cron').request)}`;
    expectExample(await api.get(schedule), 'getSchedule');
    expectExample(await api.post(`${schedule}/pause`), 'pauseSchedule');
    expectExample(await api.post(`${schedule}/resume`), 'resumeSchedule');
    expectExample(
      await api.post(`${schedule}/reschedule`, example('rescheduleSchedule', 'cron').request),
      'rescheduleSchedule',
    );
    const moved = await api.post(`${schedule}/reschedule`, example('rescheduleSchedule', 'delay').request);
    expect(moved.status).toBe(200);
    const other = `/v1/schedules/${await newId('/v1/schedules', example('createSchedule', 'cron').request)}`;
    expectExample(await api.patch(other, example('updateSchedule').request), 'updateSchedule');
    const canceled = `/v1/schedules/${await newId('/v1/schedules', example('createSchedule', 'cron').request)}`;
    expectExample(await api.post(`${canceled}/cancel`), 'cancelSchedule');
  });

  test('of deliveries and attempts', async () => {
    const id = await newId('/v1/schedules', example('createSchedule', 'cron').request);
    const deliveryId = await firstDelivery(id);
    const delivery = `/v1/deliveries/${deliveryId}`;
    await drive.fire(deliveryId, OK);
    expectExample(await api.get(delivery), 'getDelivery');
    expectExample(await api.get(`${delivery}/attempts`), 'listAttempts');
    expectExample(await api.get(`/v1/deliveries?schedule_id=${id}&status=succeeded`), 'listDeliveries');
    expectExample(await api.post(`${delivery}/replay`), 'replayDelivery');
  });
});

test('the examples of endpoint profiles', async () => {
  const created = await api.post<{ readonly id: string }>('/v1/endpoints', example('createEndpoint').request);
  expectExample(created, 'createEndpoint');
  const profile = `/v1/endpoints/${created.json.id}`;
  expectExample(await api.get(profile), 'getEndpoint');
  expectExample(await api.patch(profile, example('updateEndpoint').request), 'updateEndpoint');
  const other = `/v1/endpoints/${await newId('/v1/endpoints', example('createEndpoint').request)}`;
  const archived = await api.post(`${other}/archive`);
  expectExample(archived, 'archiveEndpoint');
});
