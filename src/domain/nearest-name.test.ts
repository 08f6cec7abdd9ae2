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
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
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
