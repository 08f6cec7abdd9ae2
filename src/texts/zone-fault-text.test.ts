import { describe, expect, test } from 'vitest';
import { isZone } from '#src/domain/zone.ts';
import { nearestZone, zoneFaultText } from './zone-fault-text.ts';

describe('the zone that was meant by', () => {
  test.each([
    ['Europe/Berln', 'Europe/Berlin'],
    ['Eurpoe/Berlin', 'Europe/Berlin'],
    ['America/New York', 'America/New_York'],
    ['america/newyork', 'America/New_York'],
    ['Berlin', 'Europe/Berlin'],
    [' Tokio ', 'Asia/Tokyo'],
    ['Asia/Kolkatta', 'Asia/Kolkata'],
    ['Europe/Kyiw', 'Europe/Kyiv'],
    ['PST', 'America/Los_Angeles'],
    ['cest', 'Europe/Berlin'],
    ['US/Pacfic', 'US/Pacific'],
    ['Etc/UTCC', 'Etc/UTC'],
    ['Z', 'UTC'],
  ])('%s is %s', (text, zone) => {
    expect(nearestZone(text)).toBe(zone);
    expect(isZone(zone)).toBe(true);
  });

  test.each(['', 'Mars/Base', 'x', '__proto__', 'constructor', 'a'.repeat(5_000)])(
    '%.30j is unknown',
    (text) => {
      expect(nearestZone(text)).toBeNull();
    },
  );
});

test.each([
  [5, 'timezone must be an IANA time zone such as "Europe/Berlin", not the number 5.'],
  ['', 'timezone must be an IANA time zone such as "Europe/Berlin", or be left out for UTC. It is empty.'],
  [
    'UTC+2',
    'timezone must be an IANA time zone such as "Europe/Berlin". "UTC+2" is an offset: name the place, whose clock may change.',
  ],
  ['Mars/Base', 'timezone "Mars/Base" is not an IANA time zone. Write a name such as "Europe/Berlin".'],
])('%j', (value, message) => {
  expect(zoneFaultText(value, 'timezone')).toBe(message);
});
