import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { dueAt } from '#test/engine-harness.ts';
import {
  FairQueue,
  PERMIT_BYTES,
  PERMITS_MAX,
  type Punctuality,
  permitsOf,
  WAITING_MAX,
} from './fair-queue.ts';
import { Heap } from './heap.ts';
import { REST_FROM_WAITING } from './permit-tree.ts';

let made = 0;

/** A new delivery to an endpoint. */
function towards(endpoint: string, at = 0, deadline: number | null = null): DueDelivery {
  made++;
  return dueAt(at, {
    name: `${made}`,
    endpoint: endpoint as EndpointKey,
    deadline: deadline === null ? null : instant(deadline),
  });
}

/** Adds overdue deliveries of many customers until there is no room for more. */
function fillOverdue(queue: FairQueue): void {
  for (let n = 0; n < 2 * WAITING_MAX; n++) {
    queue.add({ ...towards(`${n % 1_100}`), partition: n as Partition }, 'overdue');
  }
}

/** A delivery whose body needs this many permits. */
function large(endpoint: string, permits: number): DueDelivery {
  return { ...towards(endpoint), payloadBytes: permits * PERMIT_BYTES };
}

/** A delivery to a path of one host. */
function onOneHost(path: string): DueDelivery {
  return { ...towards(`https://one.example/${path}`), origin: 'https://one.example' };
}

function add(
  queue: FairQueue,
  endpoint: string,
  count: number,
  punctuality: Punctuality = 'in_time',
): number {
  let added = 0;
  for (let each = 0; each < count; each++) if (queue.add(towards(endpoint, each), punctuality)) added++;
  return added;
}

function endpointsOf(dues: readonly DueDelivery[]): string {
  return dues.map(({ endpoint }) => endpoint).join('');
}

/** Takes every delivery that may go, in batches as the dispatcher does. */
function takeAll(queue: FairQueue, punctuality: Punctuality = 'in_time'): readonly DueDelivery[] {
  const taken: DueDelivery[] = [];
  for (let batch = queue.take(punctuality, 64); batch.length > 0; batch = queue.take(punctuality, 64)) {
    taken.push(...batch);
  }
  return taken;
}

function perEndpoint(dues: readonly DueDelivery[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { endpoint } of dues) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return counts;
}

describe('a delivery whose endpoint changes while it waits', () => {
  const queue = new FairQueue();
  const moved = towards('slow');
  const elsewhere = { ...moved, endpoint: 'quick' as EndpointKey };

  test('changes queue, and is taken once', () => {
    add(queue, 'slow', 200);
    const before = queue.waiting;
    expect(queue.add(moved, 'in_time')).toBe(true);
    expect(queue.add(elsewhere, 'in_time')).toBe(true);
    expect(queue.add(elsewhere, 'in_time')).toBe(false);
    const taken = queue.take('in_time', 2);
    expect(taken.map(({ endpoint }) => endpoint).toSorted()).toEqual(['quick', 'slow']);
    // A delivery that was taken is not moved.
    expect(queue.add(moved, 'in_time')).toBe(false);
    for (const due of taken) queue.release(due);
    const others: DueDelivery[] = [];
    for (let one = queue.take('in_time', 1); one.length > 0; one = queue.take('in_time', 1)) {
      others.push(...one);
      for (const due of one) queue.release(due);
    }
    expect(others).toHaveLength(before - 1);
    expect(others.map(({ id }) => id)).not.toContain(moved.id);
    expect([queue.waiting, queue.inFlight]).toEqual([0, 0]);
  });
});

describe('an overdue delivery that is moved to now', () => {
  test('is in time, however many permits overdue work holds, and is taken once', () => {
    const queue = new FairQueue();
    const moved = towards('slow');
    for (let n = 0; n < 200; n++) queue.add(towards('slow'), 'overdue');
    while (queue.take('overdue', 64).length > 0);
    expect(queue.add(moved, 'overdue')).toBe(true);
    expect(queue.add({ ...moved, dueAt: instant(moved.dueAt + 1) }, 'in_time')).toBe(true);
    expect(queue.add(moved, 'in_time')).toBe(false);
    const taken = queue.take('in_time', 2);
    expect(taken.map(({ id, dueAt }) => [id, dueAt])).toEqual([[moved.id, moved.dueAt + 1]]);
    for (const due of taken) queue.release(due);
    const others = queue.take('overdue', 200);
    expect(others.map(({ id }) => id)).not.toContain(moved.id);
  });

  test('does not become overdue while it waits in time', () => {
    const queue = new FairQueue();
    const due = towards('slow');
    queue.add(due, 'in_time');
    expect(queue.add(due, 'overdue')).toBe(false);
    expect(queue.overdue).toBe(0);
  });
});

describe('endpoints are served round robin', () => {
  test('an endpoint with much to do does not delay another', () => {
    const queue = new FairQueue();
    add(queue, 'a', 100);
    add(queue, 'b', 2);
    add(queue, 'c', 1);
    expect(endpointsOf(queue.take('in_time', 8))).toBe('abcabaaa');
  });

  test('a batch goes on where the last one ended: the endpoint that was served longest ago is next', () => {
    const queue = new FairQueue();
    for (const endpoint of ['a', 'b', 'c']) add(queue, endpoint, 3);
    expect(
      [queue.take('in_time', 2), queue.take('in_time', 2), queue.take('in_time', 5)].map(endpointsOf),
    ).toEqual(['ab', 'ca', 'bcabc']);
  });

  test('a new endpoint waits for one delivery of each other endpoint, not for all of them', () => {
    const queue = new FairQueue();
    add(queue, 'a', 50);
    queue.take('in_time', 10);
    add(queue, 'b', 2);
    expect(endpointsOf(queue.take('in_time', 4))).toBe('abab');
  });

  test('the same endpoint in another partition is another queue', () => {
    const queue = new FairQueue();
    add(queue, 'a', 3);
    const other = { ...towards('a'), partition: 2 as Partition };
    queue.add(other, 'in_time');
    expect(queue.take('in_time', 2)).toContainEqual(other);
  });

  test('a customer that had its share rests, and no other, until the rests end', () => {
    const queue = new FairQueue();
    const LARGE = 7 as Partition;
    for (let n = 0; n < REST_FROM_WAITING + 20; n++) {
      queue.add({ ...towards('a', n), partition: LARGE }, 'in_time');
    }
    expect(queue.take('in_time', 10, 3)).toHaveLength(3);
    expect(queue.take('in_time', 10, 3)).toEqual([]);
    const other = towards('b');
    queue.add(other, 'in_time');
    expect(queue.take('in_time', 10, 3)).toEqual([other]);
    // A release or a new delivery does not end the rest.
    queue.release(other);
    queue.add({ ...towards('a', 99), partition: LARGE }, 'in_time');
    expect(queue.take('in_time', 10, 3)).toEqual([]);
    queue.endRests('in_time');
    expect(queue.take('in_time', 10, 3)).toHaveLength(3);
  });

  test('a customer that left and came back before the rests end has one count', () => {
    const queue = new FairQueue(10);
    const own = (n: number): DueDelivery => ({ ...towards('a', n), partition: 7 as Partition });
    const first = own(0);
    queue.add(first, 'in_time');
    queue.take('in_time', 1, 3);
    queue.release(first);
    for (let n = 1; n <= 20; n++) queue.add(own(n), 'in_time');
    queue.endRests('in_time');
    const held = [...queue.take('in_time', 20)];
    for (let n = 21; n <= 40; n++) queue.add(own(n), 'in_time');
    held.push(...queue.take('in_time', 20));
    expect(queue.hasOthersThan('7')).toBe(false);
    const alone = new FairQueue(10);
    for (let n = 1; n <= 40; n++) alone.add(own(n), 'in_time');
    expect(held).toHaveLength(alone.take('in_time', 40).length);
  });

  test('a customer with few deliveries waiting does not rest', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 20; n++) add(queue, `${n}`, 1);
    expect(queue.take('in_time', 10, 3)).toHaveLength(10);
    expect(queue.take('in_time', 10, 3)).toHaveLength(10);
  });

  test('it is known whether there is another customer', () => {
    const queue = new FairQueue();
    const own = towards('a');
    expect(queue.someCustomer).toBeNull();
    expect(queue.hasOthersThan(`${own.partition}`)).toBe(false);
    queue.add(own, 'in_time');
    expect(queue.someCustomer).toBe(`${own.partition}`);
    expect(queue.hasOthersThan(`${own.partition}`)).toBe(false);
    const other = { ...towards('b'), partition: 9 as Partition };
    queue.add(other, 'overdue');
    expect(queue.hasOthersThan(`${own.partition}`)).toBe(true);
    queue.take('overdue', 1);
    expect(queue.hasOthersThan(`${own.partition}`)).toBe(true);
    queue.release(other);
    expect(queue.hasOthersThan(`${own.partition}`)).toBe(false);
  });

  test('the shares of any two waiting endpoints in a batch differ by one at most', () => {
    const loads = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12, size: 'max' });
    fc.assert(
      fc.property(loads, fc.integer({ min: 1, max: 64 }), (counts, limit) => {
        const queue = new FairQueue();
        for (const [index, count] of counts.entries()) add(queue, `${index}`, count);
        const taken = queue.take('in_time', limit);
        const total = counts.reduce((sum, count) => sum + count, 0);
        expect(taken).toHaveLength(Math.min(limit, total));
        const shares = counts.map((_, index) => perEndpoint(taken).get(`${index}`) ?? 0);
        const most = Math.max(...shares);
        for (const [index, share] of shares.entries()) {
          if (share < (counts[index] ?? 0)) expect(share).toBeGreaterThanOrEqual(most - 1);
        }
      }),
    );
  });
});

describe('permits', () => {
  test('a single busy endpoint gets about 110', () => {
    const queue = new FairQueue();
    add(queue, 'a', 1_000);
    const taken = takeAll(queue);
    expect(taken.length).toBeGreaterThan(105);
    expect(taken.length).toBeLessThan(115);
    expect([queue.inFlight, queue.waiting]).toEqual([taken.length, 1_000 - taken.length]);
  });

  test('a hundred hanging endpoints leave hundreds for everyone else, and each has its share', () => {
    const queue = new FairQueue();
    for (let endpoint = 0; endpoint < 100; endpoint++) add(queue, `hangs-${endpoint}`, 50);
    const shares = perEndpoint(takeAll(queue));
    expect(Math.min(...shares.values())).toBeGreaterThanOrEqual(10);
    expect(Math.max(...shares.values()) - Math.min(...shares.values())).toBeLessThanOrEqual(1);
    expect(PERMITS_MAX - queue.inFlight).toBeGreaterThanOrEqual(500);

    for (let endpoint = 0; endpoint < 100; endpoint++) add(queue, `new-${endpoint}`, 1);
    expect(takeAll(queue)).toHaveLength(100);
  });

  test('are never more than 2,048, and every one is counted', () => {
    const steps = fc.array(
      fc.record({
        endpoints: fc.integer({ min: 1, max: 400 }),
        count: fc.integer({ min: 1, max: 10 }),
        released: fc.integer({ min: 0, max: 600 }),
      }),
      { minLength: 1, maxLength: 6, size: 'max' },
    );
    fc.assert(
      fc.property(steps, (given) => {
        const queue = new FairQueue();
        const inFlight: DueDelivery[] = [];
        for (const { endpoints, count, released } of given) {
          const before = queue.waiting;
          let added = 0;
          for (let endpoint = 0; endpoint < endpoints; endpoint++) added += add(queue, `${endpoint}`, count);
          const taken = takeAll(queue);
          inFlight.push(...taken);
          expect(queue.inFlight).toBe(inFlight.length);
          expect(queue.inFlight).toBeLessThanOrEqual(PERMITS_MAX);
          expect(queue.waiting).toBe(before + added - taken.length);
          for (const due of inFlight.splice(0, released)) queue.release(due);
        }
      }),
      { numRuns: 8 },
    );
  });

  test('a hundred hanging endpoints of one host leave dozens for the others there', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 1_000; n++) queue.add(onOneHost(`hangs/${n % 100}`), 'in_time');
    takeAll(queue);
    for (let n = 0; n < 40; n++) queue.add(onOneHost(`healthy/${n}`), 'in_time');
    expect(takeAll(queue).filter(({ endpoint }) => endpoint.includes('healthy'))).toHaveLength(40);
  });

  test('one host with thousands of paths that hang takes half of them, and no other host waits', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 2 * PERMITS_MAX; n++) queue.add(onOneHost(`orders/${n}`), 'in_time');
    expect(takeAll(queue).length).toBeLessThanOrEqual(PERMITS_MAX / 2 + 1);
    add(queue, 'other', 1);
    expect(endpointsOf(queue.take('in_time', 64))).toBe('other');
  });

  test('thousands of hosts of one customer that hang leave some for the others', () => {
    const queue = new FairQueue();
    for (let endpoint = 0; endpoint < PERMITS_MAX; endpoint++) add(queue, `${endpoint}`, 1);
    const taken = takeAll(queue);
    expect(taken.length).toBeLessThan((PERMITS_MAX * 3) / 4);
    add(queue, 'next', 1);
    expect(endpointsOf(queue.take('in_time', 64))).not.toContain('next');
    queue.add({ ...towards('others'), partition: 2 as Partition }, 'in_time');
    expect(endpointsOf(queue.take('in_time', 64))).toBe('others');
  });

  test('a permit that is given back is used by the same endpoint again', () => {
    const queue = new FairQueue();
    add(queue, 'a', 1_000);
    const [first] = takeAll(queue);
    expect(queue.take('in_time', 64)).toEqual([]);
    queue.release(first ?? towards('none'));
    expect(queue.take('in_time', 64)).toHaveLength(1);
  });
});

describe('a large body', () => {
  test('takes a permit for every 64 KiB, and a body of that size takes one', () => {
    const permits = (payloadBytes: number) => permitsOf({ payloadBytes });
    expect([0, 1, 65_536, 65_537, 786_437].map(permits)).toEqual([1, 1, 1, 2, 13]);
  });

  test('bodies of one endpoint hold no more bytes than its share, however large they are', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 1_000; n++) queue.add(large('a', 12), 'in_time');
    const taken = takeAll(queue);
    expect(taken.length).toBeGreaterThanOrEqual(9);
    expect(taken.length).toBeLessThanOrEqual(10);
    for (const due of taken.slice(0, 2)) queue.release(due);
    expect(takeAll(queue)).toHaveLength(2);
  });

  test('hanging bodies of one customer leave permits to every other customer', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 4_000; n++) queue.add(large(`hangs-${n % 600}`, 12), 'in_time');
    const held = takeAll(queue).length * 12;
    expect(held).toBeGreaterThan(PERMITS_MAX / 2);
    expect(held).toBeLessThan(PERMITS_MAX * 0.7);
    for (let n = 0; n < 100; n++) {
      queue.add({ ...towards(`healthy-${n}`), partition: 2 as Partition }, 'in_time');
    }
    expect(takeAll(queue)).toHaveLength(100);
  });

  test('all bodies in flight together hold at most one more than the permits there are', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 10_000; n++) {
      queue.add({ ...large(`${n}`, 12), partition: (n % 500) as Partition }, n % 2 ? 'in_time' : 'overdue');
    }
    const held = 12 * (takeAll(queue).length + takeAll(queue, 'overdue').length);
    expect(held).toBeLessThan(PERMITS_MAX + 12);
  });
});

describe('fairness', () => {
  test('a customer with thousands of endpoints is served as often as one with a single endpoint', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 5_000; n++) queue.add(towards(`https://${n % 50}.example/${n}`), 'in_time');
    const small = Array.from({ length: 10 }, () => ({ ...towards('small'), partition: 2 as Partition }));
    for (const due of small) queue.add(due, 'in_time');
    expect(queue.take('in_time', 20).filter(({ partition }) => partition === 2)).toHaveLength(10);
  });

  test('a host with thousands of paths is served as often as a host with one', () => {
    const queue = new FairQueue();
    for (let n = 0; n < 5_000; n++) queue.add(onOneHost(`${n}`), 'in_time');
    add(queue, 'other', 10);
    expect(queue.take('in_time', 20).filter(({ endpoint }) => endpoint === 'other')).toHaveLength(10);
  });

  test('exactly those deliveries may go that a check of every holder would allow', () => {
    const orders = fc.array(
      fc.record({
        customer: fc.integer({ min: 1, max: 4 }),
        host: fc.integer({ min: 0, max: 3 }),
        path: fc.integer({ min: 0, max: 5 }),
        permits: fc.integer({ min: 1, max: 40 }),
        count: fc.integer({ min: 1, max: 12 }),
      }),
      { minLength: 1, maxLength: 40, size: 'max' },
    );
    fc.assert(
      fc.property(orders, (given) => {
        const queue = new FairQueue();
        const waiting = new Map<string, readonly [customer: string, host: string, left: number]>();
        for (const { customer, host, path, permits, count } of given) {
          const origin = `https://${host}.example`;
          for (let n = 0; n < count; n++) {
            const due = { ...large(`${origin}/${path}`, permits), origin, partition: customer as Partition };
            queue.add(due, 'in_time');
          }
          const key = `${customer} ${host} ${path}`;
          waiting.set(key, [`${customer}`, `${customer} ${host}`, (waiting.get(key)?.[2] ?? 0) + count]);
        }
        const held = new Map<string, number>();
        const heldBy = (key: string) => held.get(key) ?? 0;
        for (const due of takeAll(queue)) {
          const [customer, origin, endpoint] = [`${due.partition}`, due.origin, due.endpoint];
          const host = `${customer} ${origin.slice(8, 9)}`;
          const key = `${host} ${endpoint.slice(origin.length + 1)}`;
          for (const one of ['all', customer, host, key]) held.set(one, heldBy(one) + permitsOf(due));
          const [, , left] = waiting.get(key) ?? ['', '', 0];
          waiting.set(key, [customer, host, left - 1]);
        }
        for (const [key, [customer, host, left]] of waiting) {
          const need = heldBy(customer) + 2 * (heldBy(host) + 16 * heldBy(key));
          if (left > 0) expect(2 * (PERMITS_MAX - heldBy('all'))).toBeLessThanOrEqual(need);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('room to wait', () => {
  test('one endpoint does not take all of it', () => {
    const queue = new FairQueue();
    const own = add(queue, 'a', WAITING_MAX, 'overdue');
    expect(own).toBeGreaterThan(WAITING_MAX / 3);
    expect(own).toBeLessThan(WAITING_MAX / 2);
    expect(add(queue, 'b', 1_000, 'overdue')).toBe(1_000);
    expect(queue.add(towards('a'), 'overdue')).toBe(false);
    expect(queue.hasRoom).toBe(true);
  });

  test('is bounded over all queues, and deliveries in time have room of their own', () => {
    const queue = new FairQueue();
    fillOverdue(queue);
    expect([queue.waiting, queue.overdue, queue.hasRoom]).toEqual([WAITING_MAX, WAITING_MAX, false]);
    expect(queue.add(towards('new'), 'overdue')).toBe(false);
    expect(queue.add(towards('new'), 'in_time')).toBe(true);
    expect([queue.waiting, queue.overdue]).toEqual([WAITING_MAX + 1, WAITING_MAX]);
  });

  test('is free again when deliveries are taken', () => {
    const queue = new FairQueue();
    fillOverdue(queue);
    expect(queue.hasRoom).toBe(false);
    queue.take('overdue', 1);
    expect(queue.hasRoom).toBe(true);
  });
});

describe('a delivery', () => {
  test('that is known is not added again while it waits or is in flight', () => {
    const queue = new FairQueue();
    const due = towards('a');
    expect(queue.add(due, 'in_time')).toBe(true);
    expect(queue.add({ ...due }, 'overdue')).toBe(false);
    expect(queue.take('in_time', 64)).toEqual([due]);
    expect(queue.add(due, 'in_time')).toBe(false);
    queue.release(due);
    expect(queue.add(due, 'in_time')).toBe(true);
    expect(queue.take('in_time', 64)).toEqual([due]);
  });

  test('that found no room is not known, and is added when there is room', () => {
    const queue = new FairQueue();
    add(queue, 'a', WAITING_MAX);
    const late = towards('a');
    expect(queue.add(late, 'in_time')).toBe(false);
    for (const due of queue.take('in_time', 64)) queue.release(due);
    expect(queue.add(late, 'in_time')).toBe(true);
  });

  test('that is claimed may be added again for its retry before its permits are given back', () => {
    const queue = new FairQueue();
    const due = towards('a');
    queue.add(due, 'in_time');
    queue.take('in_time', 1);
    queue.forget(due);
    expect(queue.add({ ...due, dueAt: instant(5_000) }, 'in_time')).toBe(true);
    expect(queue.inFlight).toBe(1);
  });
});

describe('in the queue of an endpoint', () => {
  function orderOf(
    punctuality: Punctuality,
    dues: readonly DueDelivery[],
  ): readonly (readonly [Instant, Instant | null])[] {
    const queue = new FairQueue();
    for (const due of dues) queue.add(due, punctuality);
    return queue.take(punctuality, 64).map(({ dueAt: at, deadline }) => [at, deadline] as const);
  }

  test('deliveries in time go by their instant, whatever their deadline', () => {
    const order = orderOf('in_time', [towards('a', 30, 40), towards('a', 10), towards('a', 20, 25)]);
    expect(order).toEqual([
      [10, null],
      [20, 25],
      [30, 40],
    ]);
  });

  test('overdue deliveries go by their deadline, and those without one come last, the oldest first', () => {
    const order = orderOf('overdue', [
      towards('a', 5),
      towards('a', 1, 900),
      towards('a', 3, 100),
      towards('a', 4),
      towards('a', 2, 100),
    ]);
    expect(order).toEqual([
      [2, 100],
      [3, 100],
      [1, 900],
      [4, null],
      [5, null],
    ]);
  });
});

describe('overdue work', () => {
  test('leaves permits of an endpoint, a host and a customer to what comes in time', () => {
    const queue = new FairQueue();
    add(queue, 'a', 1_000, 'overdue');
    const [overdue, inTime] = [takeAll(queue, 'overdue').length, add(queue, 'a', 50)];
    expect(overdue).toBeGreaterThan(50);
    expect(takeAll(queue)).toHaveLength(inTime);

    const ofOneHost = new FairQueue();
    for (let n = 0; n < PERMITS_MAX; n++) ofOneHost.add(onOneHost(`${n}`), 'overdue');
    expect(takeAll(ofOneHost, 'overdue').length).toBeLessThan(PERMITS_MAX / 4);
    for (let n = 0; n < 300; n++) ofOneHost.add(onOneHost(`fresh/${n}`), 'in_time');
    expect(takeAll(ofOneHost)).toHaveLength(300);

    const ofOneCustomer = new FairQueue();
    for (let n = 0; n < PERMITS_MAX; n++) ofOneCustomer.add(towards(`${n}`), 'overdue');
    takeAll(ofOneCustomer, 'overdue');
    for (let n = 0; n < 300; n++) ofOneCustomer.add(towards(`fresh-${n}`), 'in_time');
    expect(takeAll(ofOneCustomer)).toHaveLength(300);
  });

  test('has its share also where what came in time hangs', () => {
    const queue = new FairQueue();
    for (let endpoint = 0; endpoint < PERMITS_MAX; endpoint++) add(queue, `hangs-${endpoint}`, 1);
    expect(takeAll(queue).length).toBeGreaterThan(PERMITS_MAX / 2);
    queue.add({ ...towards('other'), partition: 2 as Partition }, 'overdue');
    expect(takeAll(queue, 'overdue')).toHaveLength(1);
  });

  test('and what came in time have shares of their own at an endpoint', () => {
    const queue = new FairQueue();
    add(queue, 'a', 1_000);
    add(queue, 'a', 1_000, 'overdue');
    const inTime = [...takeAll(queue)];
    const overdue = [...takeAll(queue, 'overdue')];
    expect(overdue.length).toBeGreaterThan(50);
    for (const due of [...inTime.splice(0, 50), ...overdue.splice(0, 5)]) queue.release(due);
    expect(takeAll(queue).length).toBeGreaterThan(40);
    expect(takeAll(queue, 'overdue')).toHaveLength(5);
  });

  test('gives its permits back', () => {
    const queue = new FairQueue();
    add(queue, 'a', 1_000, 'overdue');
    const taken = takeAll(queue, 'overdue');
    for (const due of taken) queue.release(due);
    expect(takeAll(queue, 'overdue')).toHaveLength(taken.length);
  });
});

describe('memory', () => {
  const push = Reflect.get(Heap.prototype, 'push') as (this: object, item: unknown) => void;
  /** The heaps of all endpoints that a test filled: each endpoint has one. */
  let heaps: Set<WeakRef<object>>;

  beforeEach(() => {
    heaps = new Set();
    const known = new WeakSet<object>();
    Heap.prototype.push = function (item) {
      if (!known.has(this)) heaps.add(new WeakRef(this));
      known.add(this);
      push.call(this, item);
    };
  });
  afterEach(() => {
    Heap.prototype.push = push;
  });

  async function endpointsAlive(): Promise<number> {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    // A reference that was read in this turn of the event loop is not collected.
    await setImmediate();
    collectGarbage();
    return [...heaps].filter((heap) => heap.deref() !== undefined).length;
  }

  test('an empty queue is removed when it would be served', async () => {
    const queue = new FairQueue();
    for (let n = 0; n < 100; n++) {
      const due = towards(`${n}`);
      queue.add(due, 'in_time');
      queue.add({ ...due, endpoint: 'elsewhere' as EndpointKey }, 'in_time');
    }
    for (const due of takeAll(queue)) queue.release(due);
    expect([queue.waiting, queue.inFlight, await endpointsAlive()]).toEqual([0, 0, 0]);
  });

  test('an endpoint stays in memory until its last permit is released, and no longer', async () => {
    const queue = new FairQueue();
    for (let endpoint = 0; endpoint < 1_000; endpoint++) add(queue, `${endpoint}`, 2);
    const [first, ...others] = queue.take('in_time', 1_000);
    for (const due of others) queue.release(due);
    for (let batch = queue.take('in_time', 64); batch.length > 0; batch = queue.take('in_time', 64)) {
      for (const due of batch) queue.release(due);
    }
    expect([await endpointsAlive(), queue.waiting, queue.inFlight]).toEqual([1, 0, 1]);
    queue.release(first ?? towards('none'));
    expect([await endpointsAlive(), queue.waiting, queue.inFlight]).toEqual([0, 0, 0]);
  });
});
