import { expect, test } from 'vitest';
import type { Role } from '#src/domain/role.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';

const open = useDataHarness();

const HERE = 'https://receiver.example/hook?token=hidden';
const MOVED = 'https://mallory.example/hook?token=mine';
const GUARDED = { status: 403, body: { error: { code: 'destination_guarded' } } };
const SECRET = { headers: { 'X-Key': 'hidden' } };

async function schedule(harness: DataHarness, more: object = {}): Promise<string> {
  const { status, body } = await harness.post('schedules', { endpoint: HERE, delay: '5m', ...more });
  expect(status).toBe(201);
  return `schedules/${body.id}`;
}

async function profile(harness: DataHarness, more: object = {}): Promise<string> {
  const { status, body } = await harness.post('endpoints', { url: HERE, ...more });
  expect(status).toBe(201);
  return `endpoints/${body.id}`;
}

test.each([
  ['headers', SECRET],
  ['a body', { body: 'hidden' }],
])('only an admin may send a schedule with %s to another origin or path', async (_what, payload) => {
  const harness = await open();
  const path = await schedule(harness, payload);
  for (const endpoint of [MOVED, 'https://receiver.example/other', 'https://receiver.example:8443/hook']) {
    expect(await harness.patch(path, { endpoint }, 'operator')).toMatchObject(GUARDED);
  }
  expect((await harness.get(path)).body.endpoint).toBe(HERE);
  expect((await harness.patch(path, { endpoint: MOVED }, 'admin')).status).toBe(200);
});

test('an operator may change the destination of a schedule without headers and body, and the query of any', async () => {
  const harness = await open();
  expect((await harness.patch(await schedule(harness), { endpoint: MOVED }, 'operator')).status).toBe(200);
  const secret = await schedule(harness, SECRET);
  const edit = { endpoint: 'https://receiver.example/hook?token=new', ttl: '1h' };
  expect((await harness.patch(secret, edit, 'operator')).status).toBe(200);
});

test('only an admin may change the destination of an endpoint profile with headers', async () => {
  const harness = await open();
  const path = await profile(harness, SECRET);
  for (const edit of [{ url: MOVED }, { url: MOVED, headers: {} }]) {
    expect(await harness.patch(path, edit, 'operator')).toMatchObject(GUARDED);
  }
  expect((await harness.patch(path, { method: 'PUT' }, 'operator')).status).toBe(200);
  expect((await harness.get(path)).body).toMatchObject({ url: HERE, version: 2 });
  expect((await harness.patch(path, { url: MOVED }, 'admin')).status).toBe(200);
});

test('only an admin may change the destination of a profile whose schedules have or had payloads', async () => {
  const harness = await open();
  const path = await profile(harness);
  const id = path.slice('endpoints/'.length);
  const through = async (more: object) => {
    const { status, body } = await harness.post('schedules', { endpoint_id: id, delay: '5m', ...more });
    expect(status).toBe(201);
    return `schedules/${body.id}`;
  };
  await through({});
  expect((await harness.patch(path, { url: `${HERE}&more` }, 'operator')).status).toBe(200);
  expect((await harness.patch(path, { url: 'https://receiver.example/2' }, 'operator')).status).toBe(200);
  const secret = await through({ body: 'hidden' });
  expect(await harness.patch(path, { url: MOVED }, 'operator')).toMatchObject(GUARDED);
  // Otherwise an operator could cancel them first, and receive what is stored through the profile afterwards.
  await harness.post(`${secret}/cancel`);
  expect(await harness.patch(path, { url: MOVED }, 'operator')).toMatchObject(GUARDED);
});

test('the audit log has the old and the new origin and path, without queries', async () => {
  const harness = await open();
  const [one, two] = [await schedule(harness, SECRET), await profile(harness)];
  const before = harness.audit.length;
  await harness.patch(one, { endpoint: MOVED }, 'admin');
  await harness.patch(two, { url: MOVED }, 'operator');
  await harness.patch(two, { url: `${MOVED}&more` }, 'operator');
  const move = { from: 'https://receiver.example/hook', to: 'https://mallory.example/hook' };
  expect(harness.audit.slice(before).map(({ detail }) => detail)).toEqual([
    { fields: 'endpoint', ...move },
    { fields: 'url', ...move },
    { fields: 'url', from: move.to, to: move.to },
  ]);
});

test.each(['operator', 'admin'] satisfies readonly Role[])(
  'an invalid edit by an %s is refused as an invalid edit',
  async (role) => {
    const harness = await open();
    const path = await schedule(harness, SECRET);
    expect(await harness.patch(path, { endpoint: 'ftp://x/' }, role)).toMatchObject({ status: 422 });
    expect((await harness.patch('schedules/sch_none', { endpoint: MOVED }, role)).status).toBe(404);
  },
);
