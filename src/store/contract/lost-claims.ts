import { describe, expect, test } from 'vitest';
import { INTERRUPTED } from '#src/domain/delivery-life.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { LostClaim } from '#src/ports/store.ts';
import { type Bench, firingSchedule, ownSuite, type Suite } from './bench.ts';
import { FAILURE, HOUR_MS, HOURLY, SUCCESS } from './builders.ts';

const LIMIT = 100;

export function lostClaimsContract(suite: Suite): void {
  describe('lost claims', () => {
    const own = ownSuite(suite);

    test('are those of nodes that are not among the living, of every partition', async () => {
      const bench = await own.bench();
      const other = await own.bench();
      const lost = [
        await bench.take(await bench.addSchedule(), 'gone-1'),
        await other.take(await other.addSchedule(), 'gone-1'),
        await bench.take(await bench.addSchedule(), 'gone-2'),
      ];
      await bench.take(await bench.addSchedule(), 'alive-1');
      await other.take(await other.addSchedule(), 'alive-2');
      const found = await bench.store.listLostClaims(['alive-2', 'unheard-of', 'alive-1'], LIMIT);
      expect(idsOf(found)).toEqual(lost.map(({ delivery }) => delivery.id).toSorted());
      expect(await bench.store.listLostClaims(['gone-2', 'alive-1', 'alive-2', 'gone-1'], LIMIT)).toEqual([]);
      await end(bench, await bench.store.listLostClaims([], LIMIT));
    });

    test('come with the attempt that is under way and the schedule as it is now', async () => {
      const bench = await own.bench();
      const { schedule } = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const retrying = await bench.fire(await bench.pending(schedule.id), FAILURE);
      const second = bench.claim(retrying, await bench.view(schedule.id));
      expect(await bench.store.claim([second])).toEqual(['done']);
      const edited = await bench.change(schedule.id, (view) => life.edit(view, { ttl: '1h' }, bench.tick()));
      const found = await bench.store.listLostClaims([], LIMIT);
      expect(found).toEqual([
        { delivery: second.delivery, attempt: second.attempt, schedule: firingSchedule(edited.schedule) },
      ]);
      expect(second.attempt.attemptNo).toBe(2);
      await end(bench, found);
    });

    test('are no more once they are settled, by whomever', async () => {
      const bench = await own.bench();
      const view = await bench.addSchedule();
      const claimed = await bench.take(view);
      expect(await bench.store.settle([bench.settle(claimed, view.schedule, SUCCESS)])).toEqual(['done']);
      expect(await bench.store.listLostClaims([], LIMIT)).toEqual([]);

      await bench.take(await bench.addSchedule());
      const [lost] = await bench.store.listLostClaims([], LIMIT);
      if (lost === undefined) throw new Error('It is lost.');
      const recovered = bench.settle(lost, lost.schedule, INTERRUPTED);
      expect(await bench.store.settle([recovered])).toEqual(['done']);
      expect(recovered.delivery.status).toBe('retry_scheduled');
      expect(await bench.store.listLostClaims([], LIMIT)).toEqual([]);
    });

    test('come as many at a time as asked for, until none is left', async () => {
      const bench = await own.bench();
      for (let i = 0; i < 7; i++) {
        await bench.take(await bench.addSchedule(), `gone-${i % 3}`);
        await bench.take(await bench.addSchedule(), `gone-${i % 3}-not`);
      }
      const living = ['gone-0-not', 'gone-1-not', 'gone-2-not'];
      const sizes: number[] = [];
      const seen = new Set<string>();
      for (;;) {
        const found = await bench.store.listLostClaims(living, 3);
        sizes.push(found.length);
        for (const { delivery } of found) seen.add(delivery.id);
        if (found.length === 0) break;
        await end(bench, found);
      }
      expect(sizes).toEqual([3, 3, 1, 0]);
      expect(seen.size).toBe(7);
      await end(bench, await bench.store.listLostClaims([], LIMIT));
    });

    test('are told apart by the exact name of their node', async () => {
      const bench = await own.bench();
      const names = ['node', 'node-1', 'node-10', 'NODE', 'nöde', 'Z', 'z', '\u{10ffff}', '\uffee', ' '];
      for (const name of names) await bench.take(await bench.addSchedule(), name);
      for (const name of names) {
        const others = names.filter((other) => other !== name);
        const found = await bench.store.listLostClaims(others, LIMIT);
        expect(found.map(({ delivery }) => delivery.claim?.node)).toEqual([name]);
      }
    });
  });
}

function idsOf(claims: readonly LostClaim[]): readonly string[] {
  return claims.map(({ delivery }) => delivery.id).toSorted();
}

/** Settles them, so that the next test does not find them. */
async function end(bench: Bench, claims: readonly LostClaim[]): Promise<void> {
  const settled = claims.map((lost) => bench.settle(lost, lost.schedule, SUCCESS));
  expect(await bench.store.settle(settled)).toEqual(claims.map(() => 'done'));
}
