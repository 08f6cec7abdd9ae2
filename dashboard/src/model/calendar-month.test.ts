import { describe, expect, it } from 'vitest';
import type { Calendar } from '../../../src/control/http/data-contract.ts';
import { dateIn, isMonth, offsetAt, shiftDay, shiftMonth, weeksOf, windowOf } from './calendar-month.ts';

const EMPTY: Calendar = { timezone: 'Europe/Berlin', past: [], coming: [], incomplete_days: [] };
const HOUR_MS = 3_600_000;

describe('the weeks of a month', () => {
  it('begin on Monday and contain every day of the month', () => {
    const weeks = weeksOf('2026-11', EMPTY);
    expect(weeks.map((week) => week.length)).toEqual([7, 7, 7, 7, 7, 7]);
    expect(weeks[0]?.[0]?.date).toBe('2026-10-26');
    expect(weeks.flat().filter((day) => day.isInMonth)).toHaveLength(30);
    expect(weeks.at(-1)?.at(-1)?.date).toBe('2026-12-06');
  });

  it('are four in a February that begins on a Monday', () => {
    expect(weeksOf('2027-02', EMPTY)).toHaveLength(4);
  });

  it('contain each run on its day in the zone of the schedule', () => {
    const late = {
      at: '2026-11-15T23:30:00.000Z',
      local: '2026-11-16T00:30:00',
      offset: '+01:00',
      notes: [],
    };
    const days = weeksOf('2026-11', { ...EMPTY, coming: [late, late] }).flat();
    expect(days.filter((day) => day.coming.length > 0).map((day) => day.date)).toEqual(['2026-11-16']);
    expect(days.find((day) => day.date === '2026-11-16')?.coming).toHaveLength(2);
  });

  it('mark the days with more runs than the service returned', () => {
    const calendar = { ...EMPTY, incomplete_days: [{ from: '2026-11-22', until: '2026-11-24' }] };
    const days = weeksOf('2026-11', calendar).flat();
    expect(days.filter((day) => day.hasMore).map((day) => day.date)).toEqual([
      '2026-11-22',
      '2026-11-23',
      '2026-11-24',
    ]);
  });

  it('mark the days with a clock change', () => {
    const shifts = (month: string) =>
      weeksOf(month, EMPTY)
        .flat()
        .filter((day) => day.isInMonth && day.clockShiftMs !== 0)
        .map((day) => [day.date, day.clockShiftMs]);
    expect(shifts('2027-03')).toEqual([['2027-03-28', HOUR_MS]]);
    expect(shifts('2026-10')).toEqual([['2026-10-25', -HOUR_MS]]);
    expect(shifts('2026-11')).toEqual([]);
  });
});

it('the requested window contains the month in every zone', () => {
  const { from, until } = windowOf('2026-12');
  expect(Date.parse(from)).toBeLessThan(Date.parse('2026-12-01T00:00:00+14:00'));
  expect(Date.parse(until)).toBeGreaterThan(Date.parse('2027-01-01T00:00:00-12:00'));
});

it('steps of months and days cross the end of a year', () => {
  expect(shiftMonth('2026-12', 1)).toBe('2027-01');
  expect(shiftMonth('2026-01', -1)).toBe('2025-12');
  expect(shiftDay('2026-12-31', 1)).toBe('2027-01-01');
  expect([isMonth('2026-13'), isMonth('2026-1'), isMonth('2026-11')]).toEqual([false, false, true]);
});

it('the offset of a zone follows daylight saving time', () => {
  const at = Date.parse('2026-07-01T22:30:00.000Z');
  expect(offsetAt('Asia/Kolkata', at)).toBe(5.5 * HOUR_MS);
  expect(offsetAt('America/New_York', at)).toBe(-4 * HOUR_MS);
  expect(offsetAt('UTC', at)).toBe(0);
  expect(dateIn('Europe/Berlin', at)).toBe('2026-07-02');
});
