import { describe, expect, test } from 'vitest';
import { INTERRUPTED } from '#src/domain/failures.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import type { UnsettledAttempt } from '#src/ports/store.ts';
import { FAILURE, HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { type Fixture, firingSchedule, ownSuite, type Suite } from './fixture.ts';

const LIMIT = 100;

export function lostClaimsContract(suite: Suite): void {
  describe('lost claims', () => {
    const own = ownSuite(suite);

    test('are those of nodes that do not live, in all partitions', async () => {
      const fixture = await own.fixture();
      const other = await own.fixture();
      const lost = [
        await fixture.addClaim(await fixture.addSchedule(), 'gone-1'),
        await other.addClaim(await other.addSchedule(), 'gone-1'),
        await fixture.addClaim(await fixture.addSchedule(), 'gone-2'),
      ];
      await fixture.addClaim(await fixture.addSchedule(), 'alive-1');
      await other.addClaim(await other.addSchedule(), 'alive-2');
      const found = await fixture.store.listLostClaims(['alive-2', 'unheard-of', 'alive-1'], LIMIT);
      expect(idsOf(found)).toEqual(lost.map(({ delivery }) => delivery.id).toSorted());
      expect(await fixture.store.listLostClaims(['gone-2', 'alive-1', 'alive-2', 'gone-1'], LIMIT)).toEqual(
        [],
      );
      await end(fixture, await fixture.store.listLostClaims([], LIMIT));
    });

    test('come with the attempt in flight and the current schedule', async () => {
      const fixture = await own.fixture();
      const { schedule } = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const retrying = await fixture.fire(await fixture.pending(schedule.id), FAILURE);
      const second = fixture.claim(retrying, await fixture.view(schedule.id));
      expect(await fixture.store.claim([second])).toEqual(['done']);
      const edited = await fixture.change(schedule.id, (view) =>
        life.edit(view, { ttl: '1h' }, fixture.tick()),
      );
      const found = await fixture.store.listLostClaims([], LIMIT);
      expect(found).toEqual([{ delivery: second.delivery, schedule: firingSchedule(edited.schedule) }]);
      expect(second.attempt.attemptNo).toBe(2);
      await end(fixture, found);
    });

    test('are not listed after they were settled by any node', async () => {
      const fixture = await own.fixture();
      const view = await fixture.addSchedule();
      const claimed = await fixture.addClaim(view);
      expect(await fixture.store.settle([fixture.settle(claimed, view.schedule, SUCCESS)])).toEqual(['done']);
      expect(await fixture.store.listLostClaims([], LIMIT)).toEqual([]);

      await fixture.addClaim(await fixture.addSchedule());
      const [lost] = await fixture.store.listLostClaims([], LIMIT);
      if (lost === undefined) throw new Error('There is no lost claim.');
      const recovered = fixture.settle(lost, lost.schedule, INTERRUPTED);
      expect(await fixture.store.settle([recovered])).toEqual(['done']);
      expect(recovered.delivery.status).toBe('retry_scheduled');
      expect(await fixture.store.listLostClaims([], LIMIT)).toEqual([]);
    });

    test('are returned up to the limit, until none is left', async () => {
      const fixture = await own.fixture();
      for (let i = 0; i < 7; i++) {
        await fixture.addClaim(await fixture.addSchedule(), `gone-${i % 3}`);
        await fixture.addClaim(await fixture.addSchedule(), `gone-${i % 3}-not`);
      }
      const living = ['gone-0-not', 'gone-1-not', 'gone-2-not'];
      const sizes: number[] = [];
      const seen = new Set<string>();
      for (;;) {
        const found = await fixture.store.listLostClaims(living, 3);
        sizes.push(found.length);
        for (const { delivery } of found) seen.add(delivery.id);
        if (found.length === 0) break;
        await end(fixture, found);
      }
      expect(sizes).toEqual([3, 3, 1, 0]);
      expect(seen.size).toBe(7);
      await end(fixture, await fixture.store.listLostClaims([], LIMIT));
    });

    test('are distinguished by the exact name of their node', async () => {
      const fixture = await own.fixture();
      const names = ['node', 'node-1', 'node-10', 'NODE', 'nöde', 'Z', 'z', '\u{10ffff}', '\uffee', ' '];
      for (const name of names) await fixture.addClaim(await fixture.addSchedule(), name);
      for (const name of names) {
        const others = names.filter((other) => other !== name);
        const found = await fixture.store.listLostClaims(others, LIMIT);
        expect(found.map(({ delivery }) => delivery.claim?.node)).toEqual([name]);
      }
    });
  });
}

function idsOf(claims: readonly UnsettledAttempt[]): readonly string[] {
  return claims.map(({ delivery }) => delivery.id).toSorted();
}

/** Settles the claims, so that the next test does not find them. */
async function end(fixture: Fixture, claims: readonly UnsettledAttempt[]): Promise<void> {
  const settled = claims.map((lost) => fixture.settle(lost, lost.schedule, SUCCESS));
  expect(await fixture.store.settle(settled)).toEqual(claims.map(() => 'done'));
}
