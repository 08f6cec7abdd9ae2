/** Tests which claims count as skips because of a downtime. */
import { expect, test } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { NEW_GATE } from '#src/domain/gate.ts';
import { instant, MS_PER_MINUTE } from '#src/domain/instant.ts';
import type { Timing } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { HOUR_MS, MINUTE_MS } from '#src/domain/stats.ts';
import { Engine } from '#src/engine/engine.ts';
import { EngineHarness, PARTITION, type ScheduleOptions } from '#test/engine-harness.ts';
import { HOURLY } from '#test/store-contract/builders.ts';

const MINUTELY: Timing = { kind: 'recurring', cron: '* * * * *', timezone: 'UTC' };
const URL = 'https://example.com/hook';

/** Runs the engine, counts the skips, and how many requests were sent. */
async function skipsOf(
  harness: EngineHarness,
  runMs = 2_000,
): Promise<readonly [skips: number, sent: number]> {
  const engine = new Engine(harness, { retentionMs: 0 });
  await engine.start();
  await harness.time.advance(runMs);
  await engine.stop(0);
  const minute = instant(harness.now - (harness.now % MINUTE_MS));
  const hour = instant(harness.now - (harness.now % HOUR_MS));
  const skips = harness.insight.stats(PARTITION, HOUR_MS, hour).downtimeSkips;
  if (runMs < MINUTE_MS) {
    expect(harness.insight.stats(PARTITION, MINUTE_MS, minute).downtimeSkips).toBe(skips);
  }
  return [skips, harness.egress.sent.length];
}

async function afterDowntime(options: ScheduleOptions, downMs = 10 * MS_PER_MINUTE) {
  const harness = await EngineHarness.open();
  await harness.schedule(options);
  await harness.time.advance(downMs);
  return harness;
}

test('a schedule that missed occurrences while nobody ran counts once', async () => {
  await using harness = await afterDowntime({ timing: MINUTELY });
  expect(await skipsOf(harness)).toEqual([1, 1]);
});

test('one that expired meanwhile counts too', async () => {
  await using harness = await afterDowntime({ timing: MINUTELY, ttl: '30s' });
  expect(await skipsOf(harness)).toEqual([1, 0]);
});

test('a late delivery does not count where no occurrence was skipped', async () => {
  await using harness = await afterDowntime({ timing: HOURLY }, 61 * MS_PER_MINUTE);
  expect(await skipsOf(harness)).toEqual([0, 1]);
});

test('punctual deliveries do not count, nor do one-shots', async () => {
  await using harness = await EngineHarness.open();
  await harness.schedule({ timing: MINUTELY });
  await harness.schedule({ inMs: 3_000 });
  expect(await skipsOf(harness, 5 * MS_PER_MINUTE)).toEqual([0, 6]);
});

test('a delivery that the gate deferred does not count', async () => {
  await using harness = await EngineHarness.open();
  await harness.schedule({ timing: MINUTELY, url: URL });
  const openUntil = instant(harness.now + 10 * MS_PER_MINUTE);
  const breaker = { failures: 5, openUntil, windowMs: 3_600_000, probeUntil: null };
  const endpoint = endpointKeyOf({ endpointId: null, url: URL });
  const gate = { ...NEW_GATE, breaker };
  await harness.disk.saveGates([{ partition: PARTITION, endpoint, gate, savedAt: harness.now }]);
  expect(await skipsOf(harness, 11 * MS_PER_MINUTE)).toEqual([0, 2]);
});

test('a delivery that was moved, or resumed, does not count', async () => {
  await using harness = await EngineHarness.open();
  const moved = await harness.schedule({ timing: MINUTELY });
  const paused = await harness.schedule({ timing: MINUTELY });
  const to = { kind: 'one_shot', fireAt: instant(harness.now + 5_000), timezone: null } as const;
  await harness.change(moved.schedule.id, (view) => life.reschedule(view, to, harness.now));
  await harness.change(paused.schedule.id, (view) => life.pause(view, harness.now));
  await harness.time.advance(10 * MS_PER_MINUTE);
  await harness.change(paused.schedule.id, (view) => life.resume(view, harness.now));
  expect(await skipsOf(harness)).toEqual([0, 1]);
});
