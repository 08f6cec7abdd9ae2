import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import type { CandidateDelivery } from '#src/engine/delivery-stages.ts';
import { ConnectionWarmer } from './connection-warmer.ts';

function candidateOf(partition: number, path: string): CandidateDelivery {
  const origin = 'https://shared.example';
  return {
    due: { partition, origin, endpoint: `${origin}/${path}`, dueAt: 5_000 },
    loaded: { gate: null, profile: null, schedule: { rateLimit: null }, delivery: { reserved: false } },
  } as unknown as CandidateDelivery;
}

test('each customer gets connections of its own to a host that several send to', () => {
  const asked: (readonly [number, Partition])[] = [];
  const egress = {
    warm: (_url: URL, count: number, customer: Partition) => void asked.push([count, customer]),
  };
  const warmer = new ConnectionWarmer(egress, { isBreakerOpen: () => false });
  for (const path of ['a', 'b', 'c']) warmer.expect(candidateOf(1, path));
  warmer.expect(candidateOf(2, 'a'));
  warmer.warm();
  expect(asked).toEqual([
    [3, 1],
    [1, 2],
  ]);
});
