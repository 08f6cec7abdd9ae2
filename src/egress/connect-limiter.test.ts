/** Tests when each connection may be opened, by customer and host. */
import { describe, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { ACTIVE_MS } from '#src/ports/customer-activity.ts';
import { ScriptedTimers } from '#test/egress/harness.ts';
import {
  ConnectLimiter,
  type ConnectPermit,
  OPENING_PER_HOST_MAX,
  OPENING_PER_HOST_MAX_ALONE,
  PAUSE_MS,
  STARTED_PER_TICK_MAX,
  STARTED_PER_TICK_MAX_ALONE,
} from './connect-limiter.ts';

const LARGE = 1 as Partition;
const SMALL = 2 as Partition;

class AgingTimers extends ScriptedTimers {
  now = 0;
  override readonly elapsed = () => this.now;
}

function setUp() {
  const timers = new AgingTimers();
  const limiter = new ConnectLimiter(timers);
  const granted: string[] = [];
  const acquire = (customer: Partition, origin: string): ConnectPermit => {
    const permit = limiter.acquire(customer, origin);
    void permit.granted.then(() => granted.push(`${customer} ${origin}`));
    return permit;
  };
  const acquireMany = (count: number, customer: Partition, origin: string) =>
    Array.from({ length: count }, () => acquire(customer, origin));
  /** One tick of the event loop, or the pause until the next one. */
  const tick = async () => {
    timers.fire(0);
    timers.fire(PAUSE_MS);
    await Promise.resolve();
  };
  return { timers, limiter, granted, acquire, acquireMany, tick };
}

describe('permits to open a connection', () => {
  test('are granted at once while there are few', async () => {
    const { granted, acquireMany, tick } = setUp();
    acquireMany(STARTED_PER_TICK_MAX, LARGE, 'a');
    await Promise.resolve();
    expect(granted).toHaveLength(STARTED_PER_TICK_MAX);
    await tick();
    acquireMany(1, LARGE, 'a');
    await Promise.resolve();
    expect(granted).toHaveLength(STARTED_PER_TICK_MAX + 1);
  });

  test('are granted a few in each tick while several customers are active, and more for one alone', async () => {
    for (const [customers, few] of [
      [[LARGE], STARTED_PER_TICK_MAX_ALONE],
      [[LARGE, SMALL], STARTED_PER_TICK_MAX],
    ] as const) {
      const { granted, acquireMany, tick, limiter } = setUp();
      for (const customer of customers) limiter.noteActive(customer);
      acquireMany(50, LARGE, 'a');
      await Promise.resolve();
      expect(granted).toHaveLength(few);
      await tick();
      expect(granted).toHaveLength(2 * few);
    }
  });

  test('that wait are granted a few in each tick beside other customers, however old they are', async () => {
    const { timers, granted, acquireMany, tick, limiter } = setUp();
    limiter.noteActive(LARGE);
    limiter.noteActive(SMALL);
    const tickCount = (2 * ACTIVE_MS) / PAUSE_MS;
    for (const permit of acquireMany(2_000, LARGE, 'a')) void permit.granted.then(permit.release);
    for (let at = 0; at < tickCount; at++) {
      timers.now += PAUSE_MS;
      if (at % 50 === 0) limiter.noteActive(SMALL);
      await tick();
    }
    expect(granted).toHaveLength((1 + tickCount) * STARTED_PER_TICK_MAX);
  });

  test('for another customer or host do not wait behind one that asks for many', async () => {
    const { granted, acquire, acquireMany, tick, limiter } = setUp();
    limiter.noteActive(LARGE);
    limiter.noteActive(SMALL);
    acquireMany(60, LARGE, 'a');
    acquire(LARGE, 'b');
    acquire(SMALL, 'c');
    await tick();
    expect(granted).toContain('2 c');
    await tick();
    expect(granted).toContain('1 b');
  });

  test('are limited for one host, and connections that hang delay no other host', async () => {
    const { granted, acquire, acquireMany, tick, limiter } = setUp();
    const hanging = acquireMany(2 * OPENING_PER_HOST_MAX_ALONE, LARGE, 'a');
    for (let ticks = 0; ticks < 100; ticks++) await tick();
    expect(granted).toHaveLength(OPENING_PER_HOST_MAX_ALONE);
    acquire(LARGE, 'b');
    await tick();
    expect(granted.at(-1)).toBe('1 b');
    hanging[0]?.release();
    hanging[0]?.release();
    for (let ticks = 0; ticks < 3; ticks++) await tick();
    expect(granted.filter((one) => one === '1 a')).toHaveLength(OPENING_PER_HOST_MAX_ALONE + 1);
    limiter.noteActive(LARGE);
    limiter.noteActive(SMALL);
    acquireMany(2 * OPENING_PER_HOST_MAX, SMALL, 'd');
    for (let ticks = 0; ticks < 100; ticks++) await tick();
    expect(granted.filter((one) => one === '2 d')).toHaveLength(OPENING_PER_HOST_MAX);
  });

  test('for handshakes are granted a few in each tick, round robin over customers', async () => {
    const { timers, limiter } = setUp();
    limiter.noteActive(LARGE);
    limiter.noteActive(SMALL);
    const granted: Partition[] = [];
    const handshake = (customer: Partition) =>
      void limiter.awaitHandshake(customer).then(() => granted.push(customer));
    for (let n = 0; n < 20; n++) handshake(LARGE);
    handshake(SMALL);
    await Promise.resolve();
    expect(granted).toHaveLength(STARTED_PER_TICK_MAX);
    timers.fire(0);
    await Promise.resolve();
    expect(granted).toHaveLength(2 * STARTED_PER_TICK_MAX);
    expect(granted).toContain(SMALL);
    for (let ticks = 0; ticks < 20; ticks++) {
      timers.fire(0);
      await Promise.resolve();
    }
    expect(granted).toHaveLength(21);
  });

  test('that are released free their share, granted or not', async () => {
    const { granted, acquireMany, tick, timers } = setUp();
    for (const one of acquireMany(OPENING_PER_HOST_MAX_ALONE + 10, LARGE, 'a')) one.release();
    for (let ticks = 0; ticks < 20; ticks++) await tick();
    const before = granted.length;
    acquireMany(3, LARGE, 'a');
    for (let ticks = 0; ticks < 3; ticks++) await tick();
    expect(granted).toHaveLength(before + 3);
    expect(timers.pending()).toEqual([]);
  });
});
