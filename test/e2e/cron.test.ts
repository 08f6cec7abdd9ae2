/** Recurring schedules: which expressions are cron, and when they fire. */
import { describe, expect, it } from 'vitest';
import { BERLIN, cronDate, dayBefore, LORD_HOWE } from './dates.ts';
import { created, deliveriesOf, expectError, MINUTE, ms, onlyDelivery, schedule } from './expectations.ts';
import { useSched } from './harness.ts';
import { URL } from './resources.ts';

const { api, drive } = useSched();

function recurring(cron: string, fields: object = {}) {
  return created(api, { endpoint: URL, cron, ...fields });
}

/** Lists the runs of a day when that day is next. Its date may also occur in an earlier year. */
async function runsOn(day: string, time: string, timezone: string): Promise<readonly string[]> {
  let shown = await recurring(`${time} ${cronDate(day)}`, { timezone });
  while ((shown.next_fire_at ?? '') < dayBefore(day)) {
    await claimNext(shown.id);
    shown = await schedule(api, shown.id);
  }
  return shown.next_runs;
}

/** Claims the pending delivery, and returns when it was due. */
async function claimNext(id: string): Promise<string> {
  const pending = (await deliveriesOf(api, id)).find(({ status }) => status === 'scheduled');
  if (pending === undefined) throw new Error(`${id} has no pending delivery.`);
  await drive.claim(pending.id);
  return pending.scheduled_for;
}

describe('cron is accepted', () => {
  it.each([
    ['wildcards', '* * * * *'],
    ['lists, ranges and steps', '0,30,45-50/2 8-18/2 1-15 1,6-8 *'],
    ['a step from a value', '5/15 * * * *'],
    ['month names', '0 0 1 JAN,jun-Aug *'],
    ['weekday names', '0 9 * * MON-fri,Sun'],
    ['0 and 7 for Sunday', '0 9 * * 0,7'],
    ['both days restricted', '0 9 13 * FRI'],
    ['a leap day', '0 0 29 2 *'],
    ['more than one space between fields', '0  9\t* * *'],
  ])('%s', async (_what, cron) => {
    const shown = await recurring(cron);
    expect(shown).toMatchObject({ kind: 'recurring', cron, timezone: 'UTC', fire_at: null });
    expect(shown.next_runs.toSorted()).toEqual(shown.next_runs);
    expect(new Set(shown.next_runs).size).toBe(5);
  });
});

describe('cron is refused with 422 invalid_cron', () => {
  it.each([
    ['nothing', ''],
    ['a word', 'hourly'],
    ['four fields', '* * * *'],
    ['a seconds field', '0 * * * * *'],
    ['a year field', '0 0 1 1 * 2030'],
    ['@daily', '@daily'],
    ['L', '0 0 L * *'],
    ['W', '0 0 15W * *'],
    ['#', '0 0 * * 5#2'],
    ['?', '0 0 ? * 1'],
    ['minute 60', '60 * * * *'],
    ['hour 24', '0 24 * * *'],
    ['day 0', '0 0 0 * *'],
    ['day 32', '0 0 32 * *'],
    ['month 0', '0 0 1 0 *'],
    ['month 13', '0 0 1 13 *'],
    ['weekday 8', '0 0 * * 8'],
    ['a negative number', '-5 * * * *'],
    ['a step of 0', '*/0 * * * *'],
    ['a range backwards', '30-10 * * * *'],
    ['an empty list item', '1,,2 * * * *'],
    ['a fraction', '1.5 * * * *'],
    ['a full month name', '0 0 1 JANUARY *'],
    ['a date that no year has', '0 0 30 2 *'],
    ['dates that no year has', '0 0 31 4,6,9,11 *'],
  ])('%s', async (_what, cron) => {
    expectError(await api.post('/v1/schedules', { endpoint: URL, cron }), 422, 'invalid_cron', 'cron');
  });
});

describe('next_runs: the next 5 instants', () => {
  it('follow the expression and come after now', async () => {
    const { next_runs, created_at } = await recurring('*/15 * * * *');
    const first = ms(next_runs[0]);
    expect(first).toBe(Math.floor(ms(created_at) / (15 * MINUTE) + 1) * 15 * MINUTE);
    expect(next_runs.map((at) => ms(at) - first)).toEqual(
      [0, 15, 30, 45, 60].map((minutes) => minutes * MINUTE),
    );
  });

  it('use the timezone of the schedule', async () => {
    const { next_runs, timezone } = await recurring('30 9 1 1 *', { timezone: 'Asia/Kolkata' });
    expect(timezone).toBe('Asia/Kolkata');
    expect(next_runs.map((at) => at.slice(4))).toEqual(
      Array.from({ length: 5 }, () => '-01-01T04:00:00.000Z'),
    );
  });

  it('day-of-month and day-of-week are OR-ed when both are restricted', async () => {
    const { next_runs } = await recurring('0 0 13 * FRI');
    const days = next_runs.map((at) => new Date(at));
    expect(days.every((day) => day.getUTCDate() === 13 || day.getUTCDay() === 5)).toBe(true);
    expect(days.some((day) => day.getUTCDate() !== 13)).toBe(true);
  });

  it.each([
    ['a fixed time in a gap fires at its end', '30 2', BERLIN.gap, ['01:00']],
    ['several times in a gap fire once', '*/10 2', BERLIN.gap, ['01:00']],
    ['the end of a gap fires once', '0,30 1-3', BERLIN.gap, ['00:00', '00:30', '01:00', '01:30']],
    ['a fixed time in a fold fires in the first pass', '30 2', BERLIN.fold, ['00:30']],
    ['fixed times in a fold fire in the first pass', '0,30 2', BERLIN.fold, ['00:00', '00:30']],
    ['steps fire through both passes', '*/30 2', BERLIN.fold, ['00:00', '00:30', '01:00', '01:30']],
  ])('%s', async (_what, time, day, expected) => {
    const next_runs = await runsOn(day, time, 'Europe/Berlin');
    expect(next_runs.slice(0, expected.length)).toEqual(expected.map((at) => `${day}T${at}:00.000Z`));
    // The next run is on the same day of another year, so nothing else fires on this day.
    expect(next_runs[expected.length]?.slice(0, 4) ?? 'later').not.toBe(day.slice(0, 4));
  });

  it('follow a clock change of half an hour', async () => {
    const gap = await runsOn(LORD_HOWE.gap, '15 2', 'Australia/Lord_Howe');
    expect(gap[0]).toBe(`${dayBefore(LORD_HOWE.gap)}T15:30:00.000Z`);
    const fold = await runsOn(LORD_HOWE.fold, '*/15 1', 'Australia/Lord_Howe');
    const times = ['14:00', '14:15', '14:30', '14:45', '15:00'];
    expect(fold).toEqual(times.map((at) => `${dayBefore(LORD_HOWE.fold)}T${at}:00.000Z`));
  });
});

describe('jitter is deterministic', () => {
  it('each run is moved by its own offset within the window, which never changes', async () => {
    const shown = await recurring('0 * * * *', { jitter: '10m' });
    const hour = 60 * MINUTE;
    const offsets = shown.next_runs.map((at) => ms(at) - Math.round(ms(at) / hour) * hour);
    expect(offsets.every((offset) => Math.abs(offset) <= 10 * MINUTE)).toBe(true);
    expect(new Set(offsets).size).toBeGreaterThan(1);
    expect(await schedule(api, shown.id)).toEqual(shown);
  });

  it('next_runs shows exactly the instants that will fire', async () => {
    const { id, next_runs } = await recurring('0 0 1 * *', { jitter: '48h' });
    const fired: string[] = [];
    for (const _ of next_runs) fired.push(await claimNext(id));
    expect(fired).toEqual(next_runs);
  });

  it('the idempotency key of the delivery contains the nominal instant', async () => {
    const { id, next_fire_at } = await recurring('0 0 1 1 *', { jitter: '1h' });
    const pending = await onlyDelivery(api, id);
    expect(pending.scheduled_for).toBe(next_fire_at);
    expect(pending.idempotency_key).toMatch(/^sch_\w+:\d{4}-01-01T00:00:00\.000Z$/);
  });
});
