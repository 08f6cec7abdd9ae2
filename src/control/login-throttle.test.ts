import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { LIMITS, LoginThrottle, waitMsOf } from './login-throttle.ts';
import { ControlRefusal } from './refusal.ts';

const HOUR_MS = 3_600_000;

describe('the wait of the next guess', () => {
  test.for([
    [LIMITS.name_and_address, 0, 0, 0],
    [LIMITS.name_and_address, 4, 0, 0],
    [LIMITS.name_and_address, 5, 0, 1_000],
    [LIMITS.name_and_address, 5, 400, 600],
    [LIMITS.name_and_address, 5, 1_000, 0],
    [LIMITS.name_and_address, 6, 0, 2_000],
    [LIMITS.name_and_address, 14, 0, 512_000],
    [LIMITS.name_and_address, 15, 0, 900_000],
    [LIMITS.name_and_address, 5_000_000, 0, 900_000],
    [LIMITS.name_and_address, 5_000_000, 24 * HOUR_MS, 0],
    [LIMITS.name_and_address, 6, -HOUR_MS, 2_000],
    [LIMITS.name, 49, 0, 0],
    [LIMITS.name, 50, 0, 1_000],
    [LIMITS.name, 56, 0, 60_000],
    [LIMITS.address, 99, 0, 0],
    [LIMITS.address, 100, 0, 1_000],
    [LIMITS.address, 500, 0, 60_000],
    [LIMITS.address, 500, HOUR_MS, 0],
  ] as const)('%o after %i failures, %i ms ago: %i ms', ([limit, failures, agoMs, waitMs]) => {
    expect(waitMsOf(limit, failures, START, instant(START + agoMs))).toBe(waitMs);
  });
});

/** Returns how long a guess has to wait, or 0 if it was counted. */
async function waitOf(throttle: LoginThrottle, name: string, address = '192.0.2.1'): Promise<number> {
  try {
    await throttle.count(name, address);
    return 0;
  } catch (error) {
    if (error instanceof ControlRefusal && error.code === 'login_throttled') return error.waitMs;
    throw error;
  }
}

async function fail(
  { throttle }: ControlHarness,
  times: number,
  name: string,
  address?: string,
): Promise<void> {
  for (let i = 0; i < times; i++) expect(await waitOf(throttle, name, address)).toBe(0);
}

describe('guesses', () => {
  test('report a throttle when it starts and at every doubling, however slow they are', async () => {
    await using harness = await openControlHarness();
    const reported: [guess: number, by: string, failures: number][] = [];
    for (let guess = 1; guess <= 45; guess++) {
      const { throttlesStarted } = await harness.throttle.count('ada', '192.0.2.1');
      for (const { by, failures } of throttlesStarted) reported.push([guess, by, failures]);
      // This is longer than any wait, and longer than failures of a name alone are remembered.
      harness.advance(2 * HOUR_MS);
    }
    expect(reported).toEqual([5, 10, 20, 40].map((count) => [count, 'name_and_address', count]));
  });

  test('with one name from one address wait after five, and are not counted while they wait', async () => {
    await using harness = await openControlHarness();
    await fail(harness, 5, 'ada');
    expect(await waitOf(harness.throttle, 'ada')).toBe(1_000);
    harness.advance(999);
    expect(await waitOf(harness.throttle, 'ada')).toBe(1);
    harness.advance(1);
    expect(await waitOf(harness.throttle, 'ada')).toBe(0);
    expect(await waitOf(harness.throttle, 'ada')).toBe(2_000);
    expect(await waitOf(harness.throttle, 'bob')).toBe(0);
    expect(await waitOf(harness.throttle, 'ada', '192.0.2.2')).toBe(0);
  });

  test('that are concurrent are counted one by one, on one node and on several', async () => {
    await using harness = await openControlHarness();
    const nodes = [1, 2, 3].map(() => new LoginThrottle(harness.store.people, harness.clock));
    const waits = await Promise.all(
      Array.from({ length: 30 }, (_, i) => waitOf(nodes[i % 3] ?? harness.throttle, 'ada')),
    );
    expect(waits.filter((wait) => wait === 0).length).toBeLessThanOrEqual(5);
    expect(waits.filter((wait) => wait === 0).length).toBeGreaterThan(0);
  });

  test('in any number from one address do not block those from another', async () => {
    await using harness = await openControlHarness();
    const flood = Array.from({ length: 100 }, (_, i) => waitOf(harness.throttle, `name-${i}`, '203.0.113.1'));
    expect(await waitOf(harness.throttle, 'ada')).toBe(0);
    const counted = (await Promise.all(flood)).filter((wait) => wait === 0);
    expect(counted).toHaveLength(8);
    expect(await waitOf(harness.throttle, 'bob', '203.0.113.1')).toBe(0);
  });

  test('are remembered by a process that starts later', async () => {
    await using harness = await openControlHarness();
    await fail(harness, 5, 'ada');
    expect(await waitOf(new LoginThrottle(harness.store.people, harness.clock), 'ada')).toBe(1_000);
  });

  test('with one name from many addresses wait after fifty, but not from an address where it signed in', async () => {
    await using harness = await openControlHarness();
    await harness.throttle.recordSuccess(await harness.throttle.count('ada', '198.51.100.7'));
    for (let i = 0; i < 50; i++) await fail(harness, 1, 'ada', `203.0.113.${i}`);
    expect(await waitOf(harness.throttle, 'ada', '203.0.113.99')).toBe(1_000);
    expect(await waitOf(harness.throttle, 'ada', '198.51.100.7')).toBe(0);
    harness.advance(HOUR_MS);
    expect(await waitOf(harness.throttle, 'ada', '203.0.113.99')).toBe(0);
  });

  test('from one address with any name wait after a hundred, and an IPv6 network is one address', async () => {
    await using harness = await openControlHarness();
    for (let i = 0; i < 100; i++) await fail(harness, 1, `name-${i}`, `2001:db8:0:1::${i}`);
    expect(await waitOf(harness.throttle, 'ada', '2001:db8:0:1:ffff::1')).toBe(1_000);
    expect(await waitOf(harness.throttle, 'ada', '2001:db8:0:2::1')).toBe(0);
  });

  test('from IPv4-mapped addresses count like those from the plain address', async () => {
    await using harness = await openControlHarness();
    await fail(harness, 5, 'ada', '::ffff:192.0.2.9');
    expect(await waitOf(harness.throttle, 'ada', '192.0.2.9')).toBe(1_000);
    expect(await waitOf(harness.throttle, 'ada', '::ffff:192.0.2.8')).toBe(0);
  });

  test('that were right clear the failures, and do not count against their address', async () => {
    await using harness = await openControlHarness();
    for (let i = 0; i < 120; i++) {
      await harness.throttle.recordSuccess(await harness.throttle.count(`name-${i}`, '192.0.2.1'));
    }
    await fail(harness, 4, 'ada');
    await harness.throttle.recordSuccess(await harness.throttle.count('ada', '192.0.2.1'));
    await fail(harness, 5, 'ada');
    expect(await waitOf(harness.throttle, 'ada')).toBe(1_000);
  });

  test('are stored by digests that reveal no name and no address', async () => {
    await using harness = await openControlHarness();
    const { subjects } = await harness.throttle.count('ada', '192.0.2.1');
    for (const subject of Object.values(subjects)) expect(subject).toMatch(/^[a-z_]+:[0-9a-f]{64}$/);
  });
});
