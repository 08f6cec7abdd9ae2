/**
 * A healthy customer beside a hostile one, who makes everything as large as possible. The deliveries of the healthy
 * customer are still sent at their instant.
 */
import { describe, expect, test } from 'vitest';
import type { Instant } from '#src/domain/instant.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { EngineHarness, OK, OTHER_PARTITION, type ScheduleOptions } from '#test/engine-harness.ts';
import { Engine } from './engine.ts';

const HUGE_BYTES = 768 * 1_024;
const HEALTHY = 'https://healthy.example';

/** The destinations of the hostile customer hang, those of the healthy customer answer. Returns latenesses. */
async function besides(hostile: (harness: EngineHarness) => Promise<void>): Promise<readonly number[]> {
  await using harness = await EngineHarness.open();
  harness.egress.respond = ({ url }: OutboundRequest) => (url.origin === HEALTHY ? OK : null);
  await hostile(harness);
  const dueAt = new Map<string, Instant | null>();
  for (let n = 0; n < 60; n++) {
    const url = `${HEALTHY}/${n}`;
    const { pending } = await harness.schedule({ url, inMs: 5_000 + 100 * n, payload: { body: 'small' } });
    dueAt.set(url, pending.dueAt);
  }
  await new Engine(harness, { retentionMs: 0 }).start();
  await harness.time.advance(12_000);
  const sent = harness.egress.sent.filter(({ request }) => request.url.origin === HEALTHY);
  expect(sent).toHaveLength(60);
  return sent.map(({ request, at }) => at - (dueAt.get(request.url.href) ?? 0));
}

async function hostile(
  harness: EngineHarness,
  count: number,
  order: (n: number) => ScheduleOptions,
): Promise<void> {
  for (let n = 0; n < count; n++) await harness.schedule({ partition: OTHER_PARTITION, ...order(n) });
}

describe('deliveries are sent at their instant', () => {
  test('beside large bodies to a few paths that hang', async () => {
    const latenesses = await besides((harness) =>
      hostile(harness, 420, (n) => ({ url: `https://hangs.example/${n % 6}`, payloadBytes: HUGE_BYTES })),
    );
    expect(Math.max(...latenesses)).toBeLessThan(50);
  });

  test('beside large bodies to as many hosts that hang', async () => {
    const latenesses = await besides((harness) =>
      hostile(harness, 420, (n) => ({ url: `https://hangs-${n}.example/`, payloadBytes: HUGE_BYTES })),
    );
    expect(Math.max(...latenesses)).toBeLessThan(50);
  });

  test('beside thousands of paths of one host that hangs', async () => {
    const latenesses = await besides((harness) =>
      hostile(harness, 3_000, (n) => ({ url: `https://hangs.example/${n}` })),
    );
    expect(Math.max(...latenesses)).toBeLessThan(50);
  });
});

test('the bodies in flight of a node hold no more bytes than its permits allow', async () => {
  await using harness = await EngineHarness.open();
  harness.egress.respond = () => null;
  for (let n = 0; n < 40; n++) {
    for (const partition of [undefined, OTHER_PARTITION]) {
      await harness.schedule({
        ...(partition === undefined ? {} : { partition }),
        url: `https://hangs-${n}.example/`,
        payloadBytes: 16 * HUGE_BYTES,
      });
    }
  }
  await new Engine(harness, { retentionMs: 0 }).start();
  await harness.time.advance(8_000);
  const claimed = harness.egress.sent.length;
  expect(claimed * 16 * HUGE_BYTES).toBeLessThan(128 * 1_048_576 + 16 * HUGE_BYTES);
  expect(claimed).toBeGreaterThan(8);
});
