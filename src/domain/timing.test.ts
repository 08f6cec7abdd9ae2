import { describe, expect, test } from 'vitest';
import { formatInstant, type Instant, instant, parseInstant } from './instant.ts';
import { FLOOR_MS, horizon, readTiming, TIMING_FIELDS, type TimingField } from './timing.ts';

const NOW = at('2026-11-15T08:00:00Z');

function at(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new Error(`${text} is no instant.`);
  return parsed;
}

function oneShot(fireAt: Instant | number, timezone: string | null = null) {
  return { ok: true, timing: { kind: 'one_shot', fireAt, timezone } };
}

function refused(code: string, param: string) {
  return { ok: false, fault: { code, param } };
}

test('there are four ways to give a time', () => {
  expect(TIMING_FIELDS).toEqual(['delay', 'fire_at', 'local_fire_at', 'cron']);
  expect(FLOOR_MS).toBe(1_000);
});

describe('the horizon is ten years ahead', () => {
  test.for([
    ['2026-11-15T08:00:00.000Z', '2036-11-15T08:00:00.000Z'],
    ['2024-02-29T12:00:00.000Z', '2034-03-01T12:00:00.000Z'],
    ['2026-02-28T23:59:59.999Z', '2036-02-28T23:59:59.999Z'],
  ] as const)('of %s: %s', ([from, to]) => {
    expect(formatInstant(horizon(at(from)))).toBe(to);
  });
});

describe('delay', () => {
  test.for([
    ['1s', 1_000],
    ['1000ms', 1_000],
    ['+5m', 300_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['1.0005s', 1_001],
    ['1s1ns', 1_001],
    ['87660h', 87_660 * 3_600_000],
  ] as const)('%s', ([text, ms]) => {
    expect(readTiming('delay', text, null, NOW)).toEqual(oneShot(NOW + ms));
  });

  test.for([
    ['999ms', 'sub_floor_delay'],
    ['999.999999ms', 'sub_floor_delay'],
    ['0', 'sub_floor_delay'],
    ['0s', 'sub_floor_delay'],
    ['-5m', 'sub_floor_delay'],
    ['88000h', 'fire_at_too_far'],
    ['2562047h47m16.854775807s', 'fire_at_too_far'],
    ['2562047h47m16.854775808s', 'invalid_duration'],
    ['', 'invalid_duration'],
    ['5', 'invalid_duration'],
    ['1d', 'invalid_duration'],
    ['1 s', 'invalid_duration'],
    ['PT5M', 'invalid_duration'],
    ['tomorrow', 'invalid_duration'],
  ] as const)('%j: %s', ([text, code]) => {
    expect(readTiming('delay', text, null, NOW)).toEqual(refused(code, 'delay'));
  });
});

describe('fire_at', () => {
  test.for([
    ['2026-11-15T08:00:01Z', '2026-11-15T08:00:01Z'],
    ['2026-11-15T09:00:01+01:00', '2026-11-15T08:00:01Z'],
    ['2027-01-01t00:00:00.123456z', '2027-01-01T00:00:00.123Z'],
    ['2036-11-15T08:00:00Z', '2036-11-15T08:00:00Z'],
  ] as const)('%s', ([text, meant]) => {
    expect(readTiming('fire_at', text, null, NOW)).toEqual(oneShot(at(meant)));
    expect(readTiming('fire_at', text, 'Europe/Berlin', NOW)).toEqual(oneShot(at(meant)));
  });

  test.for([
    ['2026-11-15T08:00:00.999Z', 'fire_at_in_past'],
    ['2026-11-15T08:00:00Z', 'fire_at_in_past'],
    ['1970-01-01T00:00:00Z', 'fire_at_in_past'],
    ['0000-01-01T00:00:00Z', 'fire_at_in_past'],
    ['2036-11-15T08:00:00.001Z', 'fire_at_too_far'],
    ['9999-12-31T23:59:59Z', 'fire_at_too_far'],
    ['2026-11-16T08:00:00', 'invalid_fire_at'],
    ['2026-11-16', 'invalid_fire_at'],
    ['2026-11-16 08:00:00Z', 'invalid_fire_at'],
    ['2026-02-30T08:00:00Z', 'invalid_fire_at'],
    ['1800000000', 'invalid_fire_at'],
    ['', 'invalid_fire_at'],
  ] as const)('%j: %s', ([text, code]) => {
    expect(readTiming('fire_at', text, null, NOW)).toEqual(refused(code, 'fire_at'));
  });
});

describe('local_fire_at', () => {
  test.for([
    ['2026-11-15T09:30:00', null, 'UTC', '2026-11-15T09:30:00Z'],
    ['2026-11-15T09:30:00', 'Europe/Berlin', 'Europe/Berlin', '2026-11-15T08:30:00Z'],
    ['2026-11-15T13:30:00', 'Asia/Kolkata', 'Asia/Kolkata', '2026-11-15T08:00:00Z'],
    // A time in a gap moves forward by the gap. In a fold the earlier instant counts.
    ['2027-03-28T02:30:00', 'Europe/Berlin', 'Europe/Berlin', '2027-03-28T01:30:00Z'],
    ['2027-10-31T02:30:00', 'Europe/Berlin', 'Europe/Berlin', '2027-10-31T00:30:00Z'],
    ['2027-10-03T02:15:00', 'Australia/Lord_Howe', 'Australia/Lord_Howe', '2027-10-02T15:45:00Z'],
    ['2027-09-05T00:30:00', 'America/Santiago', 'America/Santiago', '2027-09-05T04:30:00Z'],
  ] as const)('%s in %s', ([text, timezone, inForce, meant]) => {
    const later = at('2026-11-15T07:00:00Z');
    expect(readTiming('local_fire_at', text, timezone, later)).toEqual(oneShot(at(meant), inForce));
  });

  test.for([
    ['2026-11-15T08:00:00', 'UTC', 'fire_at_in_past', 'local_fire_at'],
    ['2026-11-15T08:30:00', 'Europe/Berlin', 'fire_at_in_past', 'local_fire_at'],
    ['2036-11-15T08:00:01', 'UTC', 'fire_at_too_far', 'local_fire_at'],
    ['2027-01-01T00:00:00Z', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['2027-01-01T00:00:00+01:00', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['2027-01-01T00:00', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['2027-01-01T00:00:00.000', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['2027-02-29T00:00:00', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['2027-01-01T24:00:00', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['', 'UTC', 'invalid_duration', 'local_fire_at'],
    ['2027-01-01T00:00:00', 'Europe/Nowhere', 'invalid_cron', 'timezone'],
    ['2027-01-01T00:00:00', '+01:00', 'invalid_cron', 'timezone'],
    ['2027-01-01T00:00:00', '', 'invalid_cron', 'timezone'],
  ] as const)('%j in %j: %s', ([text, timezone, code, param]) => {
    expect(readTiming('local_fire_at', text, timezone, NOW)).toEqual(refused(code, param));
  });
});

describe('cron', () => {
  test.for([
    ['0 9 * * MON-FRI', 'Europe/Berlin', 'Europe/Berlin'],
    ['*/15 * * * *', null, 'UTC'],
    ['0 0 29 2 *', null, 'UTC'],
    ['  0   9 * * 1 ', 'utc', 'utc'],
  ] as const)('%j in %s, returned as it was sent', ([cron, given, timezone]) => {
    expect(readTiming('cron', cron, given, NOW)).toEqual({
      ok: true,
      timing: { kind: 'recurring', cron, timezone },
    });
  });

  test.for([
    ['', null, 'cron'],
    ['* * * *', null, 'cron'],
    ['* * * * * *', null, 'cron'],
    ['@daily', null, 'cron'],
    ['60 * * * *', null, 'cron'],
    ['0 0 L * *', null, 'cron'],
    ['0 0 30 2 *', null, 'cron'],
    ['0 9 * * *', 'Mars/Olympus', 'timezone'],
    ['0 9 * * *', 'Europe/Berlin ', 'timezone'],
    ['no cron', 'no zone', 'cron'],
  ] as const)('%j in %j is refused', ([cron, timezone, param]) => {
    expect(readTiming('cron', cron, timezone, NOW)).toEqual(refused('invalid_cron', param));
  });

  test('an expression that first occurs after the horizon is refused', () => {
    // 2100 is not a leap year. From 2096 on the next 29 February is eight years away; it is never ten years away.
    expect(readTiming('cron', '0 0 29 2 *', null, at('2096-03-01T00:00:00Z')).ok).toBe(true);
    // A 29 February that is a Monday occurs once in 28 years.
    const rare = readTiming('cron', '0 0 29 2 */7', null, at('2032-03-01T00:00:00Z'));
    expect(rare).toEqual(refused('invalid_cron', 'cron'));
  });
});

test('every accepted time is between the floor and the horizon', () => {
  const texts: readonly (readonly [TimingField, string])[] = [
    ['delay', '1s'],
    ['delay', '87600h'],
    ['fire_at', '2030-01-01T00:00:00Z'],
    ['local_fire_at', '2030-01-01T00:00:00'],
  ];
  for (const [field, text] of texts) {
    const read = readTiming(field, text, null, NOW);
    if (!read.ok || read.timing.kind !== 'one_shot') throw new Error('It is a one-shot.');
    expect(read.timing.fireAt).toBeGreaterThanOrEqual(NOW + FLOOR_MS);
    expect(read.timing.fireAt).toBeLessThanOrEqual(horizon(NOW));
    expect(instant(read.timing.fireAt)).toBe(read.timing.fireAt);
  }
});
