import { expect, test } from 'vitest';
import type { PreviewRun } from '#src/control/http/data-contract.ts';
import { useDataHarness } from '#test/control/data-harness.ts';

const open = useDataHarness();

test('a recurring schedule is previewed with notes on clock changes', async () => {
  const harness = await open();
  const beforeMs = Date.UTC(2027, 2, 26) - harness.control.clock.now();
  harness.control.advance(beforeMs);
  const { status, body } = await harness.post(
    'preview',
    { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    'viewer',
  );
  harness.control.advance(-beforeMs);
  expect(status).toBe(200);
  expect(body.timezone).toBe('Europe/Berlin');
  expect(body.runs).toHaveLength(10);
  expect(body.runs[0]).toEqual({
    at: '2027-03-26T01:30:00.000Z',
    local: '2027-03-26T02:30:00',
    offset: '+01:00',
    notes: [],
  });
  expect(body.runs[2]).toMatchObject({
    local: '2027-03-28T03:00:00',
    offset: '+02:00',
    notes: [
      { kind: 'gap', text: '02:30 does not exist on 2027-03-28, fires 03:00' },
      { kind: 'offset', text: 'offset changes +01:00 → +02:00' },
    ],
  });
  expect(harness.audit).toEqual([]);
});

test.each([
  ['30 2 * * *', 'Europe/Berlin', ['02:30 does not exist on 2027-03-28, fires 03:00', 'twice on 2027-10-31']],
  ['30 1 * * *', 'America/New_York', ['01:30 occurs twice on 2027-11-07, fires the first time']],
  ['15 2 * * *', 'Australia/Lord_Howe', ['02:15 does not exist on 2027-10-03, fires 02:30']],
  [
    '* * * * *',
    'Europe/Berlin',
    ['02:00 to 02:59 do not exist', 'twice on 2027-10-31, fires in both passes'],
  ],
  ['0 9 * * *', 'Europe/Berlin', []],
  ['30 2 * * *', 'Asia/Tokyo', []],
])('%s in %s has notes on the clock changes of a year', async (cron, timezone, texts) => {
  const harness = await open();
  const { body } = await harness.post('preview', { cron, timezone });
  const notes = body.clock_changes.map((run: PreviewRun) => run.notes[0]?.text ?? '');
  expect(notes).toEqual(texts.map((text) => expect.stringContaining(text)));
});

test('jitter is only noted, because its offset depends on an id that does not exist yet', async () => {
  const harness = await open();
  const { body } = await harness.post('preview', { cron: '0 * * * *', jitter: '30s' });
  expect(body.runs[0]).toMatchObject({
    at: '2026-11-15T09:00:00.000Z',
    notes: [{ kind: 'jitter', text: 'fires up to 30s earlier or later, the same way each time' }],
  });
});

test('a one-time schedule has one run, shown in the given timezone', async () => {
  const harness = await open();
  const instant = await harness.post('preview', {
    fire_at: '2026-11-16T00:00:00Z',
    timezone: 'Asia/Kathmandu',
  });
  expect(instant.body).toEqual({
    timezone: 'Asia/Kathmandu',
    runs: [{ at: '2026-11-16T00:00:00.000Z', local: '2026-11-16T05:45:00', offset: '+05:45', notes: [] }],
    clock_changes: [],
  });
  const local = await harness.post('preview', {
    local_fire_at: '2027-10-31T02:30:00',
    timezone: 'Europe/Berlin',
  });
  expect(local.body.runs).toMatchObject([{ at: '2027-10-31T00:30:00.000Z', notes: [{ kind: 'fold' }] }]);
  expect((await harness.post('preview', { delay: '90s' })).body.runs).toMatchObject([
    { at: '2026-11-15T08:01:30.000Z' },
  ]);
});

test.each([
  [{}, 422, 'missing_timing'],
  [{ cron: '61 * * * *' }, 422, 'invalid_cron'],
  [{ cron: '* * * * *', timezone: 'Nowhere/Else' }, 422, 'invalid_cron'],
  [{ delay: '5 minutes' }, 400, 'invalid_duration'],
  [{ delay: '5m', cron: '* * * * *' }, 400, 'multiple_timing'],
  [{ delay: '1ms' }, 422, 'sub_floor_delay'],
  [{ fire_at: '2020-01-01T00:00:00Z' }, 422, 'fire_at_in_past'],
  [{ cron: '* * * * *', jitter: 'much' }, 400, 'invalid_duration'],
])('%j is refused as POST /schedules refuses it', async (body, status, code) => {
  const harness = await open();
  const created = await harness.post('schedules', { ...body, endpoint: 'https://example.com/' });
  expect(created).toMatchObject({ status, body: { error: { code } } });
  expect(await harness.post('preview', body)).toMatchObject(created);
});
