import { describe, expect, test } from 'vitest';
import { materialize } from '#src/domain/delivery-lifecycle.ts';
import { HOURLY, REDIRECT, scheduleIdOf } from './builders.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';

const RESPONSE = {
  statusCode: 503,
  contentType: 'text/plain',
  isTruncated: true,
  sealed: Buffer.from('sealed bytes of the answer'),
};

function triggeredOf(fixture: Fixture, pending: Parameters<typeof materialize>[0]) {
  const id = fixture.ids.mint('dlv', fixture.now);
  return materialize({ ...pending, id, occurrence: null, scheduledFor: fixture.now, createdAt: fixture.now });
}

export function triggeredContract(suite: Suite): void {
  describe('a triggered delivery', () => {
    test('is of no occurrence, so a schedule may have several', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      for (let count = 0; count < 3; count++) {
        const delivery = triggeredOf(fixture, pendingOf(view));
        const addition = { delivery, schedule: view.schedule, profile: null, receipt: fixture.receipt() };
        expect(await fixture.store.addTriggered(addition)).toBe('done');
        expect(await fixture.delivery(delivery.id)).toEqual(delivery);
      }
      expect(await fixture.view(view.schedule.id)).toEqual(view);
    });

    test('is refused when its schedule has changed', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      const schedule = { ...view.schedule, revision: view.schedule.revision + 1 };
      const delivery = triggeredOf(fixture, pendingOf(view));
      const receipt = fixture.receipt();
      const add = () => fixture.store.addTriggered({ delivery, schedule, profile: null, receipt });
      expect(await fixture.changesNothing(add)).toBe('stale');
    });
  });

  describe('the kept answer of an attempt', () => {
    const own = ownSuite(suite);

    test('is stored with the attempt, and removed with the delivery', async () => {
      const fixture = await own.fixture();
      const { store, partition } = fixture;
      const claimed = await fixture.addClaim(await fixture.addSchedule());
      const { schedule } = await fixture.view(scheduleIdOf(claimed.delivery));
      const settled = { ...fixture.settle(claimed, schedule, REDIRECT), response: RESPONSE };
      expect(await store.settle([settled])).toEqual(['done']);
      const { id } = claimed.delivery;
      const found = await store.findResponse(partition, id, 1);
      expect({ ...found, sealed: Buffer.from(found?.sealed ?? []) }).toEqual(RESPONSE);
      expect(await store.findResponse(partition, id, 2)).toBeNull();
      expect(await store.findResponse(fixture.neighbour, id, 1)).toBeNull();
      const kept = (where = partition, limit = 10) => store.insight.listKeptResponses(where, id, limit);
      expect([await kept(), await kept(fixture.neighbour), await kept(partition, 0)]).toEqual([[1], [], []]);
      const before = fixture.tick();
      await store.prune('deliveries', before, 10);
      expect(await store.findDelivery(partition, id)).toBeNull();
      expect(await kept()).toEqual([]);
      expect(await store.findResponse(partition, id, 1)).toBeNull();
    });
  });
}
