/** The model of capacity, with costs that are easy to calculate by hand. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { USUAL_LOAD, USUAL_MACHINES } from '../../bench/capacity/command-line.ts';
import { type CostPoint, NO_USAGE, type StoreCosts, type Usage } from '../../bench/capacity/costs.ts';
import { ASSUMED_CAPABILITIES, brokenInOrder, type Setting } from '../../bench/capacity/limits.ts';
import {
  burstRateOn,
  highestRate,
  type Load,
  needsOf,
  nodeRate,
  nodesFor,
  useOf,
} from '../../bench/capacity/model.ts';

function point(work: CostPoint['work'], perSecond: number, each: Partial<Usage>, bodyBytes = 0): CostPoint {
  return { work, perSecond, bodyBytes, count: 1, each: { ...NO_USAGE, ...each } };
}

/** A delivery takes 1,000 µs at 100 a second, and 100 µs at 5,000. A create takes 200 µs at any rate. */
const COSTS: StoreCosts = {
  receiverMicros: 50,
  idle: { ...NO_USAGE, mainMicros: 10_000 },
  points: [
    point('delivery', 100, { mainMicros: 1_000, databaseMicros: 500, writtenBytes: 4_000, diskBytes: 1_000 }),
    point('delivery', 5_000, { mainMicros: 100, databaseMicros: 100, writtenBytes: 2_000, diskBytes: 1_000 }),
    point('create', 100, { mainMicros: 200, databaseMicros: 50 }),
    point('create', 5_000, { mainMicros: 200, databaseMicros: 50 }),
    point('retry', 1_000, { mainMicros: 80, databaseMicros: 80 }),
    point('removal', 1_000, { databaseMicros: 20 }),
  ],
};

const ALONE: Load = {
  ...USUAL_LOAD,
  rate: 1,
  creates: 0,
  retries: 0,
  newConnections: 0,
  answerSeconds: 0,
  retentionSeconds: 1_000,
};

function use(perSecond: number, bodyBytes = 0): number {
  return useOf(COSTS, 'delivery', perSecond, bodyBytes, 'mainMicros');
}

describe('the use of a resource', () => {
  test('goes through the measured points in straight lines', () => {
    expect(use(0)).toBe(0);
    expect(use(50)).toBe(50_000);
    expect(use(100)).toBe(100_000);
    // Half-way from 100 to 5,000, and from 100,000 to 500,000 µs.
    expect(use(2_550)).toBe(300_000);
    expect(use(5_000)).toBe(500_000);
  });

  test('costs above the burst what it costs in the burst', () => {
    expect(use(10_000)).toBe(1_000_000);
  });

  test('grows with the body in a straight line, also above the sizes that were measured', () => {
    const costs: StoreCosts = {
      ...COSTS,
      points: [
        point('create', 100, { writtenBytes: 2_000 }, 0),
        point('create', 100, { writtenBytes: 12_000 }, 10_000),
      ],
    };
    const each = (body: number) => useOf(costs, 'create', 1, body, 'writtenBytes');
    expect([0, 5_000, 10_000, 20_000].map(each)).toEqual([2_000, 7_000, 12_000, 22_000]);
  });

  test('never falls because a large body happened to be cheaper', () => {
    const costs: StoreCosts = {
      ...COSTS,
      points: [
        point('create', 100, { mainMicros: 200 }, 0),
        point('create', 100, { mainMicros: 150 }, 10_000),
      ],
    };
    expect(useOf(costs, 'create', 1, 20_000, 'mainMicros')).toBe(200);
  });

  test('of a work that was not measured is 0', () => {
    expect(useOf(COSTS, 'connection', 100, 0, 'mainMicros')).toBe(0);
  });
});

describe('nodes', () => {
  test('carry as much as their main thread may be busy', () => {
    // 60 % of a core is 600,000 µs. An idle node uses 10,000, and a delivery 100: 5,900 a second.
    expect(nodeRate(COSTS, ALONE, USUAL_MACHINES)).toBeCloseTo(5_900, -2);
  });

  test('carry more with faster cores', () => {
    const machines = { ...USUAL_MACHINES, coreSpeed: 2 };
    expect(nodeRate(COSTS, ALONE, machines)).toBeCloseTo(11_900, -2);
  });

  test('are enough if the busiest one is: slots are shared out whole', () => {
    const at = (rate: number) => nodesFor(COSTS, { ...ALONE, rate }, USUAL_MACHINES);
    expect(at(5_800)).toBe(1);
    expect(at(11_700)).toBe(2);
    // Three nodes own 86, 85 and 85 of 256 slots. The busiest one has 33.6 % of the load, not a third.
    expect(at(17_500)).toBe(3);
    expect(at(17_650)).toBe(4);
    // Of 200 nodes, 56 own two slots and 144 own one. The busiest has as much as with 128 nodes.
    expect(at(5_850 * 128)).toBe(128);
    expect(at(5_850 * 131)).toBe(256);
    expect(at(5_850 * 262)).toBeNull();
  });

  test('are needed for requests that wait for their answer, beyond 2,048 permits each', () => {
    const load = { ...ALONE, rate: 1_000, answerSeconds: 10 };
    expect(nodesFor(COSTS, load, USUAL_MACHINES)).toBe(5);
    expect(nodesFor(COSTS, { ...load, bodyBytes: 100_000 }, USUAL_MACHINES)).toBe(10);
  });

  test('of a store in one process: there is one, or it is too much', () => {
    expect(needsOf('sqlite', COSTS, { ...ALONE, rate: 5_000 }, USUAL_MACHINES).nodes).toBe(1);
    expect(needsOf('sqlite', COSTS, { ...ALONE, rate: 6_500 }, USUAL_MACHINES).nodes).toBeNull();
  });
});

describe('the rate of a burst', () => {
  test('is what the main thread or all cores together can do', () => {
    // 100 µs of the main thread, 100 of the database and 50 of the receiver.
    const costs: StoreCosts = {
      ...COSTS,
      points: [point('delivery', 5_000, { mainMicros: 100, nodeMicros: 150, databaseMicros: 100 })],
    };
    expect(burstRateOn(2, costs)).toBeCloseTo(1e6 / 150);
    expect(burstRateOn(8, costs)).toBe(10_000);
    expect(burstRateOn(8, { ...costs, receiverMicros: null })).toBeNull();
  });
});

describe('needs', () => {
  test('are those of all nodes and works together', () => {
    const load = { ...ALONE, rate: 5_000, creates: 1, retries: 0.1 };
    const needs = needsOf('postgres', COSTS, load, { ...USUAL_MACHINES, load: 1 });
    // One main thread: 500,000 µs of deliveries, 1,000,000 of creates, 40,000 of retries, so two nodes of 2,500.
    expect(needs.nodes).toBe(2);
    // Each of the two: 50,000 + 450,000 × 2,400 / 4,900 µs of deliveries, 125,000 of creates and 20,000 of retries.
    const each = 50_000 + (450_000 * 2_400) / 4_900 + 125_000 + 20_000;
    expect(needs.databaseCores).toBeCloseTo((2 * each + 5_000 * 20) / 1e6, 6);
    expect(needs.connections).toBe(28);
    expect(needs.diskBytes).toBe(5_000 * 1_000 * 1_000);
  });

  test('never fall when the rate rises', () => {
    const rate = fc.double({ min: 1, max: 2e6, noNaN: true });
    fc.assert(
      fc.property(rate, rate, fc.double({ min: 0, max: 2, noNaN: true }), (a, b, creates) => {
        const at = (each: number) =>
          needsOf('postgres', COSTS, { ...ALONE, rate: each, creates }, USUAL_MACHINES);
        const [low, high] = [at(Math.min(a, b)), at(Math.max(a, b))];
        expect(high.nodes ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(
          low.nodes ?? Number.POSITIVE_INFINITY,
        );
        for (const need of ['databaseCores', 'nodeCores', 'writtenBytesPerSecond', 'diskBytes'] as const) {
          expect(high[need] ?? 0).toBeGreaterThanOrEqual((low[need] ?? 0) * (1 - 1e-9));
        }
      }),
    );
  });
});

describe('limits', () => {
  const setting: Setting = {
    store: 'postgres',
    costs: COSTS,
    machines: { ...USUAL_MACHINES, databaseCores: 1, load: 0.6 },
    capabilities: { ...ASSUMED_CAPABILITIES, diskBytes: 1e9, walBytesPerSecond: 1e12 },
    given: new Set(['diskBytes']),
  };

  test('are in the order in which they break', () => {
    const limits = brokenInOrder(setting, ALONE);
    // 1,000 bytes kept for 1,000 s fill 1 GB at 1,000 a second. The removal was measured at 1,000 a second too.
    expect(
      limits
        .slice(0, 2)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['disk', 'removal']);
    expect(limits[0]?.rate).toBeCloseTo(1_000, -1);
    expect(limits.map(({ rate }) => rate)).toEqual(limits.map(({ rate }) => rate).toSorted((a, b) => a - b));
  });

  test('say whether the reader gave them', () => {
    const limits = brokenInOrder(setting, ALONE);
    expect(limits.find(({ name }) => name === 'disk')?.origin).toBe('given');
    expect(limits.find(({ name }) => name === 'log')?.origin).toBe('assumed');
    expect(limits.find(({ name }) => name === 'slots')?.origin).toBe('documented');
    expect(limits.find(({ name }) => name === 'removal')?.origin).toBe('measured');
  });

  test('of cores are the rate that fills them', () => {
    const cores = brokenInOrder(setting, ALONE).find(({ name }) => name === 'database cores');
    // 100 µs for the delivery and 20 for its removal: 0.6 cores do 5,000 of them.
    expect(cores?.rate).toBeCloseTo(5_000, -2);
  });

  test('a rate that always holds is infinite, and one that never holds is 0', () => {
    expect(highestRate(ALONE, () => true)).toBe(Number.POSITIVE_INFINITY);
    expect(highestRate(ALONE, () => false)).toBe(0);
    expect(highestRate(ALONE, ({ rate }) => rate <= 1_234)).toBeCloseTo(1_234, -1);
  });
});
