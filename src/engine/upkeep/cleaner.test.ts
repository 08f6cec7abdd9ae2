import { describe, expect, test } from 'vitest';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Gate, NEW_GATE } from '#src/domain/gate.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant, MS_PER_DAY } from '#src/domain/instant.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { pause } from '#src/ports/system.ts';
import { ClusterHarness } from '#test/cluster-harness.ts';
import { EngineHarness, PARTITION } from '#test/engine-harness.ts';
import { SUCCESS } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from '#test/store-contract/everything.ts';
import { Cleaner } from './cleaner.ts';

const HOUR_MS = 3_600_000;

/** Stores a one-shot schedule whose delivery succeeded now. */
async function delivered(harness: EngineHarness): Promise<DeliveryId> {
  const view = await harness.schedule({ inMs: 1_000 });
  const { build } = harness;
  const claimed = build.claim(view.pending, view);
  expect(await harness.disk.claim([claimed])).toEqual(['done']);
  expect(await harness.disk.settle([build.settle(claimed, view.schedule, SUCCESS)])).toEqual(['done']);
  return view.pending.id;
}

async function counts(harness: EngineHarness): Promise<readonly [deliveries: number, schedules: number]> {
  const page = { before: null, limit: 1_000 };
  const deliveries = await harness.disk.listDeliveries(PARTITION, ALL_DELIVERIES, page);
  const { items: schedules } = await harness.disk.listSchedules(PARTITION, ALL_SCHEDULES, page);
  return [deliveries.length, schedules.length];
}

describe('history', () => {
  test('is removed after its retention, with its attempts', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, HOUR_MS);
    const id = await delivered(harness);
    await harness.schedule({ inMs: 10 * HOUR_MS });
    cleaner.start();
    await harness.time.advance(HOUR_MS);
    expect(await counts(harness)).toEqual([2, 2]);
    await harness.time.advance(61_000);
    expect(await counts(harness)).toEqual([1, 1]);
    expect(await harness.attempts(id)).toEqual([]);
    await cleaner.stop();
  });

  test('is kept forever with a retention of 0', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, 0);
    await delivered(harness);
    harness.time.setClock(100 * 365 * MS_PER_DAY);
    cleaner.start();
    await harness.time.advance(10 * 60_000);
    expect(await counts(harness)).toEqual([1, 1]);
    expect(harness.faults.times('prune')).toBeGreaterThan(0);
    await cleaner.stop();
  });

  test('is kept when the retention is longer than the time since 1970', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, Number.MAX_SAFE_INTEGER);
    await delivered(harness);
    cleaner.start();
    await harness.time.advance(10_000);
    expect(await counts(harness)).toEqual([1, 1]);
    expect(harness.log.lines).toEqual([]);
    await cleaner.stop();
  });

  test('is removed soon after a short retention', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, 2_000);
    cleaner.start();
    await harness.time.advance(500);
    await delivered(harness);
    await harness.time.advance(2_000);
    expect(await counts(harness)).toEqual([1, 1]);
    await harness.time.advance(2_100);
    expect(await counts(harness)).toEqual([0, 0]);
    await cleaner.stop();
  });
});

describe('with every retention', () => {
  test.for([0, 90 * MS_PER_DAY])(
    '%i: idempotency receipts are kept for 24 hours, unused gates for 30 days',
    async (ms) => {
      await using harness = await EngineHarness.open();
      const receipt = harness.build.receipt();
      await harness.disk.addReceipt(PARTITION, receipt);
      const view = await harness.schedule({ inMs: 100 * MS_PER_DAY });
      const endpoint = 'https://example.com/hook' as EndpointKey;
      const gate: Gate = { ...NEW_GATE, breaker: { ...NEW_GATE.breaker, failures: 1 } };
      await harness.disk.saveGates([{ partition: PARTITION, endpoint, gate, savedAt: harness.now }]);
      const kept = async () => [
        (await harness.disk.findReceipt(PARTITION, receipt.key, instant(0))) !== null,
        (await harness.disk.loadDeliveries([view.pending]))[0]?.gate !== null,
      ];
      harness.time.setClock(MS_PER_DAY - 2_000);
      const first = new Cleaner(harness, OWNS_EVERY_SLOT, ms);
      first.start();
      await harness.time.advance(1_500);
      expect(await kept()).toEqual([true, true]);
      await harness.time.advance(60_000);
      expect(await kept()).toEqual([false, true]);
      await first.stop();
      harness.time.setClock(29 * MS_PER_DAY - HOUR_MS - 200_000);
      const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, ms);
      cleaner.start();
      await harness.time.advance(60_000);
      expect(await kept()).toEqual([false, true]);
      await harness.time.advance(HOUR_MS + 200_000);
      expect(await kept()).toEqual([false, false]);
      await cleaner.stop();
    },
  );
});

describe('the cleaner', () => {
  async function withDelivered(harness: EngineHarness, count: number): Promise<Cleaner> {
    for (let each = 0; each < count; each++) await delivered(harness);
    harness.time.setClock(2 * HOUR_MS);
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, HOUR_MS);
    cleaner.start();
    await harness.time.advance(999);
    expect(await counts(harness)).toEqual([count, count]);
    return cleaner;
  }

  test('removes 25 rows, pauses for 10 ms, then removes twice as many, up to 200', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = await withDelivered(harness, 600);
    await harness.time.advance(1);
    expect(await counts(harness)).toEqual([575, 600]);
    await harness.time.advance(9);
    expect(await counts(harness)).toEqual([575, 600]);
    for (const left of [525, 425, 225, 25]) {
      await harness.time.advance(left === 525 ? 1 : 10);
      expect(await counts(harness)).toEqual([left, 600]);
    }
    await harness.time.advance(1_000);
    expect(await counts(harness)).toEqual([0, 0]);
    await cleaner.stop();
  });

  test.for([
    [false, [25, 50, 100, 200, 100, 50, 25]],
    [true, [250, 500, 1_000, 2_000, 1_000, 500, 250]],
  ] as const)(
    'removes few rows at a time while that takes long, and ten times as many if the store works by customer: %s',
    async ([worksByCustomer, expected]) => {
      await using harness = await EngineHarness.open();
      const limits: number[] = [];
      /** The larger the batch, the longer it takes. */
      const msEach = [0.2, 0.2, 0.2, 2, 2, 2, 2];
      const store = {
        ...harness.store,
        worksByCustomer,
        prune: async (_: unknown, __: unknown, limit: number) => {
          const ms = msEach[limits.length];
          if (ms === undefined) return 0;
          limits.push(limit);
          await pause(harness.timers, limit * ms);
          return limit;
        },
      };
      const slow = new Proxy(harness, {
        get: (target, name) => (name === 'store' ? store : Reflect.get(target, name)),
      });
      const cleaner = new Cleaner(slow, OWNS_EVERY_SLOT, HOUR_MS);
      cleaner.start();
      await harness.time.advance(20_000);
      expect(limits).toEqual(expected);
      await cleaner.stop();
    },
  );

  test.for([
    ['ahead, and back after a while, removes nothing', true, [1, 1]],
    ['ahead for good is trusted after an hour', false, [0, 0]],
  ] as const)('a clock that is set %s', async ([, isSetBack, left]) => {
    await using harness = await EngineHarness.open();
    await delivered(harness);
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, 90 * MS_PER_DAY);
    cleaner.start();
    await harness.time.advance(120_000);
    harness.time.setClock(100 * MS_PER_DAY);
    await harness.time.advance(3_000_000);
    expect(await counts(harness)).toEqual([1, 1]);
    if (isSetBack) harness.time.setClock(-100 * MS_PER_DAY);
    await harness.time.advance(1_000_000);
    expect(await counts(harness)).toEqual(left);
    await cleaner.stop();
  });

  test('stops after the batch in progress', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = await withDelivered(harness, 60);
    await harness.time.advance(1);
    const stopped = cleaner.stop();
    await harness.time.advance(25);
    await stopped;
    expect(await counts(harness)).toEqual([35, 60]);
    await harness.time.advance(10 * 60_000);
    expect(await counts(harness)).toEqual([35, 60]);
    expect(harness.time.pending).toBe(0);
  });

  test('tries again in the next round when the store is away', async () => {
    await using harness = await EngineHarness.open();
    harness.faults.set('refuses', 'prune');
    const cleaner = await withDelivered(harness, 1);
    await harness.time.advance(1);
    expect(harness.log.lines).toMatchObject([{ level: 'warn' }]);
    harness.faults.clear();
    await harness.time.advance(60_000);
    expect(await counts(harness)).toEqual([0, 0]);
    await cleaner.stop();
  });

  test.for([
    ['stats by hour as long as history', 30 * MS_PER_DAY, 30 * MS_PER_DAY + HOUR_MS],
    ['the current hour also with a shorter retention', 60_000, 60_000 + HOUR_MS],
  ] as const)('keeps stats by minute for a week, %s', async ([, retentionMs, keptMs]) => {
    await using harness = await EngineHarness.open();
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, retentionMs);
    cleaner.start();
    await harness.time.advance(1_000);
    const { now } = harness;
    expect(harness.insight.pruned).toEqual([[now - 7 * MS_PER_DAY, now - keptMs]]);
    await cleaner.stop();
  });

  test('removes stats in batches with pauses, and stops in between', async () => {
    await using harness = await EngineHarness.open();
    harness.insight.pruneCalls = 10;
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, 0);
    cleaner.start();
    await harness.time.advance(1_000);
    const begun = harness.insight.pruned.length;
    expect(begun).toBeLessThan(10);
    await harness.time.advance(20);
    expect(harness.insight.pruned).toHaveLength(begun + 2);
    const stopped = cleaner.stop();
    await harness.time.advance(1_000);
    await stopped;
    expect(harness.insight.pruned).toHaveLength(begun + 2);
  });

  test('keeps stats by hour forever when history is kept forever', async () => {
    await using harness = await EngineHarness.open();
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, 0);
    cleaner.start();
    await harness.time.advance(1_000);
    expect(harness.insight.pruned.map(([, hoursBefore]) => hoursBefore)).toEqual([0]);
    await cleaner.stop();
  });

  test('stops at once when it was never started', async () => {
    await using harness = await EngineHarness.open();
    await new Cleaner(harness, OWNS_EVERY_SLOT, HOUR_MS).stop();
    await harness.time.advance(HOUR_MS);
    expect(harness.faults.asked).toEqual([]);
  });
});

describe('a process that starts with a clock far ahead of the last time that was stored', () => {
  const RETENTION_MS = 90 * MS_PER_DAY;

  async function ranUntilNow(harness: EngineHarness): Promise<void> {
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, RETENTION_MS);
    cleaner.start();
    await harness.time.advance(120_000);
    await cleaner.stop();
  }

  /** Starts another process, which runs for this time. */
  async function runs(harness: EngineHarness, ms: number): Promise<void> {
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, RETENTION_MS);
    cleaner.start();
    await harness.time.advance(ms);
    await cleaner.stop();
  }

  test.for([
    ['a clock that is a year ahead', 365 * MS_PER_DAY],
    ['a service that was down for a hundred days', 100 * MS_PER_DAY],
  ] as const)('%s removes nothing for an hour, and then old history', async ([, ms]) => {
    await using harness = await EngineHarness.open();
    await delivered(harness);
    await ranUntilNow(harness);
    harness.time.setClock(ms);
    const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, RETENTION_MS);
    cleaner.start();
    await harness.time.advance(HOUR_MS);
    expect(await counts(harness)).toEqual([1, 1]);
    expect(harness.log.lines).toMatchObject([
      { message: 'the clock is far ahead of what was seen last', fields: { ahead_ms: ms + 60_000 } },
    ]);
    await harness.time.advance(61_000);
    expect(await counts(harness)).toEqual([0, 0]);
    await cleaner.stop();
  });

  test('trusts the clock after an hour, also with restarts in between', async () => {
    await using harness = await EngineHarness.open();
    await delivered(harness);
    await ranUntilNow(harness);
    harness.time.setClock(365 * MS_PER_DAY);
    for (let minutes = 0; minutes < 60; minutes += 10) {
      expect(await counts(harness)).toEqual([1, 1]);
      await runs(harness, 5 * 60_000);
      await harness.time.advance(5 * 60_000);
    }
    expect(await counts(harness)).toEqual([1, 1]);
    await runs(harness, 61_000);
    expect(await counts(harness)).toEqual([0, 0]);
  });

  test('removes nothing when the clock is corrected within the hour', async () => {
    await using harness = await EngineHarness.open();
    await delivered(harness);
    await ranUntilNow(harness);
    harness.time.setClock(365 * MS_PER_DAY);
    await runs(harness, 30 * 60_000);
    harness.time.setClock(-365 * MS_PER_DAY);
    await runs(harness, 2 * HOUR_MS);
    expect(await counts(harness)).toEqual([1, 1]);
  });

  test('has its distrust stored, so that the next upkeep node shares it', async () => {
    await using harness = await EngineHarness.open();
    await delivered(harness);
    await ranUntilNow(harness);
    harness.time.setClock(365 * MS_PER_DAY);
    await runs(harness, 30 * 60_000);
    harness.node = 'node-2';
    await runs(harness, 29 * 60_000);
    expect(await counts(harness)).toEqual([1, 1]);
  });
});

test('the clock is read also while a removal takes long', async () => {
  await using harness = await EngineHarness.open();
  harness.insight.pruneCalls = 1_000_000;
  const cleaner = new Cleaner(harness, OWNS_EVERY_SLOT, 90 * MS_PER_DAY);
  cleaner.start();
  await harness.time.advance(20 * 60_000);
  expect(await harness.disk.findTrustedTime()).toMatchObject({ believedFrom: null });
  harness.time.setClock(365 * MS_PER_DAY);
  await harness.time.advance(60_000);
  expect((await harness.disk.findTrustedTime())?.believedFrom).not.toBeNull();
  const stopped = cleaner.stop();
  await harness.time.advance(100);
  await stopped;
});

test('of several nodes, only the upkeep node removes history', async () => {
  await using cluster = await ClusterHarness.open();
  const nodes = await cluster.startNodes('a', 'b', 'c');
  const pruned = () => nodes.map(({ faults }) => faults.times('prune'));
  const before = pruned();
  await cluster.time.advance(120_000);
  const first = (await cluster.slots())[0]?.owner;
  const cleaned = nodes.filter((_, index) => (pruned()[index] ?? 0) > (before[index] ?? 0));
  expect(cleaned.map(({ node }) => node)).toEqual([first]);
});
