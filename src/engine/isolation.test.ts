/**
 * A healthy customer beside a hostile one, who makes everything as large as possible. The deliveries of the healthy
 * customer are still sent at their instant.
 */
import { describe, expect, test } from 'vitest';
import type { Instant } from '#src/domain/instant.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import {
  EngineHarness,
  OK,
  OTHER_PARTITION,
  overridden,
  type ScheduleOptions,
} from '#test/engine-harness.ts';
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
        payload: { body: 'as if it were large' },
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

test('where the store works by customer, one whose rows are out of reach costs no other an attempt', async () => {
  await using harness = await EngineHarness.open();
  const orders = Array.from({ length: 20 }, (_, n) => ({
    url: `${HEALTHY}/${n}`,
    payload: { body: 'small' },
  }));
  const healthy = await Promise.all(orders.map((order) => harness.schedule(order)));
  await hostile(harness, 20, (n) => ({ url: `https://other.example/${n}`, payload: { body: 'small' } }));
  /** A call about rows of the other customer stores all others of its rows, and fails. */
  const partly = async <Row extends { readonly delivery: { readonly partition: number } }, Answer>(
    rows: readonly Row[],
    call: (rows: readonly Row[]) => Promise<Answer>,
  ): Promise<Answer> => {
    const reached = rows.filter(({ delivery }) => delivery.partition !== OTHER_PARTITION);
    const answer = await call(reached);
    if (reached.length < rows.length) throw new StoreUnavailable('away');
    return answer;
  };
  const { store } = harness;
  const overrides: Partial<typeof store> = {
    worksByCustomer: true,
    claim: (writes, fence) => partly(writes, (reached) => store.claim(reached, fence)),
    settle: (writes) => partly(writes, (reached) => store.settle(reached)),
  };
  await new Engine(overridden(harness, { store: overridden(store, overrides) }), { retentionMs: 0 }).start();
  await harness.time.advance(20_000);
  const states = await Promise.all(healthy.map(({ pending }) => harness.delivery(pending.id)));
  const ended = states.map(({ status, attemptCount }) => `${status} after ${attemptCount}`);
  expect(new Set(ended)).toEqual(new Set(['succeeded after 1']));
});
