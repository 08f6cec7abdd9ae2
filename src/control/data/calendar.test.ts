import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { FAILURE, SUCCESS } from '#src/store/contract/builders.ts';
import { type DataBench, useDataBench } from '#test/control/data-harness.ts';
import { START } from '#test/process/control-harness.ts';

const open = useDataBench();
const DAY_MS = 86_400_000;

async function daily(bench: DataBench, given: object = {}): Promise<string> {
  const made = await bench.post('schedules', {
    endpoint: 'https://example.com/',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    ...given,
  });
  return made.body.id;
}

test('what was and what comes stand side by side, with notes on the clock', async () => {
  const bench = await open();
  const { store } = bench.harness;
  const { schedule, pending } = bench.build.schedule({
    timing: { kind: 'recurring', cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  });
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const claimed = bench.build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  await store.settle([bench.build.settle(claimed, schedule, SUCCESS)]);

  const { body } = await bench.get(
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
  const spring = await bench.get(
    `schedules/${schedule.id}/calendar?from=2027-03-27T00:00:00Z&until=2027-03-30T00:00:00Z`,
  );
  expect(
    spring.body.coming.map(({ notes }: { notes: readonly { kind: string }[] }) =>
      notes.map(({ kind }) => kind),
    ),
  ).toEqual([[], ['gap', 'offset'], []]);
});

test('with jitter it shows the instants that will fire', async () => {
  const bench = await open();
  const id = await daily(bench, { jitter: '1h' });
  const { next_runs } = (await bench.get(`schedules/${id}`)).body;
  const { coming } = (await bench.get(`schedules/${id}/calendar?until=2026-12-15T00:00:00Z`)).body;
  expect(coming.slice(0, 5).map(({ at }: { at: string }) => at)).toEqual(next_runs);
  expect(coming[0].local).not.toBe('2026-11-16T02:30:00');
});

test('of a paused schedule nothing comes', async () => {
  const bench = await open();
  const id = await daily(bench);
  await bench.post(`schedules/${id}/pause`);
  expect((await bench.get(`schedules/${id}/calendar`)).body.coming).toEqual([]);
});

test('more than fits is left out, and said to be', async () => {
  const bench = await open();
  const id = await daily(bench, { cron: '* * * * *' });
  const { body } = await bench.get(`schedules/${id}/calendar`);
  expect(body.coming).toHaveLength(2_000);
  // 2,000 minutes from 09:00 on: until 18:19 of the next day.
  expect(body.incomplete_days).toEqual([{ from: '2026-11-16', until: '2026-12-16' }]);
});

test('the window has its bounds, and the schedule must be there', async () => {
  const bench = await open();
  const id = await daily(bench);
  const until = new Date(instant(START + 63 * DAY_MS)).toISOString();
  expect((await bench.get(`schedules/${id}/calendar?until=${until}`)).status).toBe(400);
  expect((await bench.get('schedules/sch_00000000000000000000000000/calendar')).status).toBe(404);
});

test('a retry that waits is still to come', async () => {
  const bench = await open();
  const { store } = bench.harness;
  const { schedule, pending } = bench.build.schedule({ retryPolicy: null });
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const claimed = bench.build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  await store.settle([bench.build.settle(claimed, schedule, FAILURE)]);
  const { body } = await bench.get(`schedules/${schedule.id}/calendar`);
  expect(body.coming).toHaveLength(1);
});
