import { expect, test } from 'vitest';
import type { Role } from '#src/domain/role.ts';
import { type DataBench, useDataBench } from '#test/control/data-harness.ts';

const open = useDataBench();

const HERE = 'https://receiver.example/hook?token=hidden';
const MOVED = 'https://mallory.example/hook?token=mine';
const GUARDED = { status: 403, body: { error: { code: 'destination_guarded' } } };
const SECRET = { headers: { 'X-Key': 'hidden' } };

async function schedule(bench: DataBench, more: object = {}): Promise<string> {
  const { status, body } = await bench.post('schedules', { endpoint: HERE, delay: '5m', ...more });
  expect(status).toBe(201);
  return `schedules/${body.id}`;
}

async function profile(bench: DataBench, more: object = {}): Promise<string> {
  const { status, body } = await bench.post('endpoints', { url: HERE, ...more });
  expect(status).toBe(201);
  return `endpoints/${body.id}`;
}

test.each([
  ['headers', SECRET],
  ['a body', { body: 'hidden' }],
])('a schedule with %s is sent to another origin or path by an admin alone', async (_what, payload) => {
  const bench = await open();
  const path = await schedule(bench, payload);
  for (const endpoint of [MOVED, 'https://receiver.example/other', 'https://receiver.example:8443/hook']) {
    expect(await bench.patch(path, { endpoint }, 'operator')).toMatchObject(GUARDED);
  }
  expect((await bench.get(path)).body.endpoint).toBe(HERE);
  expect((await bench.patch(path, { endpoint: MOVED }, 'admin')).status).toBe(200);
});

test('a schedule that has neither is moved by an operator, and the query of any is', async () => {
  const bench = await open();
  expect((await bench.patch(await schedule(bench), { endpoint: MOVED }, 'operator')).status).toBe(200);
  const secret = await schedule(bench, SECRET);
  const edit = { endpoint: 'https://receiver.example/hook?token=new', ttl: '1h' };
  expect((await bench.patch(secret, edit, 'operator')).status).toBe(200);
});

test('an endpoint profile with headers is moved by an admin alone', async () => {
  const bench = await open();
  const path = await profile(bench, SECRET);
  for (const edit of [{ url: MOVED }, { url: MOVED, headers: {} }]) {
    expect(await bench.patch(path, edit, 'operator')).toMatchObject(GUARDED);
  }
  expect((await bench.patch(path, { method: 'PUT' }, 'operator')).status).toBe(200);
  expect((await bench.get(path)).body).toMatchObject({ url: HERE, version: 2 });
  expect((await bench.patch(path, { url: MOVED }, 'admin')).status).toBe(200);
});

test('a profile whose schedules have payloads is moved by an admin alone, also once they have ended', async () => {
  const bench = await open();
  const path = await profile(bench);
  const id = path.slice('endpoints/'.length);
  const through = async (more: object) => {
    const { status, body } = await bench.post('schedules', { endpoint_id: id, delay: '5m', ...more });
    expect(status).toBe(201);
    return `schedules/${body.id}`;
  };
  await through({});
  expect((await bench.patch(path, { url: `${HERE}&more` }, 'operator')).status).toBe(200);
  expect((await bench.patch(path, { url: 'https://receiver.example/2' }, 'operator')).status).toBe(200);
  const secret = await through({ body: 'hidden' });
  expect(await bench.patch(path, { url: MOVED }, 'operator')).toMatchObject(GUARDED);
  // Otherwise an operator could cancel them first, and receive what is stored through the profile afterwards.
  await bench.post(`${secret}/cancel`);
  expect(await bench.patch(path, { url: MOVED }, 'operator')).toMatchObject(GUARDED);
});

test('the audit log has the old and the new origin and path, without their queries', async () => {
  const bench = await open();
  const [one, two] = [await schedule(bench, SECRET), await profile(bench)];
  const before = bench.audit.length;
  await bench.patch(one, { endpoint: MOVED }, 'admin');
  await bench.patch(two, { url: MOVED }, 'operator');
  await bench.patch(two, { url: `${MOVED}&more` }, 'operator');
  const move = { from: 'https://receiver.example/hook', to: 'https://mallory.example/hook' };
  expect(bench.audit.slice(before).map(({ detail }) => detail)).toEqual([
    { fields: 'endpoint', ...move },
    { fields: 'url', ...move },
    { fields: 'url', from: move.to, to: move.to },
  ]);
});

test.each(['operator', 'admin'] satisfies readonly Role[])(
  'what is refused as an edit is refused as one, also for an %s',
  async (role) => {
    const bench = await open();
    const path = await schedule(bench, SECRET);
    expect(await bench.patch(path, { endpoint: 'ftp://x/' }, role)).toMatchObject({ status: 422 });
    expect((await bench.patch('schedules/sch_none', { endpoint: MOVED }, role)).status).toBe(404);
  },
);
