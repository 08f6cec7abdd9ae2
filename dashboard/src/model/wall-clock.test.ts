import { expect, it } from 'vitest';
import { toInstant, toWallTime } from './wall-clock.ts';

it.each([
  ['2026-11-15T09:00', 'UTC', '2026-11-15T09:00:00.000Z'],
  ['2026-11-15T09:00', 'Europe/Berlin', '2026-11-15T08:00:00.000Z'],
  ['2026-07-15T09:00', 'America/New_York', '2026-07-15T13:00:00.000Z'],
])('%s in %s is %s', (wall, zone, instant) => {
  expect(toInstant(wall, zone)).toBe(instant);
  expect(toWallTime(instant, zone)).toBe(wall);
});

it('a time that occurs twice is the first one', () => {
  expect(toInstant('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
});

it('a time that the clock skips is moved by the length of the gap', () => {
  expect(toInstant('2027-03-28T02:30', 'Europe/Berlin')).toBe('2027-03-28T01:30:00.000Z');
});

it('a text that is not a time has no instant', () => {
  expect([toInstant('', 'UTC'), toInstant('soon', 'UTC'), toWallTime(null, 'UTC')]).toEqual([null, null, '']);
});
