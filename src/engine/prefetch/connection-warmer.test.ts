import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/partition.ts';
import { ConnectionWarmer } from './connection-warmer.ts';
import type { Ready } from './prefetcher.ts';

function readyOf(partition: number, path: string): Ready {
  const origin = 'https://shared.example';
  return {
    due: { partition, origin, endpoint: `${origin}/${path}`, dueAt: 5_000 },
    work: { gate: null, profile: null, schedule: { rateLimit: null }, delivery: { reserved: false } },
  } as unknown as Ready;
}

test('each customer gets connections of its own to a host that several send to', () => {
  const asked: (readonly [number, Partition])[] = [];
  const egress = {
    warm: (_url: URL, count: number, customer: Partition) => void asked.push([count, customer]),
  };
  const warmth = new ConnectionWarmer(egress, { isBreakerOpen: () => false });
  for (const path of ['a', 'b', 'c']) warmth.expect(readyOf(1, path));
  warmth.expect(readyOf(2, 'a'));
  warmth.rise();
  expect(asked).toEqual([
    [3, 1],
    [1, 2],
  ]);
});
