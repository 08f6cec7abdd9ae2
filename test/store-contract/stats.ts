import { describe, expect, test } from 'vitest';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import {
  addStats,
  HOUR_MS,
  LATENESS_CLASSES,
  MINUTE_MS,
  NO_STATS,
  type Stats,
  type StatsSpanMs,
} from '#src/domain/stats.ts';
import { PRUNED_ROWS } from '#src/store/sql/stats-retention.ts';
import { START } from './builders.ts';
import type { Suite } from './fixture.ts';

const LATER = instant(START + 24 * HOUR_MS);

function later(ms: number): Instant {
  return instant(START + ms);
}

function endpoint(name: string): EndpointKey {
  return endpointKeyOf({ endpointId: null, url: `https://example.com/${name}` });
}

function stats(given: Partial<Stats> = {}): Stats {
  return {
    ...NO_STATS,
    fired: 3,
    succeeded: 2,
    retried: 1,
    lateness: NO_STATS.lateness.with(2, 3),
    ...given,
  };
}

export function statsContract(suite: Suite): void {
  describe('stats', () => {
    test('are summed over nodes, in the order of time, within the window', async () => {
      const fixture = await suite.fixture();
      const { store, partition } = fixture;
      const saved = (at: number, of = stats()) =>
        ({ partition, spanMs: MINUTE_MS, at: later(at), stats: of }) as const;
      const late = stats({
        lateness: NO_STATS.lateness.with(LATENESS_CLASSES - 1, 1),
        expired: 4,
        deadLettered: 5,
        downtimeSkips: 6,
      });
      await store.insight.saveStats('a', [saved(2 * MINUTE_MS), saved(0), saved(3 * MINUTE_MS)], []);
      await store.insight.saveStats('b', [saved(2 * MINUTE_MS, late), saved(-MINUTE_MS)], []);
      expect(await store.insight.readStats(partition, MINUTE_MS, START, later(3 * MINUTE_MS))).toEqual([
        { at: START, stats: stats() },
        { at: later(2 * MINUTE_MS), stats: addStats(stats(), late) },
      ]);
      expect(await store.insight.readStats(partition, HOUR_MS, START, LATER)).toEqual([]);
      expect(await store.insight.readStats(fixture.neighbour, MINUTE_MS, START, LATER)).toEqual([]);
    });

    test('of a node replace its earlier ones', async () => {
      const { store, partition } = await suite.fixture();
      const save = (of: Stats) =>
        store.insight.saveStats('a', [{ partition, spanMs: HOUR_MS, at: START, stats: of }], []);
      await save(stats());
      await save(stats({ fired: 9 }));
      await save(stats({ fired: 9 }));
      expect(await store.insight.readStats(partition, HOUR_MS, START, LATER)).toEqual([
        { at: START, stats: stats({ fired: 9 }) },
      ]);
      await store.insight.saveStats('a', [], []);
    });

    test('of endpoints are summed over hours and nodes, without lateness', async () => {
      const fixture = await suite.fixture();
      const { store, partition } = fixture;
      const [one, other, silent] = [endpoint('one'), endpoint('other'), endpoint('silent')];
      const saved = (which: EndpointKey, at: number) => ({
        partition,
        endpoint: which,
        at: later(at),
        stats: stats(),
      });
      await store.insight.saveStats('a', [], [saved(one, 0), saved(one, HOUR_MS), saved(other, 0)]);
      await store.insight.saveStats('b', [], [saved(one, HOUR_MS), saved(silent, -HOUR_MS)]);
      const sum = (times: number): Stats => ({
        ...NO_STATS,
        fired: 3 * times,
        succeeded: 2 * times,
        retried: times,
      });
      expect(await store.insight.readEndpointStats(partition, [other, silent, one], START)).toEqual([
        { endpoint: other, stats: sum(1) },
        { endpoint: one, stats: sum(3) },
      ]);
      expect(await store.insight.readEndpointStats(partition, [], START)).toEqual([]);
      expect(await store.insight.listActiveEndpoints(partition, START, 10)).toEqual([one, other]);
      expect(await store.insight.listActiveEndpoints(partition, START, 1)).toEqual([one]);
      expect(await store.insight.listActiveEndpoints(fixture.neighbour, START, 10)).toEqual([]);
      expect(await store.insight.readEndpointStats(fixture.neighbour, [one], START)).toEqual([]);
    });

    test('that are old are removed in all partitions, however many', async () => {
      const own = await suite.fixture();
      const { store } = own;
      const minutes = Array.from({ length: 150 }, (_, index) => index * MINUTE_MS);
      for (const partition of [own.partition, own.neighbour]) {
        const saved = (spanMs: StatsSpanMs, at: number) => ({
          partition,
          spanMs,
          at: later(at),
          stats: stats(),
        });
        await store.insight.saveStats(
          'a',
          [...minutes.map((at) => saved(MINUTE_MS, at)), saved(HOUR_MS, 0), saved(HOUR_MS, HOUR_MS)],
          [0, 2 * HOUR_MS, 3 * HOUR_MS].map((at) => ({
            partition,
            endpoint: endpoint('a'),
            at: later(at),
            stats: stats(),
          })),
        );
      }
      const prune = () => store.insight.pruneStats(later(140 * MINUTE_MS), later(HOUR_MS));
      while (await prune());
      for (const partition of [own.partition, own.neighbour]) {
        const instants = async (spanMs: StatsSpanMs) =>
          (await store.insight.readStats(partition, spanMs, START, LATER)).map(({ at }) => at);
        expect(await instants(MINUTE_MS)).toEqual(minutes.slice(140).map(later));
        expect(await instants(HOUR_MS)).toEqual([later(HOUR_MS)]);
        expect(await store.insight.readEndpointStats(partition, [endpoint('a')], START)).toMatchObject([
          { stats: { fired: 3 } },
        ]);
      }
    });

    test('of many endpoints in one hour are all removed, and no others', async () => {
      const { store, partition } = await suite.fixture();
      const saved = (name: string, at: number) => ({
        partition,
        endpoint: endpoint(name),
        at: later(at),
        stats: stats(),
      });
      const names = Array.from({ length: 2 * PRUNED_ROWS + 1 }, (_, index) => `many-${index}`);
      for (const node of ['a', 'b']) {
        await store.insight.saveStats(
          node,
          [],
          [...names, 'kept'].map((name) => saved(name, 0)),
        );
      }
      await store.insight.saveStats('a', [], [saved('kept', HOUR_MS)]);
      while (await store.insight.pruneStats(START, later(HOUR_MS)));
      expect(await store.insight.listActiveEndpoints(partition, START, 10)).toEqual([endpoint('kept')]);
      expect(await store.insight.readEndpointStats(partition, [endpoint('kept')], START)).toMatchObject([
        { stats: { fired: 3 } },
      ]);
    });
  });
}
