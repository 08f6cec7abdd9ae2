import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, nearestName } from './nearest-name.ts';

describe('the edit distance', () => {
  test.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['cron', 'cron', 0],
    ['crno', 'cron', 1],
    ['corn', 'cron', 1],
    ['timezon', 'timezone', 1],
    ['ca', 'abc', 3],
    ['kitten', 'sitting', 3],
  ])('of %j and %j is %i', (from, to, distance) => {
    expect(editDistance(from, to, 9)).toBe(distance);
    expect(editDistance(to, from, 9)).toBe(distance);
    expect(editDistance(from, to, distance)).toBe(distance);
    if (distance > 0) expect(editDistance(from, to, distance - 1)).toBeGreaterThan(distance - 1);
  });

  test('does not depend on the bound, and a bound never hides a near name', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, fc.nat(9), (from, to, max) => {
        const distance = editDistance(from, to, 20);
        expect(Math.min(editDistance(from, to, max), max + 1)).toBe(Math.min(distance, max + 1));
        expect(editDistance(to, from, 20)).toBe(distance);
      }),
    );
  });
});

describe('the nearest name', () => {
  const NAMES = ['endpoint', 'endpoint_id', 'method', 'ttl', 'cron', 'fire_at', 'timezone', 'metadata'];

  test.each([
    ['endpont', 'endpoint'],
    ['endpoint_ID', 'endpoint_id'],
    ['endpointId', 'endpoint_id'],
    ['fireAt', 'fire_at'],
    ['TimeZone', 'timezone'],
    ['metdata', 'metadata'],
    ['tll', 'ttl'],
  ])('to %s is %s', (name, nearest) => {
    expect(nearestName(name, NAMES)).toBe(nearest);
  });

  test.each(['', 'id', 'xyz', 'colour', 'notify', 'a'.repeat(65), '__proto__'])('to %j is none', (name) => {
    expect(nearestName(name, NAMES)).toBeNull();
  });

  test('is the first of several at the same distance', () => {
    expect(nearestName('bat', ['cat', 'rat'])).toBe('cat');
  });
});
