import { expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { NodeLease } from '#src/ports/cluster-store.ts';
import { DeadNodeDetector } from './dead-node-detector.ts';

const LEASE_MS = 3_000;
/** No node counts as dead for this time after an outage or a step of the clock. */
const GRACE_MS = LEASE_MS + 2_000;
const START_GRACE_MS = 2_000;

function setUp() {
  const time = { elapsedMs: 0, now: instant(1_000_000) };
  const clock = {
    isSynchronized: true,
    sinceStepMs: Number.POSITIVE_INFINITY,
    offsetMs: 0,
    measurements: 0,
    now: (): Instant => time.now,
    measure: async () => void clock.measurements++,
  };
  const detector = new DeadNodeDetector(
    { clock, stopwatch: { elapsed: () => time.elapsedMs } },
    'us',
    LEASE_MS,
  );
  const lease = (node: string, inMs: number): NodeLease => ({
    node,
    leaseUntil: instant(time.now + inMs),
    isStopping: false,
    version: '1.2.3',
  });
  const pass = (ms: number) => {
    time.elapsedMs += ms;
    time.now = instant(time.now + ms);
  };
  const findDead = async (...leases: readonly NodeLease[]) => [
    ...(await detector.findDead(leases, time.elapsedMs)),
  ];
  return { time, clock, detector, lease, pass, findDead };
}

test('a node is dead when its lease has run out, by a clock that was just measured', async () => {
  const { clock, lease, findDead } = setUp();
  expect(await findDead(lease('a', 0), lease('b', 1))).toEqual(['a']);
  expect(clock.measurements).toBe(1);
});

test('the clock is not measured while every lease is valid', async () => {
  const { clock, lease, findDead } = setUp();
  expect(await findDead(lease('a', 1), lease('b', LEASE_MS))).toEqual([]);
  expect(clock.measurements).toBe(0);
});

test('a node never takes itself for dead', async () => {
  const { lease, detector, findDead } = setUp();
  expect(detector.isExpired(lease('us', -1))).toBe(false);
  expect(await findDead(lease('us', -1))).toEqual([]);
});

test('no node is dead by a clock that is not synchronized', async () => {
  const { clock, lease, findDead } = setUp();
  clock.isSynchronized = false;
  expect(await findDead(lease('a', -1))).toEqual([]);
});

test('a measurement that moves the clock decides', async () => {
  const { time, clock, lease, findDead } = setUp();
  const seen = lease('a', 0);
  clock.measure = async () => {
    time.now = instant(time.now - 1);
  };
  expect(await findDead(seen)).toEqual([]);
});

test('no node is dead shortly after a start, an outage or a step of the clock', async () => {
  const { time, clock, detector, lease, pass, findDead } = setUp();
  detector.start();
  pass(START_GRACE_MS - 1);
  expect(await findDead(lease('a', -1))).toEqual([]);
  pass(1);
  expect(await findDead(lease('a', -1))).toEqual(['a']);

  detector.afterOutage(time.elapsedMs);
  pass(GRACE_MS - 1);
  expect(await findDead(lease('a', -1))).toEqual([]);
  pass(1);
  expect(await findDead(lease('a', -1))).toEqual(['a']);

  clock.sinceStepMs = GRACE_MS - 1;
  expect(await findDead(lease('a', -1))).toEqual([]);
  clock.sinceStepMs = GRACE_MS;
  expect(await findDead(lease('a', -1))).toEqual(['a']);
});

test('a lease that ends too far in the future and is not renewed belongs to a dead node', async () => {
  const { lease, pass, findDead } = setUp();
  const abandoned = lease('a', 3_600_000);
  expect(await findDead(abandoned, lease('b', 3_600_000))).toEqual([]);
  pass(GRACE_MS);
  expect(await findDead(abandoned, lease('b', 3_600_000))).toEqual([]);
  pass(1);
  expect(await findDead(abandoned, lease('b', 3_600_000))).toEqual(['a']);
});
