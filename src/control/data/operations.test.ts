import { expect, test } from 'vitest';
import { OPERATIONS } from '#src/api/contract/operations.ts';
import { callerOf, type DataBench, useDataBench } from '#test/control/data-harness.ts';

const open = useDataBench();

const NEW = {
  endpoint: 'https://example.com/hook',
  delay: '5m',
  headers: { 'X-Key': 'hidden' },
  body: 'hidden',
};

test('schedules are made and changed as over /v1, and each change has its line in the audit log', async () => {
  const bench = await open();
  const made = await bench.post('schedules', NEW);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ object: 'schedule', mode: 'test', header_keys: ['X-Key'] });
  const { id } = made.body;
  await bench.patch(`schedules/${id}`, { ttl: '1h' });
  await bench.post(`schedules/${id}/reschedule`, { delay: '10m' });
  await bench.post(`schedules/${id}/pause`);
  const read = await bench.get(`schedules/${id}`, 'viewer');
  expect(read.body).toMatchObject({ id, state: 'paused', ttl: '1h' });
  expect((await bench.get('schedules?state=paused')).body.data).toHaveLength(1);
  expect(bench.hinted).not.toHaveLength(0);
  expect(bench.audit.map(({ action, subject, detail, mode }) => [action, subject, detail, mode])).toEqual([
    ['schedule.create', id, { fields: 'endpoint, delay, headers, body' }, 'test'],
    ['schedule.update', id, { fields: 'ttl' }, 'test'],
    ['schedule.reschedule', id, { fields: 'delay' }, 'test'],
    ['schedule.pause', id, {}, 'test'],
  ]);
  expect(JSON.stringify([bench.audit, read.body])).not.toContain('hidden');
});

test('deliveries say where they go, wherever they are listed', async () => {
  const bench = await open();
  const made = await bench.post('schedules', NEW);
  for (const path of ['deliveries', `schedules/${made.body.id}/deliveries`]) {
    expect((await bench.get(path)).body.data).toMatchObject([{ url: NEW.endpoint, method: 'POST' }]);
  }
});

test('what /v1 refuses is refused with the same code, and is not somebody else’s to see', async () => {
  const bench = await open();
  expect(await bench.post('schedules', { delay: '5m' })).toMatchObject({
    status: 422,
    body: { error: { code: 'missing_endpoint', param: 'endpoint' } },
  });
  expect((await bench.get('schedules/nonsense')).status).toBe(404);
  const made = await bench.post('schedules', NEW);
  const elsewhere = await bench.desk
    .handle({
      caller: callerOf(bench.harness.ids, 'viewer'),
      method: 'GET',
      path: `p/${bench.project.name}/live/schedules/${made.body.id}`,
      query: new URLSearchParams(),
      body: () => ({}),
      fastifyRequest: null,
    })
    .catch((error: unknown) => error);
  expect(elsewhere).toMatchObject({ code: 'not_found' });
});

test('a viewer may read everything and change nothing', async () => {
  const bench = await open();
  for (const { method, path } of Object.values(OPERATIONS)) {
    const place = path.slice(1).replace('{id}', 'sch_00000000000000000000000000');
    const { status } = method === 'GET' ? await bench.get(place, 'viewer') : await ask(bench, method, place);
    if (method === 'GET') expect([200, 404]).toContain(status);
    else expect([method, place, status]).toEqual([method, place, 403]);
  }
  expect(bench.audit).toEqual([]);
});

function ask(bench: DataBench, method: string, place: string) {
  return method === 'POST' ? bench.post(place, {}, 'viewer') : bench.patch(place, {}, 'viewer');
}
