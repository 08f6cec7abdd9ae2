import { describe, expect, test } from 'vitest';
import { cachedCron } from './cron.ts';
import { formatInstant, type Instant, instant, parseInstant } from './instant.ts';
import { localRun, nextRunsOf, type Run, type RunNote, withNotes } from './run-notes.ts';
import { type LocalTime, parseLocalTime } from './zone.ts';

function cronOf(expression: string) {
  const cron = cachedCron(expression);
  if (cron === null) throw new Error(`not a cron expression: ${expression}`);
  return cron;
}

function at(text: string): Instant {
  const found = parseInstant(text);
  if (found === null) throw new Error(`not an instant: ${text}`);
  return found;
}

function wall(text: string): LocalTime {
  const found = parseLocalTime(text);
  if (found === null) throw new Error(`not a wall clock: ${text}`);
  return found;
}

const show = (local: LocalTime) => formatInstant(instant(local)).slice(0, 16);
const hours = (ms: number) => ms / 3_600_000;

/** Writes a note in one line. */
function line(note: RunNote): string {
  switch (note.kind) {
    case 'gap':
      return `gap ${show(note.from)} ${show(note.to)} fires ${show(note.firesAt)}`;
    case 'fold':
      return `fold ${show(note.at)} pass ${note.pass}${note.firesInBoth ? ' of both' : ''}`;
    case 'offset':
      return `offset ${hours(note.beforeMs)} ${hours(note.afterMs)}`;
    case 'short_months':
      return `no ${note.days.join()} in ${note.months.map(({ year, month }) => `${year}-${month}`).join()}`;
  }
}

function lines(runs: readonly Run[]): readonly string[] {
  return runs.map(({ local, notes }) => [show(local), ...notes.map(line)].join('; '));
}

function next(expression: string, zone: string, after: string, count: number): readonly string[] {
  return lines(
    nextRunsOf(cronOf(expression), zone, at(after), instant(at(after) + 20 * 365.25 * 86_400_000), count),
  );
}

describe('a gap', () => {
  test('Berlin, a fixed time: it fires at the end of the gap', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2027-03-26T12:00:00Z', 3)).toEqual([
      '2027-03-27T02:30',
      '2027-03-28T03:00; gap 2027-03-28T02:30 2027-03-28T02:30 fires 2027-03-28T03:00; offset 1 2',
      '2027-03-29T02:30',
    ]);
  });

  test('several skipped minutes fire once, together with the first minute after the gap', () => {
    expect(next('*/20 * * * *', 'Europe/Berlin', '2027-03-28T00:30:00Z', 3)).toEqual([
      '2027-03-28T01:40',
      '2027-03-28T03:00; gap 2027-03-28T02:00 2027-03-28T02:40 fires 2027-03-28T03:00; offset 1 2',
      '2027-03-28T03:20',
    ]);
  });

  test('Santiago, at midnight: it fires on the same date, at one', () => {
    expect(next('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 2)).toEqual([
      '2026-09-06T01:00; gap 2026-09-06T00:00 2026-09-06T00:00 fires 2026-09-06T01:00',
      '2026-09-07T00:00',
    ]);
  });

  test('Lord Howe, half an hour', () => {
    expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T20:00:00Z', 2)).toEqual([
      '2026-10-04T02:30; gap 2026-10-04T02:15 2026-10-04T02:15 fires 2026-10-04T02:30',
      '2026-10-05T02:15',
    ]);
  });

  test('a run at the end of the gap that exists anyway has no note', () => {
    expect(next('0 3 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', 1)).toEqual(['2027-03-28T03:00']);
  });
});

describe('a fold', () => {
  test('a fixed time fires in the first pass only', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z', 2)).toEqual([
      '2027-10-31T02:30; fold 2027-10-31T02:30 pass 1',
      '2027-11-01T02:30; offset 2 1',
    ]);
  });

  test('an interval fires in both', () => {
    expect(next('0,30 */2 * * *', 'Europe/Berlin', '2027-10-30T23:30:00Z', 5)).toEqual([
      '2027-10-31T02:00; fold 2027-10-31T02:00 pass 1 of both',
      '2027-10-31T02:30; fold 2027-10-31T02:30 pass 1 of both',
      '2027-10-31T02:00; fold 2027-10-31T02:00 pass 2 of both; offset 2 1',
      '2027-10-31T02:30; fold 2027-10-31T02:30 pass 2 of both',
      '2027-10-31T04:00',
    ]);
  });

  test('Lord Howe, half an hour: only its second half is shown twice', () => {
    expect(next('0,45 1 * * *', 'Australia/Lord_Howe', '2027-04-03T03:00:00Z', 2)).toEqual([
      '2027-04-04T01:00',
      '2027-04-04T01:45; fold 2027-04-04T01:45 pass 1',
    ]);
  });
});

describe('between two runs', () => {
  test('the offset from UTC changes', () => {
    expect(next('0 9 * * MON', 'Europe/Berlin', '2027-03-20T12:00:00Z', 3)).toEqual([
      '2027-03-22T09:00',
      '2027-03-29T09:00; offset 1 2',
      '2027-04-05T09:00',
    ]);
  });

  test('months without the day are skipped', () => {
    expect(next('0 9 31 * *', 'UTC', '2027-01-01T00:00:00Z', 3)).toEqual([
      '2027-01-31T09:00',
      '2027-03-31T09:00; no 31 in 2027-2',
      '2027-05-31T09:00; no 31 in 2027-4',
    ]);
    expect(next('0 9 29-31 * *', 'UTC', '2027-01-31T00:00:00Z', 2)).toEqual([
      '2027-01-31T09:00',
      '2027-03-29T09:00; no 29,30,31 in 2027-2',
    ]);
    expect(next('0 0 29 2 *', 'UTC', '2028-01-01T00:00:00Z', 2)).toEqual([
      '2028-02-29T00:00',
      '2032-02-29T00:00; no 29 in 2029-2,2030-2,2031-2',
    ]);
  });

  test('a month that the expression leaves out, or whose weekdays count too, is not reported', () => {
    expect(next('0 9 31 1,3 *', 'UTC', '2027-01-01T00:00:00Z', 2)).toEqual([
      '2027-01-31T09:00',
      '2027-03-31T09:00',
    ]);
    expect(next('0 9 31 * MON', 'UTC', '2027-01-30T00:00:00Z', 6).join()).not.toContain('no');
    expect(next('0 9 * * *', 'UTC', '2027-02-27T12:00:00Z', 2).join()).not.toContain('no');
  });
});

test('runs that were moved have no note about the expression', () => {
  const moved = [at('2027-03-28T01:00:00Z'), at('2027-10-31T00:30:00Z')];
  expect(lines(withNotes(cronOf('0 12 * * *'), 'Europe/Berlin', moved))).toEqual([
    '2027-03-28T03:00',
    '2027-10-31T02:30',
  ]);
  expect(lines(withNotes(null, 'Europe/Berlin', moved))).toEqual(['2027-03-28T03:00', '2027-10-31T02:30']);
});

test('there are no more than exist up to the end', () => {
  expect(
    nextRunsOf(cronOf('0 0 29 2 *'), 'UTC', at('2029-01-01T00:00:00Z'), at('2031-01-01T00:00:00Z'), 5),
  ).toEqual([]);
});

describe('a wall-clock time', () => {
  test.each([
    ['2027-03-28T02:30:00', '2027-03-28T03:30; gap 2027-03-28T02:30 2027-03-28T02:30 fires 2027-03-28T03:30'],
    ['2027-10-31T02:30:00', '2027-10-31T02:30; fold 2027-10-31T02:30 pass 1'],
    ['2027-06-01T09:00:00', '2027-06-01T09:00'],
  ])('%s in Berlin', (text, shown) => {
    expect(lines([localRun('Europe/Berlin', wall(text))])).toEqual([shown]);
  });

  test('keeps its seconds and has its offset', () => {
    const run = localRun('Europe/Berlin', wall('2027-10-31T02:30:15'));
    expect(formatInstant(run.at)).toBe('2027-10-31T00:30:15.000Z');
    expect(run.offsetMs).toBe(7_200_000);
  });
});
