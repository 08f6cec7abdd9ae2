import { expect, test } from 'vitest';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';
import { REDIRECT } from '#test/store-contract/builders.ts';

const open = useDataHarness();

/** Creates dead letters, each of its own schedule. */
async function deadLetters(harness: DataHarness, count: number): Promise<void> {
  const { store } = harness.control;
  for (let made = 0; made < count; made++) {
    const { schedule, pending } = harness.build.schedule();
    await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
    const claimed = harness.build.claim(pending, { schedule, profile: null });
    await store.claim([claimed]);
    await store.settle([harness.build.settle(claimed, schedule, REDIRECT)]);
  }
}

test('dead letters are counted, and a job for them is begun, watched and stopped', async () => {
  const harness = await open();
  await deadLetters(harness, 3);
  harness.control.advance(1_000);
  expect((await harness.get('replays/count?status=dead_letter', 'viewer')).body).toEqual({
    count: 3,
    is_exact: true,
  });
  const begun = await harness.post('replays', { status: 'dead_letter', expected: 3 });
  expect(begun.status).toBe(201);
  expect(begun.body).toMatchObject({
    state: 'gathering',
    expected: 3,
    gathered: 0,
    created_by: 'operator',
    filter: { status: 'dead_letter' },
    ended_at: null,
  });
  expect(harness.wakes).toHaveLength(1);
  const { id } = begun.body;
  expect((await harness.get(`replays/${id}`, 'viewer')).body).toEqual(begun.body);
  expect((await harness.get('replays')).body).toEqual({ data: [begun.body], next_cursor: null });
  expect((await harness.post(`replays/${id}/stop`)).body).toMatchObject({ id, state: 'stopped' });
  expect(await harness.post(`replays/${id}/stop`)).toMatchObject({
    status: 409,
    body: { error: { code: 'job_ended' } },
  });
  expect(harness.audit.map(({ action, subject, detail }) => [action, subject, detail])).toEqual([
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
  const harness = await open();
  expect(await harness.post('replays', body)).toMatchObject({ status: 400, body: { error: { param } } });
  expect(harness.wakes).toEqual([]);
});

test('a viewer may read jobs, and a user of another project sees none', async () => {
  const harness = await open();
  await deadLetters(harness, 1);
  const body = { status: 'dead_letter', expected: 1 };
  expect((await harness.post('replays', body, 'viewer')).status).toBe(403);
  const { id } = (await harness.post('replays', body)).body;
  const other = await open();
  expect((await other.get(`replays/${id}`)).status).toBe(404);
  expect((await other.post(`replays/${id}/stop`)).status).toBe(404);
  expect((await other.get('replays')).body.data).toEqual([]);
  expect((await other.get('replays/count?status=dead_letter')).body.count).toBe(0);
});
