import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { type EndpointKey, endpointOf } from '#src/domain/endpoint-key.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { cachedEndpoint, cachedEndpointKey, ENDPOINTS_MAX, endpointRefKey } from './endpoint-cache.ts';

const PROFILE = 'ep_1' as EndpointId;

function ref(partition: number, endpoint: string): EndpointRef {
  return { partition: partition as Partition, endpoint: endpoint as EndpointKey };
}

test('the cache answers what the domain computes, also for more URLs than it holds', () => {
  const urls = Array.from({ length: 2 * ENDPOINTS_MAX }, (_, n) => `https://example.com/${n % 1_500}?q=${n}`);
  for (const url of [...urls, ...urls.toReversed(), 'no url', '\ud800', '\ufffd', '', 'x'.repeat(2_000)]) {
    for (const endpointId of [null, PROFILE]) {
      const target = { endpointId, url };
      expect(cachedEndpoint(target)).toEqual(endpointOf(target));
      expect(cachedEndpointKey(target)).toBe(endpointOf(target).endpoint);
    }
  }
});

test('customers who send to the same endpoint have different keys', () => {
  for (let round = 0; round < 3; round++) {
    expect(endpointRefKey(ref(1, 'https://example.com/'))).toBe('1/https://example.com/');
    expect(endpointRefKey(ref(2, 'https://example.com/'))).toBe('2/https://example.com/');
  }
});

test('a URL that was cut out of a large text does not keep that text in memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 200; at++) {
    const large = Buffer.from(`https://cut.example/${at}`.padEnd(1_000_000, ' ')).toString('latin1');
    const url = large.slice(0, 23).trimEnd();
    expect(endpointRefKey(ref(1, cachedEndpoint({ endpointId: null, url }).endpoint))).toBe(`1/${url}`);
    expect(endpointRefKey(ref(2, large.slice(0, 23)))).toBe(`2/${large.slice(0, 23)}`);
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
});
