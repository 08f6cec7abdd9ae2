import { expect, test } from 'vitest';
import { OPERATIONS, type OperationId } from '#src/api/contract/operations.ts';
import { answerResult, failureResult } from '#src/domain/failures.ts';
import { callerOf, type DataHarness, useDataHarness } from '#test/control/data-harness.ts';
import { NOT_HERE } from './operations.ts';

const open = useDataHarness();

const NEW = {
  endpoint: 'https://example.com/hook',
  delay: '5m',
  headers: { 'X-Key': 'hidden' },
  body: 'hidden',
};

test('schedules are created and changed as with /v1, and each change is in the audit log', async () => {
  const harness = await open();
  const made = await harness.post('schedules', NEW);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ object: 'schedule', mode: 'test', header_keys: ['X-Key'] });
  const { id } = made.body;
  await harness.patch(`schedules/${id}`, { ttl: '1h' });
  await harness.post(`schedules/${id}/reschedule`, { delay: '10m' });
  await harness.post(`schedules/${id}/pause`);
  const read = await harness.get(`schedules/${id}`, 'viewer');
  expect(read.body).toMatchObject({ id, state: 'paused', ttl: '1h' });
  expect((await harness.get('schedules?state=paused')).body.data).toHaveLength(1);
  expect(harness.hinted).not.toHaveLength(0);
  expect(harness.audit.map(({ action, subject, detail, mode }) => [action, subject, detail, mode])).toEqual([
    ['schedule.create', id, { fields: 'endpoint, delay, headers, body' }, 'test'],
    ['schedule.update', id, { fields: 'ttl' }, 'test'],
    ['schedule.reschedule', id, { fields: 'delay' }, 'test'],
    ['schedule.pause', id, {}, 'test'],
  ]);
  expect(JSON.stringify([harness.audit, read.body])).not.toContain('hidden');
});

test('deliveries show their destination in every list', async () => {
  const harness = await open();
  const made = await harness.post('schedules', NEW);
  for (const path of ['deliveries', `schedules/${made.body.id}/deliveries`]) {
    expect((await harness.get(path)).body.data).toMatchObject([{ url: NEW.endpoint, method: 'POST' }]);
  }
});

test('a viewer searches URLs as they are shown, without their queries', async () => {
  const harness = await open();
  await harness.post('schedules', { ...NEW, endpoint: 'https://example.com/hook?key=secret' });
  const found = async (q: string, role: 'viewer' | 'operator') =>
    (await harness.get(`schedules?q=${encodeURIComponent(q)}`, role)).body.data.length;
  for (const [q, byViewer] of [
    ['EXAMPLE.com/hook?', 1],
    ['key=s', 0],
    ['secret', 0],
  ] as const) {
    expect(await found(q, 'operator')).toBe(1);
    expect(await found(q, 'viewer')).toBe(byViewer);
  }
});

test.each([
  [answerResult(503), 'http_status'],
  [answerResult(302), 'redirect'],
  [failureResult('timeout'), 'timeout'],
])('a delivery whose last attempt was %j has the failure code %s', async (result, code) => {
  const harness = await open();
  const { store } = harness.control;
  const { schedule, pending } = harness.build.schedule();
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  expect((await harness.get('deliveries')).body.data).toMatchObject([{ failure_code: null }]);
  const claimed = harness.build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  await store.settle([harness.build.settle(claimed, schedule, result)]);
  expect((await harness.get('deliveries')).body.data).toMatchObject([{ failure_code: code }]);
});

test('requests have the error codes of /v1, and objects of another project are not found', async () => {
  const harness = await open();
  expect(await harness.post('schedules', { delay: '5m' })).toMatchObject({
    status: 422,
    body: { error: { code: 'missing_endpoint', param: 'endpoint' } },
  });
  expect((await harness.get('schedules/nonsense')).status).toBe(404);
  const made = await harness.post('schedules', NEW);
  const elsewhere = await harness.authorizer
    .handle({
      caller: callerOf(harness.control.ids, 'viewer'),
      method: 'GET',
      path: `p/${harness.project.name}/live/schedules/${made.body.id}`,
      query: new URLSearchParams(),
      body: () => ({}),
      idempotencyKey: undefined,
    })
    .catch((error: unknown) => error);
  expect(elsewhere).toMatchObject({ code: 'not_found' });
});

test('a field that would be ignored is always refused, and nothing changes', async () => {
  const harness = await open();
  const { body: schedule } = await harness.post('schedules', NEW);
  const { body: profile } = await harness.post('endpoints', { url: 'https://example.com/hook' });
  const refused = [
    await harness.post('schedules', { ...NEW, timeout: '5s' }),
    await harness.patch(`schedules/${schedule.id}`, { ttl: '1h', cron: '* * * * *' }),
    await harness.post(`schedules/${schedule.id}/reschedule`, { delay: '1h', endpoint: 'https://b.example' }),
    await harness.post(`schedules/${schedule.id}/cancel`, { reason: 'none' }),
    await harness.post('endpoints', { url: 'https://example.com/hook', retry_policy: { max_retries: 3 } }),
    await harness.patch(`endpoints/${profile.id}`, { archived: true }),
  ];
  expect(refused.map(({ status, body }) => [status, body.error.code, body.error.param])).toEqual(
    ['timeout', 'cron', 'endpoint', 'reason', 'retry_policy', 'archived'].map((param) => [
      400,
      'unknown_field',
      param,
    ]),
  );
  expect((await harness.get(`schedules/${schedule.id}`)).body).toEqual(schedule);
  expect((await harness.get('schedules')).body.data).toHaveLength(1);
  expect((await harness.get('endpoints')).body.data).toEqual([profile]);
  const missing = await harness.patch('schedules/sch_00000000000000000000000000', { cron: '* * * * *' });
  expect(missing.status).toBe(404);
});

test('a viewer may read everything and change nothing', async () => {
  const harness = await open();
  for (const [id, { method, path: pattern }] of Object.entries(OPERATIONS)) {
    if (NOT_HERE.has(id as OperationId)) continue;
    const path = pattern.slice(1).replace('{id}', 'sch_00000000000000000000000000');
    const { status } =
      method === 'GET' ? await harness.get(path, 'viewer') : await change(harness, method, path);
    if (method === 'GET') expect([200, 404]).toContain(status);
    else expect([method, path, status]).toEqual([method, path, 403]);
  }
  expect(harness.audit).toEqual([]);
});

function change(harness: DataHarness, method: string, path: string) {
  return method === 'POST' ? harness.post(path, {}, 'viewer') : harness.patch(path, {}, 'viewer');
}
