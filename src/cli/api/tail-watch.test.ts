import { describe, expect, test } from 'vitest';
import type { Delivery } from '#sdk/index.ts';
import { formatInstant, instant } from '#src/domain/instant.ts';
import { WATCHED_MAX, Watch } from './tail-watch.ts';

const NOW_MS = 1_800_000_000_000;

function delivery(id: string, status: Delivery['status'], dueMs: number | null, attempts = 0): Delivery {
  return {
    id,
    status,
    next_fire_at: dueMs === null ? null : formatInstant(instant(dueMs)),
    attempt_count: attempts,
  } as Delivery;
}

function ids(watch: Watch, nowMs: number, max = 100): readonly string[] {
  return watch.due(nowMs, max).map(({ id }) => id);
}

describe('a watched delivery is checked', () => {
  test('when its instant has passed: the longest overdue first, up to the maximum', () => {
    const watch = new Watch();
    watch.observe(delivery('later', 'scheduled', NOW_MS + 5_000), 0, NOW_MS);
    watch.observe(delivery('second', 'scheduled', NOW_MS + 2_000), 0, NOW_MS);
    watch.observe(delivery('first', 'retry_scheduled', NOW_MS + 1_000), 1, NOW_MS);
    expect(ids(watch, NOW_MS)).toEqual([]);
    expect(ids(watch, NOW_MS + 2_000)).toEqual(['first', 'second']);
    expect(ids(watch, NOW_MS + 9_000, 1)).toEqual(['first']);
  });

  test('at once if it is being sent or has ended, and not while it is paused', () => {
    const watch = new Watch();
    watch.observe(delivery('claimed', 'claimed', null), 0, NOW_MS);
    watch.observe(delivery('ended', 'succeeded', null), 0, NOW_MS);
    watch.observe(delivery('paused', 'paused', null), 0, NOW_MS);
    expect(ids(watch, NOW_MS)).toEqual(['claimed', 'ended']);
  });

  test('at its new instant after a reschedule, and its reported attempts are kept', () => {
    const watch = new Watch();
    watch.observe(delivery('d', 'scheduled', NOW_MS + 60_000), 3, NOW_MS);
    watch.observe(delivery('d', 'scheduled', NOW_MS + 1_000), 0, NOW_MS);
    expect(ids(watch, NOW_MS + 1_000)).toEqual(['d']);
    expect(watch.get('d')?.attemptsReported).toBe(3);
  });

  test('at once if it was resumed after its instant', () => {
    const watch = new Watch();
    for (const id of ['listed', 'gone']) watch.observe(delivery(id, 'scheduled', NOW_MS + 1_000), 0, NOW_MS);
    for (const id of ['listed', 'gone']) watch.observe(delivery(id, 'paused', null), 0, NOW_MS);
    expect(ids(watch, NOW_MS + 60_000)).toEqual([]);
    watch.observe(delivery('listed', 'scheduled', NOW_MS + 1_000), 0, NOW_MS + 60_000);
    expect(ids(watch, NOW_MS + 60_000)).toEqual(['listed']);
    watch.checkUnseen(NOW_MS + 59_000, NOW_MS + 60_000);
    expect(ids(watch, NOW_MS + 60_000)).toContain('gone');
  });

  test('not more often just because a list shows it as overdue', () => {
    const watch = new Watch();
    watch.observe(delivery('d', 'scheduled', NOW_MS), 0, NOW_MS);
    watch.recordCheck(delivery('d', 'scheduled', NOW_MS), 0, NOW_MS);
    watch.observe(delivery('d', 'scheduled', NOW_MS), 0, NOW_MS + 1);
    expect(ids(watch, NOW_MS + 1)).toEqual([]);
    watch.observe(delivery('d', 'paused', null), 0, NOW_MS + 2);
    watch.observe(delivery('d', 'scheduled', NOW_MS), 0, NOW_MS + 3);
    expect(ids(watch, NOW_MS + 3)).toEqual(['d']);
  });
});

test('a delivery that is gone from the lists is checked before it is due', () => {
  const watch = new Watch();
  for (const id of ['gone', 'there']) watch.observe(delivery(id, 'scheduled', NOW_MS + 60_000), 0, NOW_MS);
  watch.observe(delivery('there', 'scheduled', NOW_MS + 60_000), 0, NOW_MS + 2_000);
  watch.checkUnseen(NOW_MS + 1_000, NOW_MS + 2_000);
  expect(ids(watch, NOW_MS + 2_000)).toEqual(['gone']);
});

test('a delivery with a new attempt is checked now, not when it is due again', () => {
  const watch = new Watch();
  watch.observe(delivery('d', 'scheduled', NOW_MS), 0, NOW_MS);
  watch.observe(delivery('d', 'retry_scheduled', NOW_MS + 60_000, 1), 1, NOW_MS);
  expect(ids(watch, NOW_MS)).toEqual(['d']);
});

describe('after a check', () => {
  test('an ended delivery is forgotten, and a paused one is kept', () => {
    const watch = new Watch();
    for (const id of ['ended', 'paused']) watch.observe(delivery(id, 'scheduled', NOW_MS), 0, NOW_MS);
    watch.recordCheck(delivery('ended', 'dead_letter', null, 1), 1, NOW_MS);
    watch.recordCheck(delivery('paused', 'paused', null, 1), 1, NOW_MS);
    expect([watch.size, watch.get('paused')?.attemptsReported]).toEqual([1, 1]);
    expect(ids(watch, NOW_MS + 60_000)).toEqual([]);
  });

  test('a delivery that will be retried is checked when it is due, one in flight in the next round', () => {
    const watch = new Watch();
    watch.recordCheck(delivery('retried', 'retry_scheduled', NOW_MS + 10_000, 1), 1, NOW_MS);
    watch.recordCheck(delivery('sent', 'claimed', null, 1), 0, NOW_MS);
    expect(ids(watch, NOW_MS)).toEqual(['sent']);
    expect(ids(watch, NOW_MS + 10_000)).toEqual(['sent', 'retried']);
  });

  test('an overdue delivery that still waits is checked less and less often', () => {
    const watch = new Watch();
    const waits: number[] = [];
    let nowMs = NOW_MS;
    watch.observe(delivery('d', 'scheduled', NOW_MS), 0, nowMs);
    for (let checks = 0; checks < 7; checks++) {
      watch.recordCheck(delivery('d', 'scheduled', NOW_MS), 0, nowMs);
      const nextMs = watch.get('d')?.checkAtMs ?? 0;
      waits.push(nextMs - nowMs);
      nowMs = nextMs;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });
});

test('the watch has a maximum, and the deliveries that are due last are dropped', () => {
  const watch = new Watch();
  for (let i = 0; i < WATCHED_MAX + 50; i++)
    watch.observe(delivery(`d${i}`, 'scheduled', NOW_MS + i), 0, NOW_MS);
  expect(watch.trim()).toBe(true);
  expect(watch.size).toBe(WATCHED_MAX);
  expect(watch.get(`d${WATCHED_MAX}`)).toBeUndefined();
  expect(watch.get('d0')).toBeDefined();
  expect(watch.trim()).toBe(false);
});
