import { expect, test } from 'vitest';
import { REDIRECT } from '#src/store/contract/builders.ts';
import { type DataBench, useDataBench } from '#test/control/data-harness.ts';

const open = useDataBench();

/** So many dead letters, each of a schedule of its own. */
async function deadLetters(bench: DataBench, count: number): Promise<void> {
  const { store } = bench.harness;
  for (let made = 0; made < count; made++) {
    const { schedule, pending } = bench.build.schedule();
    await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
    const claimed = bench.build.claim(pending, { schedule, profile: null });
    await store.claim([claimed]);
    await store.settle([bench.build.settle(claimed, schedule, REDIRECT)]);
  }
}

test('dead letters are counted, a job is begun for them, watched and stopped', async () => {
  const bench = await open();
  await deadLetters(bench, 3);
  bench.harness.advance(1_000);
  expect((await bench.get('replays/count?status=dead_letter', 'viewer')).body).toEqual({
    count: 3,
    is_exact: true,
  });
  const begun = await bench.post('replays', { status: 'dead_letter', expected: 3 });
  expect(begun.status).toBe(201);
  expect(begun.body).toMatchObject({
    state: 'gathering',
    expected: 3,
    gathered: 0,
    created_by: 'operator',
    filter: { status: 'dead_letter' },
    ended_at: null,
  });
  expect(bench.wakes).toHaveLength(1);
  const { id } = begun.body;
  expect((await bench.get(`replays/${id}`, 'viewer')).body).toEqual(begun.body);
  expect((await bench.get('replays')).body).toEqual({ data: [begun.body], next_cursor: null });
  expect((await bench.post(`replays/${id}/stop`)).body).toMatchObject({ id, state: 'stopped' });
  expect(await bench.post(`replays/${id}/stop`)).toMatchObject({
    status: 409,
    body: { error: { code: 'job_ended' } },
  });
  expect(bench.audit.map(({ action, subject, detail }) => [action, subject, detail])).toEqual([
    ['replay.begin', id, { status: 'dead_letter', expected: 3 }],
    ['replay.stop', id, {}],
  ]);
});

test.each([
  [{ status: 'dead_letter' }, 'expected'],
  [{ status: 'dead_letter', expected: 1.5 }, 'expected'],
  [{ status: 'dead_letter', expected: 1, schedule_id: 'all' }, 'schedule_id'],
  [{ status: 'dead_letter', expected: 1, created_after: 5 }, 'created_after'],
  [{ status: 'dead_letter', expected: 1, created_after: 'x'.repeat(65) }, 'created_after'],
  [{ status: 'scheduled', expected: 1 }, 'status'],
  [{ expected: 1 }, 'status'],
])('%j begins nothing', async (body, param) => {
  const bench = await open();
  expect(await bench.post('replays', body)).toMatchObject({ status: 400, body: { error: { param } } });
  expect(bench.wakes).toEqual([]);
});

test('a viewer may look, and somebody of another project sees nothing', async () => {
  const bench = await open();
  await deadLetters(bench, 1);
  const body = { status: 'dead_letter', expected: 1 };
  expect((await bench.post('replays', body, 'viewer')).status).toBe(403);
  const { id } = (await bench.post('replays', body)).body;
  const other = await open();
  expect((await other.get(`replays/${id}`)).status).toBe(404);
  expect((await other.post(`replays/${id}/stop`)).status).toBe(404);
  expect((await other.get('replays')).body.data).toEqual([]);
  expect((await other.get('replays/count?status=dead_letter')).body.count).toBe(0);
});
