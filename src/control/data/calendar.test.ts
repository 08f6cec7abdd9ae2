import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';
import { START } from '#test/process/control-harness.ts';
import { FAILURE, SUCCESS } from '#test/store-contract/builders.ts';

const open = useDataHarness();
const DAY_MS = 86_400_000;

async function daily(harness: DataHarness, given: object = {}): Promise<string> {
  const made = await harness.post('schedules', {
    endpoint: 'https://example.com/',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    ...given,
  });
  return made.body.id;
}

test('the calendar shows past deliveries and future runs, with notes on clock changes', async () => {
  const harness = await open();
  const { store } = harness.control;
  const { schedule, pending } = harness.build.schedule({
    timing: { kind: 'recurring', cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  });
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const claimed = harness.build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  await store.settle([harness.build.settle(claimed, schedule, SUCCESS)]);

  const { body } = await harness.get(
    `schedules/${schedule.id}/calendar?from=2026-11-15T00:00:00Z&until=2026-11-20T00:00:00Z`,
    'viewer',
  );
  expect(body).toMatchObject({ timezone: 'Europe/Berlin', incomplete_days: [] });
  expect(body.past).toEqual([
    {
      delivery_id: pending.id,
      at: '2026-11-16T01:30:00.000Z',
      local: '2026-11-16T02:30:00',
      status: 'succeeded',
      attempt_count: 1,
      last_status_code: 204,
    },
  ]);
  expect(body.coming.map(({ at }: { at: string }) => at)).toEqual([
    '2026-11-17T01:30:00.000Z',
    '2026-11-18T01:30:00.000Z',
    '2026-11-19T01:30:00.000Z',
  ]);
  const spring = await harness.get(
    `schedules/${schedule.id}/calendar?from=2027-03-27T00:00:00Z&until=2027-03-30T00:00:00Z`,
  );
  expect(
    spring.body.coming.map(({ notes }: { notes: readonly { kind: string }[] }) =>
      notes.map(({ kind }) => kind),
    ),
  ).toEqual([[], ['gap', 'offset'], []]);
});

test('with jitter the calendar shows the instants at which runs really fire', async () => {
  const harness = await open();
  const id = await daily(harness, { jitter: '1h' });
  const { next_runs } = (await harness.get(`schedules/${id}`)).body;
  const { coming } = (await harness.get(`schedules/${id}/calendar?until=2026-12-15T00:00:00Z`)).body;
  expect(coming.slice(0, 5).map(({ at }: { at: string }) => at)).toEqual(next_runs);
  expect(coming[0].local).not.toBe('2026-11-16T02:30:00');
});

test('a paused schedule has no future runs', async () => {
  const harness = await open();
  const id = await daily(harness);
  await harness.post(`schedules/${id}/pause`);
  expect((await harness.get(`schedules/${id}/calendar`)).body.coming).toEqual([]);
});

test('runs beyond the limit are left out, and their days are marked incomplete', async () => {
  const harness = await open();
  const id = await daily(harness, { cron: '* * * * *' });
  const { body } = await harness.get(`schedules/${id}/calendar`);
  expect(body.coming).toHaveLength(2_000);
  // 2,000 minutes from 09:00 on end at 18:19 of the next day.
  expect(body.incomplete_days).toEqual([{ from: '2026-11-16', until: '2026-12-16' }]);
});

test('a window that is too long and an unknown schedule are refused', async () => {
  const harness = await open();
  const id = await daily(harness);
  const until = new Date(instant(START + 63 * DAY_MS)).toISOString();
  expect((await harness.get(`schedules/${id}/calendar?until=${until}`)).status).toBe(400);
  expect((await harness.get('schedules/sch_00000000000000000000000000/calendar')).status).toBe(404);
});

test('a waiting retry is a future run', async () => {
  const harness = await open();
  const { store } = harness.control;
  const { schedule, pending } = harness.build.schedule({ retryPolicy: null });
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const claimed = harness.build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  await store.settle([harness.build.settle(claimed, schedule, FAILURE)]);
  const { body } = await harness.get(`schedules/${schedule.id}/calendar`);
  expect(body.coming).toHaveLength(1);
});
