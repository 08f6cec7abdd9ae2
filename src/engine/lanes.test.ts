import { queryObjects } from 'node:v8';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Due } from '#src/domain/due.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import { dueAt } from '#test/engine-world.ts';
import { Heap } from './heap.ts';
import { Lanes, type Punctuality, SLOTS_MAX, WAITING_MAX } from './lanes.ts';

let made = 0;

/** A delivery of its own towards an endpoint. */
function towards(endpoint: string, at = 0, deadline: number | null = null): Due {
  made++;
  return dueAt(at, {
    name: `${made}`,
    endpoint: endpoint as EndpointKey,
    deadline: deadline === null ? null : instant(deadline),
  });
}

/** Customers enough to take every place for overdue work. */
function fillOverdue(lanes: Lanes): void {
  for (let n = 0; n < 2 * WAITING_MAX; n++) {
    lanes.add({ ...towards(`${n % 1_100}`), partition: n as Partition }, 'overdue');
  }
}

/** The same towards a path of one host. */
function onOneHost(path: string): Due {
  return { ...towards(`https://one.example/${path}`), origin: 'https://one.example' };
}

function add(lanes: Lanes, endpoint: string, count: number, punctuality: Punctuality = 'in_time'): number {
  let added = 0;
  for (let each = 0; each < count; each++) if (lanes.add(towards(endpoint, each), punctuality)) added++;
  return added;
}

function endpointsOf(dues: readonly Due[]): string {
  return dues.map(({ endpoint }) => endpoint).join('');
}

/** Everything that may go, in batches as the dispatcher takes them. */
function takeAll(lanes: Lanes, punctuality: Punctuality = 'in_time'): readonly Due[] {
  const taken: Due[] = [];
  for (let batch = lanes.take(punctuality, 64); batch.length > 0; batch = lanes.take(punctuality, 64)) {
    taken.push(...batch);
  }
  return taken;
}

function perEndpoint(dues: readonly Due[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { endpoint } of dues) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return counts;
}

describe('one that is sent elsewhere while it waits', () => {
  const lanes = new Lanes();
  const moved = towards('slow');
  const elsewhere = { ...moved, endpoint: 'quick' as EndpointKey };

  test('changes lanes, and is taken once', () => {
    add(lanes, 'slow', 200);
    const before = lanes.waiting;
    expect(lanes.add(moved, 'in_time')).toBe(true);
    expect(lanes.add(elsewhere, 'in_time')).toBe(true);
    expect(lanes.add(elsewhere, 'in_time')).toBe(false);
    const taken = lanes.take('in_time', 2);
    expect(taken.map(({ endpoint }) => endpoint).toSorted()).toEqual(['quick', 'slow']);
    // Being read, it is where it is.
    expect(lanes.add(moved, 'in_time')).toBe(false);
    for (const due of taken) lanes.release(due);
    const others: Due[] = [];
    for (let one = lanes.take('in_time', 1); one.length > 0; one = lanes.take('in_time', 1)) {
      others.push(...one);
      for (const due of one) lanes.release(due);
    }
    expect(others).toHaveLength(before - 1);
    expect(others.map(({ id }) => id)).not.toContain(moved.id);
    expect([lanes.waiting, lanes.underWay]).toEqual([0, 0]);
  });
});

describe('lanes are served in turn', () => {
  test('one with much to do does not hold up another', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 100);
    add(lanes, 'b', 2);
    add(lanes, 'c', 1);
    expect(endpointsOf(lanes.take('in_time', 8))).toBe('abcabaaa');
  });

  test('a batch goes on where the last one ended: whoever was served longest ago is next', () => {
    const lanes = new Lanes();
    for (const endpoint of ['a', 'b', 'c']) add(lanes, endpoint, 3);
    expect(
      [lanes.take('in_time', 2), lanes.take('in_time', 2), lanes.take('in_time', 5)].map(endpointsOf),
    ).toEqual(['ab', 'ca', 'bcabc']);
  });

  test('what comes later waits for those that are there, not for all they have to do', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 50);
    lanes.take('in_time', 10);
    add(lanes, 'b', 2);
    expect(endpointsOf(lanes.take('in_time', 4))).toBe('abab');
  });

  test('the same endpoint in another partition is another lane', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 3);
    const other = { ...towards('a'), partition: 2 as Partition };
    lanes.add(other, 'in_time');
    expect(lanes.take('in_time', 2)).toContainEqual(other);
  });

  test('between any two that wait the shares of a batch differ by one at most', () => {
    const loads = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12, size: 'max' });
    fc.assert(
      fc.property(loads, fc.integer({ min: 1, max: 64 }), (counts, limit) => {
        const lanes = new Lanes();
        for (const [index, count] of counts.entries()) add(lanes, `${index}`, count);
        const taken = lanes.take('in_time', limit);
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

describe('slots', () => {
  test('a single busy endpoint gets about 110', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 1_000);
    const taken = takeAll(lanes);
    expect(taken.length).toBeGreaterThan(105);
    expect(taken.length).toBeLessThan(115);
    expect([lanes.underWay, lanes.waiting]).toEqual([taken.length, 1_000 - taken.length]);
  });

  test('a hundred hanging endpoints leave hundreds for everyone else, and each has its share', () => {
    const lanes = new Lanes();
    for (let endpoint = 0; endpoint < 100; endpoint++) add(lanes, `hangs-${endpoint}`, 50);
    const shares = perEndpoint(takeAll(lanes));
    expect(Math.min(...shares.values())).toBeGreaterThanOrEqual(10);
    expect(Math.max(...shares.values()) - Math.min(...shares.values())).toBeLessThanOrEqual(1);
    expect(SLOTS_MAX - lanes.underWay).toBeGreaterThanOrEqual(500);

    for (let endpoint = 0; endpoint < 100; endpoint++) add(lanes, `new-${endpoint}`, 1);
    expect(takeAll(lanes)).toHaveLength(100);
  });

  test('are never more than 2,048, whatever comes and goes, and every one is counted', () => {
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
        const lanes = new Lanes();
        const underWay: Due[] = [];
        for (const { endpoints, count, released } of given) {
          const before = lanes.waiting;
          let added = 0;
          for (let endpoint = 0; endpoint < endpoints; endpoint++) added += add(lanes, `${endpoint}`, count);
          const taken = takeAll(lanes);
          underWay.push(...taken);
          expect(lanes.underWay).toBe(underWay.length);
          expect(lanes.underWay).toBeLessThanOrEqual(SLOTS_MAX);
          expect(lanes.waiting).toBe(before + added - taken.length);
          for (const due of underWay.splice(0, released)) lanes.release(due);
        }
      }),
      { numRuns: 8 },
    );
  });

  test('a hundred hanging endpoints of one host leave dozens for the others there', () => {
    const lanes = new Lanes();
    for (let n = 0; n < 1_000; n++) lanes.add(onOneHost(`hangs/${n % 100}`), 'in_time');
    takeAll(lanes);
    for (let n = 0; n < 40; n++) lanes.add(onOneHost(`healthy/${n}`), 'in_time');
    expect(takeAll(lanes).filter(({ endpoint }) => endpoint.includes('healthy'))).toHaveLength(40);
  });

  test('one host with thousands of paths that hang takes half of them, and no other host waits', () => {
    const lanes = new Lanes();
    for (let n = 0; n < 2 * SLOTS_MAX; n++) lanes.add(onOneHost(`orders/${n}`), 'in_time');
    expect(takeAll(lanes).length).toBeLessThanOrEqual(SLOTS_MAX / 2 + 1);
    add(lanes, 'other', 1);
    expect(endpointsOf(lanes.take('in_time', 64))).toBe('other');
  });

  test('thousands of hosts of one customer that hang leave some for the others', () => {
    const lanes = new Lanes();
    for (let endpoint = 0; endpoint < SLOTS_MAX; endpoint++) add(lanes, `${endpoint}`, 1);
    const taken = takeAll(lanes);
    expect(taken.length).toBeLessThan((SLOTS_MAX * 3) / 4);
    add(lanes, 'next', 1);
    expect(endpointsOf(lanes.take('in_time', 64))).not.toContain('next');
    lanes.add({ ...towards('others'), partition: 2 as Partition }, 'in_time');
    expect(endpointsOf(lanes.take('in_time', 64))).toBe('others');
  });

  test('a slot that is given back is used by the same lane again', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 1_000);
    const [first] = takeAll(lanes);
    expect(lanes.take('in_time', 64)).toEqual([]);
    lanes.release(first ?? towards('none'));
    expect(lanes.take('in_time', 64)).toHaveLength(1);
  });
});

describe('places to wait', () => {
  test('one endpoint does not take them all', () => {
    const lanes = new Lanes();
    const own = add(lanes, 'a', WAITING_MAX, 'overdue');
    expect(own).toBeGreaterThan(WAITING_MAX / 3);
    expect(own).toBeLessThan(WAITING_MAX / 2);
    expect(add(lanes, 'b', 1_000, 'overdue')).toBe(1_000);
    expect(lanes.add(towards('a'), 'overdue')).toBe(false);
    expect(lanes.hasRoom).toBe(true);
  });

  test('are bounded over all lanes, and what came in time has places of its own', () => {
    const lanes = new Lanes();
    fillOverdue(lanes);
    expect([lanes.waiting, lanes.overdue, lanes.hasRoom]).toEqual([WAITING_MAX, WAITING_MAX, false]);
    expect(lanes.add(towards('new'), 'overdue')).toBe(false);
    expect(lanes.add(towards('new'), 'in_time')).toBe(true);
    expect([lanes.waiting, lanes.overdue]).toEqual([WAITING_MAX + 1, WAITING_MAX]);
  });

  test('are free again for what is taken', () => {
    const lanes = new Lanes();
    fillOverdue(lanes);
    expect(lanes.hasRoom).toBe(false);
    lanes.take('overdue', 1);
    expect(lanes.hasRoom).toBe(true);
  });
});

describe('a delivery', () => {
  test('that is known is not taken in twice: not while it waits, not while it is under way', () => {
    const lanes = new Lanes();
    const due = towards('a');
    expect(lanes.add(due, 'in_time')).toBe(true);
    expect(lanes.add({ ...due }, 'overdue')).toBe(false);
    expect(lanes.take('in_time', 64)).toEqual([due]);
    expect(lanes.add(due, 'in_time')).toBe(false);
    lanes.release(due);
    expect(lanes.add(due, 'in_time')).toBe(true);
    expect(lanes.take('in_time', 64)).toEqual([due]);
  });

  test('that was refused for want of room is not known: it is taken in when there is room', () => {
    const lanes = new Lanes();
    add(lanes, 'a', WAITING_MAX);
    const late = towards('a');
    expect(lanes.add(late, 'in_time')).toBe(false);
    for (const due of lanes.take('in_time', 64)) lanes.release(due);
    expect(lanes.add(late, 'in_time')).toBe(true);
  });

  test('that is claimed may come again for its retry before its slot is given back', () => {
    const lanes = new Lanes();
    const due = towards('a');
    lanes.add(due, 'in_time');
    lanes.take('in_time', 1);
    lanes.forget(due);
    expect(lanes.add({ ...due, dueAt: instant(5_000) }, 'in_time')).toBe(true);
    expect(lanes.underWay).toBe(1);
  });
});

describe('in a lane', () => {
  function orderOf(
    punctuality: Punctuality,
    dues: readonly Due[],
  ): readonly (readonly [Instant, Instant | null])[] {
    const lanes = new Lanes();
    for (const due of dues) lanes.add(due, punctuality);
    return lanes.take(punctuality, 64).map(({ dueAt: at, deadline }) => [at, deadline] as const);
  }

  test('what came in time goes by its instant, whatever its deadline', () => {
    const order = orderOf('in_time', [towards('a', 30, 40), towards('a', 10), towards('a', 20, 25)]);
    expect(order).toEqual([
      [10, null],
      [20, 25],
      [30, 40],
    ]);
  });

  test('what is overdue goes by its deadline, and what has none comes last, the oldest first', () => {
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
  test('leaves half of the slots of an endpoint, a host and a customer to what comes in time', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 1_000, 'overdue');
    const [overdue, inTime] = [takeAll(lanes, 'overdue').length, add(lanes, 'a', 50)];
    expect(overdue).toBeGreaterThan(50);
    expect(takeAll(lanes)).toHaveLength(inTime);

    const ofOneHost = new Lanes();
    for (let n = 0; n < SLOTS_MAX; n++) ofOneHost.add(onOneHost(`${n}`), 'overdue');
    expect(takeAll(ofOneHost, 'overdue').length).toBeLessThan(SLOTS_MAX / 4);
    for (let n = 0; n < 300; n++) ofOneHost.add(onOneHost(`fresh/${n}`), 'in_time');
    expect(takeAll(ofOneHost)).toHaveLength(300);

    const ofOneCustomer = new Lanes();
    for (let n = 0; n < SLOTS_MAX; n++) ofOneCustomer.add(towards(`${n}`), 'overdue');
    takeAll(ofOneCustomer, 'overdue');
    for (let n = 0; n < 300; n++) ofOneCustomer.add(towards(`fresh-${n}`), 'in_time');
    expect(takeAll(ofOneCustomer)).toHaveLength(300);
  });

  test('has its share also where what came in time hangs', () => {
    const lanes = new Lanes();
    for (let endpoint = 0; endpoint < SLOTS_MAX; endpoint++) add(lanes, `hangs-${endpoint}`, 1);
    expect(takeAll(lanes).length).toBeGreaterThan(SLOTS_MAX / 2);
    lanes.add({ ...towards('other'), partition: 2 as Partition }, 'overdue');
    expect(takeAll(lanes, 'overdue')).toHaveLength(1);
  });

  test.each([0, 7, 14])('and what came in time take turns where slots end, beside %i others', (others) => {
    const lanes = new Lanes();
    for (let n = 0; n < others; n++) {
      lanes.add({ ...towards(`other-${n}`), partition: 2 as Partition }, 'in_time');
    }
    takeAll(lanes);
    add(lanes, 'a', 1_000);
    add(lanes, 'a', 1_000, 'overdue');
    const underWay = [...takeAll(lanes)];
    const order: Punctuality[] = [];
    for (const due of underWay.splice(0, 6)) {
      lanes.release(due);
      for (const punctuality of ['in_time', 'overdue'] as const) {
        if (lanes.take(punctuality, 64).length > 0) order.push(punctuality);
      }
    }
    const last = order.slice(-4);
    expect(new Set(last.slice(0, 2))).toEqual(new Set(['in_time', 'overdue']));
    expect(last.slice(2)).toEqual(last.slice(0, 2));
  });

  test('gives its slots back', () => {
    const lanes = new Lanes();
    add(lanes, 'a', 1_000, 'overdue');
    const taken = takeAll(lanes, 'overdue');
    for (const due of taken) lanes.release(due);
    expect(takeAll(lanes, 'overdue')).toHaveLength(taken.length);
  });
});

describe('memory', () => {
  function lanesAlive(): number {
    return queryObjects(Heap, { format: 'count' }) / 2;
  }

  test('a lane that all have left is given up when its turn comes', () => {
    const before = lanesAlive();
    const lanes = new Lanes();
    for (let n = 0; n < 100; n++) {
      const due = towards(`${n}`);
      lanes.add(due, 'in_time');
      lanes.add({ ...due, endpoint: 'elsewhere' as EndpointKey }, 'in_time');
    }
    for (const due of takeAll(lanes)) lanes.release(due);
    expect([lanes.waiting, lanes.underWay, lanesAlive() - before]).toEqual([0, 0, 0]);
  });

  test('a lane lives until its last request is given back, and no longer', () => {
    const before = lanesAlive();
    const lanes = new Lanes();
    for (let endpoint = 0; endpoint < 1_000; endpoint++) add(lanes, `${endpoint}`, 2);
    const [first, ...others] = lanes.take('in_time', 1_000);
    for (const due of others) lanes.release(due);
    for (let batch = lanes.take('in_time', 64); batch.length > 0; batch = lanes.take('in_time', 64)) {
      for (const due of batch) lanes.release(due);
    }
    expect([lanesAlive() - before, lanes.waiting, lanes.underWay]).toEqual([1, 0, 1]);
    lanes.release(first ?? towards('none'));
    expect([lanesAlive() - before, lanes.waiting, lanes.underWay]).toEqual([0, 0, 0]);
  });
});
