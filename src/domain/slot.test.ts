import { describe, expect, test } from 'vitest';
import type { EndpointKey } from './endpoint-key.ts';
import type { Partition } from './project.ts';
import { ALL_SLOTS, SLOTS, slotOf } from './slot.ts';

function slot(partition: number, endpoint: string): number {
  return slotOf(partition as Partition, endpoint as EndpointKey);
}

describe('the slot of an endpoint', () => {
  test.for([
    [1, 'https://example.com/hook', 132],
    [2, 'https://example.com/hook', 239],
    [1, 'ep_01JAHC5Y9ZQ2M8W3N4R6T7V8XB', 55],
    [9_007_199_254_740_991, '', 157],
    [1, 'https://example.com/ö/\u{1f600}', 254],
  ] as const)(
    'of partition %i, %s, is stored with deliveries and never changes',
    ([partition, endpoint, known]) => {
      expect(slot(partition, endpoint)).toBe(known);
    },
  );

  test('is one of all slots, each as often as the others', () => {
    const counts = new Map(ALL_SLOTS.map((one): [number, number] => [one, 0]));
    const each = 200;
    for (let i = 0; i < SLOTS * each; i++) {
      const found = slot(1 + (i % 7), `https://example.com/customers/${i}`);
      counts.set(found, (counts.get(found) ?? Number.NaN) + 1);
    }
    expect(counts.size).toBe(SLOTS);
    // The limit is six standard deviations on both sides.
    const spread = 6 * Math.sqrt(each);
    expect(Math.min(...counts.values())).toBeGreaterThan(each - spread);
    expect(Math.max(...counts.values())).toBeLessThan(each + spread);
  });

  test('differs between customers that send to the same URL', () => {
    const slots = Array.from({ length: 100 }, (_, partition) => slot(partition, 'https://example.com/hook'));
    expect(new Set(slots).size).toBeGreaterThan(60);
  });
});
