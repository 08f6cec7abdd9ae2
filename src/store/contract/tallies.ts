import { describe, expect, test } from 'vitest';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import {
  addTallies,
  HOUR_MS,
  LATENESS_CLASSES,
  MINUTE_MS,
  NO_TALLY,
  type Tally,
  type TallySpanMs,
} from '#src/domain/tally.ts';
import { PRUNED_ROWS } from '#src/store/sql/insight-bounds.ts';
import type { Suite } from './bench.ts';
import { START } from './builders.ts';

const LATER = instant(START + 24 * HOUR_MS);

function later(ms: number): Instant {
  return instant(START + ms);
}

function endpoint(name: string): EndpointKey {
  return endpointKeyOf({ endpointId: null, url: `https://example.com/${name}` });
}

function tally(given: Partial<Tally> = {}): Tally {
  return {
    ...NO_TALLY,
    fired: 3,
    succeeded: 2,
    retried: 1,
    lateness: NO_TALLY.lateness.with(2, 3),
    ...given,
  };
}

export function talliesContract(suite: Suite): void {
  describe('tallies', () => {
    test('are added up over nodes, in the order of time, within the window', async () => {
      const bench = await suite.bench();
      const { store, partition } = bench;
      const saved = (at: number, of = tally()) =>
        ({ partition, spanMs: MINUTE_MS, at: later(at), tally: of }) as const;
      const late = tally({
        lateness: NO_TALLY.lateness.with(LATENESS_CLASSES - 1, 1),
        expired: 4,
        deadLettered: 5,
      });
      await store.insight.saveTallies('a', [saved(2 * MINUTE_MS), saved(0), saved(3 * MINUTE_MS)], []);
      await store.insight.saveTallies('b', [saved(2 * MINUTE_MS, late), saved(-MINUTE_MS)], []);
      expect(await store.insight.readTallies(partition, MINUTE_MS, START, later(3 * MINUTE_MS))).toEqual([
        { at: START, tally: tally() },
        { at: later(2 * MINUTE_MS), tally: addTallies(tally(), late) },
      ]);
      expect(await store.insight.readTallies(partition, HOUR_MS, START, LATER)).toEqual([]);
      expect(await store.insight.readTallies(bench.neighbour, MINUTE_MS, START, LATER)).toEqual([]);
    });

    test('of a node replace those that it saved before', async () => {
      const { store, partition } = await suite.bench();
      const save = (of: Tally) =>
        store.insight.saveTallies('a', [{ partition, spanMs: HOUR_MS, at: START, tally: of }], []);
      await save(tally());
      await save(tally({ fired: 9 }));
      await save(tally({ fired: 9 }));
      expect(await store.insight.readTallies(partition, HOUR_MS, START, LATER)).toEqual([
        { at: START, tally: tally({ fired: 9 }) },
      ]);
      await store.insight.saveTallies('a', [], []);
    });

    test('of endpoints are added up over hours and nodes, without lateness', async () => {
      const bench = await suite.bench();
      const { store, partition } = bench;
      const [one, other, silent] = [endpoint('one'), endpoint('other'), endpoint('silent')];
      const saved = (which: EndpointKey, at: number) => ({
        partition,
        endpoint: which,
        at: later(at),
        tally: tally(),
      });
      await store.insight.saveTallies('a', [], [saved(one, 0), saved(one, HOUR_MS), saved(other, 0)]);
      await store.insight.saveTallies('b', [], [saved(one, HOUR_MS), saved(silent, -HOUR_MS)]);
      const sum = (times: number): Tally => ({
        ...NO_TALLY,
        fired: 3 * times,
        succeeded: 2 * times,
        retried: times,
      });
      expect(await store.insight.readEndpointTallies(partition, [other, silent, one], START)).toEqual([
        { endpoint: other, tally: sum(1) },
        { endpoint: one, tally: sum(3) },
      ]);
      expect(await store.insight.readEndpointTallies(partition, [], START)).toEqual([]);
      expect(await store.insight.listActiveEndpoints(partition, START, 10)).toEqual([one, other]);
      expect(await store.insight.listActiveEndpoints(partition, START, 1)).toEqual([one]);
      expect(await store.insight.listActiveEndpoints(bench.neighbour, START, 10)).toEqual([]);
      expect(await store.insight.readEndpointTallies(bench.neighbour, [one], START)).toEqual([]);
    });

    test('that are old enough are removed, however many, of every partition', async () => {
      const own = await suite.bench();
      const { store } = own;
      const minutes = Array.from({ length: 150 }, (_, index) => index * MINUTE_MS);
      for (const partition of [own.partition, own.neighbour]) {
        const saved = (spanMs: TallySpanMs, at: number) => ({
          partition,
          spanMs,
          at: later(at),
          tally: tally(),
        });
        await store.insight.saveTallies(
          'a',
          [...minutes.map((at) => saved(MINUTE_MS, at)), saved(HOUR_MS, 0), saved(HOUR_MS, HOUR_MS)],
          [0, 2 * HOUR_MS, 3 * HOUR_MS].map((at) => ({
            partition,
            endpoint: endpoint('a'),
            at: later(at),
            tally: tally(),
          })),
        );
      }
      const prune = () => store.insight.pruneTallies(later(140 * MINUTE_MS), later(HOUR_MS));
      while (await prune());
      for (const partition of [own.partition, own.neighbour]) {
        const instants = async (spanMs: TallySpanMs) =>
          (await store.insight.readTallies(partition, spanMs, START, LATER)).map(({ at }) => at);
        expect(await instants(MINUTE_MS)).toEqual(minutes.slice(140).map(later));
        expect(await instants(HOUR_MS)).toEqual([later(HOUR_MS)]);
        expect(await store.insight.readEndpointTallies(partition, [endpoint('a')], START)).toMatchObject([
          { tally: { fired: 3 } },
        ]);
      }
    });

    test('of many endpoints in one hour are all removed, and no others', async () => {
      const { store, partition } = await suite.bench();
      const saved = (name: string, at: number) => ({
        partition,
        endpoint: endpoint(name),
        at: later(at),
        tally: tally(),
      });
      const names = Array.from({ length: 2 * PRUNED_ROWS + 1 }, (_, index) => `many-${index}`);
      for (const node of ['a', 'b']) {
        await store.insight.saveTallies(
          node,
          [],
          [...names, 'kept'].map((name) => saved(name, 0)),
        );
      }
      await store.insight.saveTallies('a', [], [saved('kept', HOUR_MS)]);
      while (await store.insight.pruneTallies(START, later(HOUR_MS)));
      expect(await store.insight.listActiveEndpoints(partition, START, 10)).toEqual([endpoint('kept')]);
      expect(await store.insight.readEndpointTallies(partition, [endpoint('kept')], START)).toMatchObject([
        { tally: { fired: 3 } },
      ]);
    });
  });
}
