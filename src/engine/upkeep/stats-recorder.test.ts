import { describe, expect, test } from 'vitest';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { HOUR_MS, latenessClass, MINUTE_MS } from '#src/domain/stats.ts';
import { Engine } from '#src/engine/engine.ts';
import { BROKEN, EngineHarness, overridden, PARTITION } from '#test/engine-harness.ts';
import { StatsRecorder } from './stats-recorder.ts';

const URL = 'https://example.com/hook';
const ENDPOINT = { partition: PARTITION, endpoint: URL as EndpointKey };

function minute(harness: EngineHarness, at = harness.now) {
  return harness.insight.stats(PARTITION, MINUTE_MS, instant(at - (at % MINUTE_MS)));
}

function hour(harness: EngineHarness) {
  return harness.insight.stats(PARTITION, HOUR_MS, instant(harness.now - (harness.now % HOUR_MS)));
}

/** Counts an attempt to each of as many endpoints. */
function fireAt(stats: StatsRecorder, endpoints: number): void {
  for (let each = 0; each < endpoints; each++) {
    stats.countFired({ partition: PARTITION, endpoint: `https://example.com/${each}` as EndpointKey }, 0);
  }
}

describe('stats', () => {
  test('are counted by minute, by hour and by endpoint, and saved within half a second', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    stats.countFired(ENDPOINT, 3);
    stats.countFired({ ...ENDPOINT, endpoint: 'https://example.org/' as EndpointKey }, 250);
    stats.countEnded(ENDPOINT, 'succeeded');
    await harness.time.advance(499);
    expect(harness.insight.saves).toEqual([]);
    await harness.time.advance(1);
    expect(harness.insight.saves).toEqual([4]);
    for (const stats of [minute(harness), hour(harness)]) {
      expect(stats).toMatchObject({ fired: 2, succeeded: 1, deadLettered: 0, expired: 0, retried: 0 });
      expect(stats.lateness[latenessClass(3)]).toBe(1);
      expect(stats.lateness[latenessClass(250)]).toBe(1);
    }
    expect(harness.insight.endpointStats(PARTITION, URL)).toMatchObject({ fired: 1, succeeded: 1 });
    expect(harness.insight.endpointStats(PARTITION, 'https://example.org/')).toMatchObject({ fired: 1 });
  });

  test('belong to one partition', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    stats.countFired({ ...ENDPOINT, partition: 2 as Partition }, 0);
    await harness.time.advance(500);
    expect(minute(harness).fired).toBe(0);
    expect(harness.insight.endpointStats(2 as Partition, URL).fired).toBe(1);
  });

  test.for([
    ['succeeded', { succeeded: 1 }],
    ['dead_letter', { deadLettered: 1 }],
    ['expired', { expired: 1 }],
    ['retry_scheduled', { retried: 1 }],
    ['paused', { retried: 1 }],
  ] as const)('count %s as its own result', async ([status, expected]) => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    stats.countEnded(ENDPOINT, status);
    await harness.time.advance(500);
    const nothing = { fired: 0, succeeded: 0, deadLettered: 0, expired: 0, retried: 0 };
    expect(minute(harness)).toMatchObject({ ...nothing, ...expected });
  });

  test('that did not change are not saved, and no timer is left', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    stats.countEnded(ENDPOINT, 'canceled');
    expect(harness.time.pending).toBe(0);
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(10_000);
    expect(harness.insight.saves).toEqual([3]);
    expect(harness.time.pending).toBe(0);
  });

  test('are saved with their total, not with the difference', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(600);
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(MINUTE_MS);
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(500);
    expect([minute(harness, instant(harness.now - MINUTE_MS)).fired, minute(harness).fired]).toEqual([2, 1]);
    expect(hour(harness).fired).toBe(3);
  });

  test('are saved when the store is back, also those of past minutes', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    harness.insight.isAway = true;
    stats.countFired(ENDPOINT, 0);
    const began = harness.now;
    await harness.time.advance(MINUTE_MS);
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(MINUTE_MS);
    harness.insight.isAway = false;
    await harness.time.advance(500);
    expect([minute(harness, began).fired, minute(harness, instant(began + MINUTE_MS)).fired]).toEqual([1, 1]);
    expect(hour(harness).fired).toBe(2);
    const warned = harness.log.lines.filter(({ message }) => message === 'stats could not be saved');
    expect(warned).toHaveLength(1);
  });

  test('that change during a save are saved next', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    harness.insight.beforeSave = () => {
      harness.insight.beforeSave = () => {};
      stats.countFired(ENDPOINT, 0);
    };
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(1_000);
    expect(minute(harness).fired).toBe(2);
  });

  test('are not lost when the clock is set back into a saved minute', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    const began = harness.now;
    for (const ms of [MINUTE_MS, -MINUTE_MS]) {
      stats.countFired(ENDPOINT, 0);
      await harness.time.advance(500);
      harness.time.setClock(ms - 500);
    }
    stats.countFired(ENDPOINT, 0);
    await harness.time.advance(500);
    expect([minute(harness, began).fired, minute(harness, instant(began + MINUTE_MS)).fired]).toEqual([2, 1]);
    expect(hour(harness).fired).toBe(3);
    expect(harness.insight.endpointStats(PARTITION, URL).fired).toBe(3);
  });

  test('of many endpoints are saved in batches', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    fireAt(stats, 600);
    await harness.time.advance(1_500);
    expect(harness.insight.saves).toEqual([250, 250, 102]);
    expect(harness.insight.endpointCount).toBe(600);
  });

  test('of different customers are saved at different times if the store works by customer', async () => {
    await using harness = await EngineHarness.open();
    const store = overridden(harness.store, { worksByCustomer: true });
    const stats = new StatsRecorder(overridden(harness, { store }));
    const count = () => {
      for (const partition of [1, 2, 31] as Partition[]) stats.countFired({ ...ENDPOINT, partition }, 0);
    };
    count();
    await harness.time.advance(3_000);
    count();
    // The customers 1 and 31 have their turn together.
    expect(harness.insight.saves).toEqual([6, 3]);
    await harness.time.advance(3_000);
    expect(harness.insight.saves).toEqual([6, 3, 6, 3]);
    expect(harness.time.pending).toBe(0);
  });

  test('of many endpoints are saved in larger batches if the store works by customer', async () => {
    await using harness = await EngineHarness.open();
    const store = overridden(harness.store, { worksByCustomer: true });
    const stats = new StatsRecorder(overridden(harness, { store }));
    fireAt(stats, 1_600);
    await harness.time.advance(6_000);
    expect(harness.insight.saves).toEqual([1_500, 102]);
  });

  test('of endpoints beyond the limit are not counted, but their partition is', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    fireAt(stats, 20_010);
    await stats.stop();
    expect(harness.insight.endpointCount).toBe(20_000);
    expect(hour(harness).fired).toBe(20_010);
  });

  test('of a customer with very many endpoints leave space for other customers', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    fireAt(stats, 20_010);
    const other = 2 as Partition;
    stats.countFired({ partition: other, endpoint: ENDPOINT.endpoint }, 0);
    await harness.time.advance(500);
    expect(harness.insight.stats(other, HOUR_MS, instant(harness.now - (harness.now % HOUR_MS))).fired).toBe(
      1,
    );
    await stats.stop();
    expect(harness.insight.endpointStats(other, URL).fired).toBe(1);
  });

  test('of another hour have the whole space again', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    fireAt(stats, 20_000);
    harness.time.setClock(HOUR_MS);
    stats.countFired(ENDPOINT, 0);
    await stats.stop();
    expect(harness.insight.endpointStats(PARTITION, URL).fired).toBe(1);
  });

  test('are saved at the stop, unless the store refuses them', async () => {
    await using harness = await EngineHarness.open();
    const stats = new StatsRecorder(harness);
    fireAt(stats, 300);
    await stats.stop();
    expect(harness.insight.endpointCount).toBe(300);
    expect(harness.time.pending).toBe(0);
    const unlucky = new StatsRecorder(harness);
    unlucky.countFired(ENDPOINT, 0);
    harness.insight.isAway = true;
    await unlucky.stop();
    expect(harness.time.pending).toBe(0);
  });
});

describe('the engine counts', () => {
  test('every attempt with its result and its lateness', async () => {
    await using harness = await EngineHarness.open();
    const answers = [BROKEN, BROKEN];
    harness.egress.respond = () => answers.shift() ?? { kind: 'answered', statusCode: 204 };
    await harness.schedule({ inMs: 1_000, retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '1s', factor: 1 } });
    await harness.time.advance(1_040);
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    await harness.time.advance(3_000);
    await engine.stop(0);
    expect(hour(harness)).toMatchObject({ fired: 3, retried: 2, succeeded: 1 });
    expect(hour(harness).lateness[latenessClass(40)]).toBe(1);
    expect(hour(harness).lateness[latenessClass(0)]).toBe(2);
    expect(harness.insight.endpointStats(PARTITION, URL)).toMatchObject({
      fired: 3,
      retried: 2,
      succeeded: 1,
    });
  });

  test('dead letters, and deliveries that end without an attempt', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => ({ kind: 'answered', statusCode: 301 });
    await harness.schedule({ inMs: 10_000 });
    await harness.schedule({ inMs: 1_000, ttl: '1s' });
    await harness.time.advance(8_000);
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    await harness.time.advance(5_000);
    await engine.stop(0);
    expect(hour(harness)).toMatchObject({ fired: 1, deadLettered: 1, expired: 1 });
  });

  test('interrupted attempts that were recovered', async () => {
    await using harness = await EngineHarness.open();
    const view = await harness.schedule({ retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 } });
    const ids = {
      attempt: harness.ids.mint('att', harness.now),
      delivery: harness.ids.mint('dlv', harness.now),
    };
    const claimed = life.claim(view.pending, view, 'dead', ids, harness.now);
    await harness.disk.claim([claimed]);
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    await engine.stop(0);
    expect(hour(harness)).toMatchObject({ fired: 0, deadLettered: 1 });
    expect(harness.insight.endpointStats(PARTITION, URL)).toMatchObject({ deadLettered: 1 });
  });
});
