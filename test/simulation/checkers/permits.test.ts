import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import { Permits, type Punctuality } from './permits.ts';

const ACME = 1 as Partition;
const GLOBEX = 2 as Partition;

function to(url: string, partition = ACME): Pick<Delivery, 'partition' | 'target'> {
  return { partition, target: { url, method: 'POST', endpointId: null, endpointVersion: null } };
}

function heldUntilFull(permits: Permits, url: string, punctuality: Punctuality, bodyBytes = 0): number {
  let held = 0;
  for (; !permits.isFull(to(url), punctuality); held++) {
    permits.hold(
      `${url} ${punctuality} ${held}`,
      { delivery: to(url), kinds: [punctuality], bodyBytes, node: 'node' },
      0,
    );
  }
  return held;
}

describe('an endpoint that has the service to itself', () => {
  test.each<[Punctuality, number]>([
    ['in_time', 109],
    ['overdue', 54],
  ])('is nearly full of %s deliveries with %d requests in flight', (punctuality, requests) => {
    expect(heldUntilFull(new Permits(2_048), 'https://a.example/', punctuality)).toBe(requests);
  });

  test('is nearly full with a few large bodies: each takes a permit for every 64 KiB', () => {
    expect(heldUntilFull(new Permits(2_048), 'https://a.example/', 'in_time', 768 * 1_024)).toBe(10);
  });

  test('counts overdue deliveries and deliveries in time apart', () => {
    const permits = new Permits(2_048);
    heldUntilFull(permits, 'https://a.example/', 'overdue');
    expect(permits.isFull(to('https://a.example/'), 'in_time')).toBe(false);
  });
});

test('a full endpoint leaves other endpoints and other customers their permits', () => {
  const permits = new Permits(2_048);
  heldUntilFull(permits, 'https://a.example/', 'in_time');
  expect(permits.isFull(to('https://a.example/two'), 'in_time')).toBe(false);
  expect(permits.isFull(to('https://a.example/', GLOBEX), 'in_time')).toBe(false);
});

test('an endpoint was full until one of its permits was released', () => {
  const permits = new Permits(2_048);
  const endpoint = to('https://a.example/');
  heldUntilFull(permits, 'https://a.example/', 'in_time');
  permits.release('https://a.example/ in_time 0', 500);
  permits.release('https://a.example/ in_time 1', 900);
  expect(permits.isFull(endpoint, 'in_time')).toBe(false);
  expect(permits.wasFullSince(endpoint, 'in_time', 500)).toBe(true);
  expect(permits.wasFullSince(endpoint, 'in_time', 501)).toBe(false);
});

test('an endpoint was full until a permit of another endpoint of its host was released', () => {
  const permits = new Permits(256);
  const large = { kinds: ['in_time'] as const, bodyBytes: 768 * 1_024, node: 'node' };
  permits.hold('one', { delivery: to('https://a.example/one'), ...large }, 0);
  permits.hold('two', { delivery: to('https://a.example/two'), ...large }, 0);
  permits.release('two', 500);
  expect(permits.isFull(to('https://a.example/one'), 'in_time')).toBe(false);
  expect(permits.wasFullSince(to('https://a.example/one'), 'in_time', 500)).toBe(true);
});
