import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { systemTimers } from '#src/system/timers.ts';
import { useDataHarness } from '#test/control/data-harness.ts';
import { HOURLY } from '#test/store-contract/builders.ts';
import { Forecasts, PROJECTED_MAX } from './forecast.ts';

const open = useDataHarness();
const HOUR_MS = 3_600_000;

test('due deliveries are shown by minute, by endpoint and one by one', async () => {
  const harness = await open();
  const once = await harness.post('schedules', { endpoint: 'https://once.example/a?b=c', delay: '90s' });
  const often = await harness.post('schedules', {
    endpoint: 'https://often.example/',
    cron: '*/15 * * * *',
    timezone: 'Europe/Berlin',
  });
  const { body } = await harness.get('upcoming', 'viewer');
  expect(body).toMatchObject({
    from: '2026-11-15T08:00:00.000Z',
    until: '2026-11-15T09:00:00.000Z',
    step_ms: 60_000,
    total: 4,
    is_complete: true,
  });
  expect(
    body.counts.map((count: number, minute: number) => [minute, count]).filter(([, n]: number[]) => n),
  ).toEqual([
    [1, 1],
    [15, 1],
    [30, 1],
    [45, 1],
  ]);
  expect(
    body.endpoints.map(({ endpoint, total }: { endpoint: string; total: number }) => [endpoint, total]),
  ).toEqual([
    ['https://often.example/', 3],
    ['https://once.example/a', 1],
  ]);
  expect(
    body.runs.map((run: { at: string; delivery_id: string | null }) => [run.at, run.delivery_id === null]),
  ).toEqual([
    ['2026-11-15T08:01:30.000Z', false],
    ['2026-11-15T08:15:00.000Z', false],
    ['2026-11-15T08:30:00.000Z', true],
    ['2026-11-15T08:45:00.000Z', true],
  ]);
  expect(body.runs[0]).toMatchObject({ schedule_id: once.body.id, cron: null, is_retry: false });
  expect(body.runs[2]).toMatchObject({ schedule_id: often.body.id, timezone: 'Europe/Berlin' });
});

test('a later window has future runs, although the waiting delivery is before it', async () => {
  const harness = await open();
  await harness.post('schedules', { endpoint: 'https://example.com/', cron: '0 * * * *', jitter: '5m' });
  await harness.post('schedules', { endpoint: 'https://example.com/', cron: '30 10 * * *' });
  await harness.post('schedules', { endpoint: 'https://example.com/', delay: '10m' });
  const { body } = await harness.get('upcoming?from=2026-11-17T10:15:00Z&until=2026-11-17T11:30:00Z');
  expect(body.total).toBe(2);
  expect(body.runs).toMatchObject([{ at: '2026-11-17T10:30:00.000Z' }, { cron: '0 * * * *' }]);
});

test('paused and canceled schedules have nothing due', async () => {
  const harness = await open();
  for (const order of ['pause', 'cancel']) {
    const made = await harness.post('schedules', { endpoint: 'https://example.com/', cron: '* * * * *' });
    await harness.post(`schedules/${made.body.id}/${order}`);
  }
  expect((await harness.get('upcoming')).body).toMatchObject({ total: 0, endpoints: [], runs: [] });
});

test('endpoints beyond the limit are summed up in the last row', async () => {
  const harness = await open();
  for (let made = 0; made < 22; made++) {
    await harness.post('schedules', { endpoint: `https://${made}.example/`, delay: '5m' });
  }
  const { endpoints } = (await harness.get('upcoming')).body;
  expect(endpoints).toHaveLength(21);
  expect(endpoints.at(-1)).toMatchObject({ endpoint: null, total: 2 });
  expect(endpoints.at(-1).counts[5]).toBe(2);
});

test.each(['from=x', 'from=2026-11-15T08:00:00Z&until=2026-11-23T08:00:00Z', 'until=2026-11-15T07:00:00Z'])(
  'the window %s is refused',
  async (query) => {
    const harness = await open();
    expect((await harness.get(`upcoming?${query}`)).status).toBe(400);
  },
);

test('more deliveries than a page at one instant are listed completely, and each once', async () => {
  const harness = await open();
  const { store, clock } = harness.control;
  const rows = Array.from({ length: 750 }, (_, index) =>
    harness.build.schedule({
      timing:
        index % 5 === 0
          ? HOURLY
          : { kind: 'one_shot', fireAt: instant(clock.now() + HOUR_MS), timezone: null },
    }),
  );
  await Promise.all(
    rows.map((made) => store.addSchedule({ ...made, payload: null, profile: null, receipt: null })),
  );
  const forecasts = new Forecasts({ insight: store.insight, timers: systemTimers, clock });
  const from = clock.now();
  const { waiting, projected, isComplete } = await forecasts.get(
    harness.build.partition,
    from,
    instant(from + 4 * HOUR_MS),
  );
  expect(new Set(waiting.map(({ deliveryId }) => deliveryId)).size).toBe(750);
  expect(waiting).toHaveLength(750);
  expect(projected).toHaveLength(150 * 2);
  expect(isComplete).toBe(true);
});

test('runs beyond the limit are left out at the end of the window, which is marked incomplete', async () => {
  const harness = await open();
  for (let made = 0; made < 3; made++) {
    await harness.post('schedules', { endpoint: `https://${made}.example/`, cron: '* * * * *' });
  }
  const { body } = await harness.get('upcoming?from=2026-11-15T08:00:00Z&until=2026-11-22T08:00:00Z');
  expect(body.is_complete).toBe(false);
  expect(body.total).toBeLessThanOrEqual(PROJECTED_MAX + 3);
  expect(body.total).toBeGreaterThan(PROJECTED_MAX - 100);
  expect(body.counts.slice(1, 40).every((count: number) => count === 3 * 120)).toBe(true);
  expect(body.counts.at(-1)).toBe(0);
  expect(body.runs).toHaveLength(100);
});
