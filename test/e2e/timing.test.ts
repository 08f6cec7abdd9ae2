/** The four forms of timing on create: what is accepted, and which instant it means. */
import { describe, expect, it } from 'vitest';
import { BERLIN, dayBefore, LORD_HOWE, NEW_YORK } from './dates.ts';
import { created, DAY, fromNow, HOUR, MINUTE, ms, onlyDelivery, SECOND } from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, URL } from './resources.ts';

const { api } = useSched();

/** A year in the future, and the next leap year. */
const YEAR = new Date().getUTCFullYear() + 2;
const LEAP_YEAR = YEAR + ((4 - (YEAR % 4)) % 4);

function at(timing: object) {
  return created(api, { endpoint: URL, ...timing });
}

describe('delay: a Go duration from now', () => {
  it.each([
    ['1s', SECOND],
    ['1000ms', SECOND],
    ['1000000000ns', SECOND],
    ['1.5h', 1.5 * HOUR],
    ['1h30m', 1.5 * HOUR],
    ['+5m', 5 * MINUTE],
    ['90m0.5s', 90 * MINUTE + 500],
    ['2000000us', 2 * SECOND],
    ['2000000\u00b5s', 2 * SECOND],
    ['2000000\u03bcs', 2 * SECOND],
    ['87600h', 87_600 * HOUR],
  ])('%s', async (delay, delayMs) => {
    const shown = await at({ delay });
    expect(ms(shown.fire_at) - ms(shown.created_at)).toBe(delayMs);
    expect(shown).toMatchObject({ kind: 'one_shot', timezone: null, cron: null });
  });

  it('is rounded up to whole milliseconds', async () => {
    const shown = await at({ delay: '1.0000001s' });
    expect(ms(shown.fire_at) - ms(shown.created_at)).toBe(1_001);
  });
});

describe('fire_at: an RFC 3339 instant', () => {
  it.each([
    ['Z', `${YEAR}-05-06T07:08:09Z`, `${YEAR}-05-06T07:08:09.000Z`],
    ['an offset', `${YEAR}-05-06T07:08:09+02:00`, `${YEAR}-05-06T05:08:09.000Z`],
    ['a negative offset', `${YEAR}-12-31T20:30:00-05:30`, `${YEAR + 1}-01-01T02:00:00.000Z`],
    ['milliseconds', `${YEAR}-05-06T07:08:09.123Z`, `${YEAR}-05-06T07:08:09.123Z`],
    ['finer fractions, cut to milliseconds', `${YEAR}-05-06T07:08:09.123999Z`, `${YEAR}-05-06T07:08:09.123Z`],
    ['a leap day', `${LEAP_YEAR}-02-29T00:00:00Z`, `${LEAP_YEAR}-02-29T00:00:00.000Z`],
    ['lower case', `${YEAR}-05-06t07:08:09z`, `${YEAR}-05-06T07:08:09.000Z`],
  ])('with %s', async (_what, fire_at, expected) => {
    const shown = await at({ fire_at });
    expect(shown).toMatchObject({
      fire_at: expected,
      next_fire_at: expected,
      next_runs: [expected],
      timezone: null,
    });
  });

  it.each([
    ['a little over 1 s ahead', 5 * SECOND],
    ['almost 10 years ahead', 10 * 365 * DAY],
  ])('%s', async (_what, offsetMs) => {
    const fire_at = fromNow(offsetMs);
    expect(await at({ fire_at })).toMatchObject({ fire_at });
  });

  it('a timezone beside it is validated but not shown', async () => {
    expect(await at({ fire_at: fromNow(HOUR), timezone: 'Asia/Tokyo' })).toMatchObject({ timezone: null });
    expect(await at({ delay: '1h', timezone: 'Asia/Tokyo' })).toMatchObject({ timezone: null });
  });
});

describe('local_fire_at: a wall-clock time in timezone', () => {
  it.each([
    ['no timezone: UTC', `${YEAR}-07-01T09:00:00`, undefined, `${YEAR}-07-01T09:00:00.000Z`, 'UTC'],
    ['summer', `${YEAR}-07-01T09:00:00`, 'Europe/Berlin', `${YEAR}-07-01T07:00:00.000Z`, 'Europe/Berlin'],
    ['winter', `${YEAR}-01-15T09:00:00`, 'Europe/Berlin', `${YEAR}-01-15T08:00:00.000Z`, 'Europe/Berlin'],
    [
      'half an hour off',
      `${YEAR}-01-15T09:00:00`,
      'Asia/Kolkata',
      `${YEAR}-01-15T03:30:00.000Z`,
      'Asia/Kolkata',
    ],
  ])('%s', async (_what, local_fire_at, timezone, fire_at, shownZone) => {
    const shown = await at({ local_fire_at, timezone });
    expect(shown).toMatchObject({ kind: 'one_shot', fire_at, next_fire_at: fire_at, timezone: shownZone });
  });

  it.each([
    ['Europe/Berlin, 02:30 becomes 03:30', 'Europe/Berlin', `${BERLIN.gap}T02:30:00`, `${BERLIN.gap}T01:30`],
    [
      'Europe/Berlin, the gap’s first second',
      'Europe/Berlin',
      `${BERLIN.gap}T02:00:00`,
      `${BERLIN.gap}T01:00`,
    ],
    ['America/New_York', 'America/New_York', `${NEW_YORK.gap}T02:30:00`, `${NEW_YORK.gap}T07:30`],
    [
      'Australia/Lord_Howe, by half an hour',
      'Australia/Lord_Howe',
      `${LORD_HOWE.gap}T02:15:00`,
      `${dayBefore(LORD_HOWE.gap)}T15:45`,
    ],
  ])('in a DST gap it moves forward by the gap: %s', async (_what, timezone, local_fire_at, expected) => {
    expect((await at({ local_fire_at, timezone })).fire_at).toBe(`${expected}:00.000Z`);
  });

  it.each([
    ['Europe/Berlin', `${BERLIN.fold}T02:30:00`, `${BERLIN.fold}T00:30`],
    ['America/New_York', `${NEW_YORK.fold}T01:30:00`, `${NEW_YORK.fold}T05:30`],
    ['Australia/Lord_Howe', `${LORD_HOWE.fold}T01:45:00`, `${dayBefore(LORD_HOWE.fold)}T14:45`],
  ])('in a DST fold it is the earlier instant: %s', async (timezone, local_fire_at, expected) => {
    expect((await at({ local_fire_at, timezone })).fire_at).toBe(`${expected}:00.000Z`);
  });
});

describe('jitter on a one-shot', () => {
  it('keeps fire_at nominal, and moves the delivery by at most the window', async () => {
    const fire_at = fromNow(DAY);
    const offsets = [];
    for (let i = 0; i < 20; i++) {
      const shown = await at({ fire_at, jitter: '10m' });
      const pending = await onlyDelivery(api, shown.id);
      expect(shown.fire_at).toBe(fire_at);
      expect(shown.next_runs).toEqual([shown.next_fire_at]);
      expect(pending).toMatchObject({ scheduled_for: shown.next_fire_at, next_fire_at: shown.next_fire_at });
      offsets.push(ms(shown.next_fire_at) - ms(fire_at));
    }
    expect(offsets.filter((offset) => Math.abs(offset) > 10 * MINUTE)).toEqual([]);
    // The offsets are positive and negative. Twenty of one sign have a chance of one in half a million.
    expect(offsets.some((offset) => offset < 0)).toBe(true);
    expect(offsets.some((offset) => offset > 0)).toBe(true);
  });

  it('that would move it before now makes it fire at once', async () => {
    const offsets = [];
    for (let i = 0; i < 20; i++) {
      const { created_at, next_fire_at } = await created(api, { ...ONE_SHOT, delay: '1s', jitter: '24h' });
      offsets.push(ms(next_fire_at) - ms(created_at));
    }
    expect(Math.min(...offsets)).toBe(0);
  });
});
