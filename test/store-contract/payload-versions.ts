import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { type DeliveryId, firstIdAt, type ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { ScheduleReplacement } from '#src/ports/store.ts';
import { FAILURE, HOUR_MS, HOURLY, MINUTE_MS, SUCCESS } from './builders.ts';
import { hex } from './everything.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';

const bytes = (version: number) => Uint8Array.of(version, version, version);

/** A recurring schedule with a payload. */
async function addWithPayload(fixture: Fixture): Promise<ScheduleId> {
  const made = fixture.schedule({ timing: HOURLY, payloadBytes: 3 });
  await fixture.store.addSchedule({ ...made, payload: bytes(1), profile: null, receipt: null });
  return made.schedule.id;
}

/** Replaces the payload, also that of the pending delivery if it has had no attempt. */
async function nextVersion(fixture: Fixture, id: ScheduleId, isEmpty = false): Promise<void> {
  const { schedule, pending } = await fixture.view(id);
  const payloadVersion = schedule.payloadVersion + 1;
  const changed = { payloadVersion, payloadBytes: isEmpty ? 0 : 3 };
  const isFresh = pending !== null && pending.attemptCount === 0;
  const replacement: ScheduleReplacement = {
    schedule: { ...schedule, ...changed, revision: schedule.revision + 1 },
    pending: isFresh ? { ...pending, ...changed, revision: pending.revision + 1 } : null,
    payload: {
      sealed: isEmpty ? null : bytes(payloadVersion),
      sinceId: schedule.pendingId,
      lastId: firstIdAt('dlv', instant(fixture.now + MINUTE_MS)) as DeliveryId,
    },
    sweep: null,
    receipt: null,
  };
  expect(await fixture.store.replaceSchedule(replacement)).toBe('done');
}

async function payloadOf(fixture: Fixture, delivery: Delivery): Promise<string | null> {
  const [loaded] = await fixture.store.loadPayloads([delivery]);
  return hex(loaded?.payload ?? null);
}

export function payloadVersionsContract(suite: Suite): void {
  describe('a version of a payload', () => {
    const own = ownSuite(suite);
    const prune = async (fixture: Fixture, what: 'deliveries' | 'payloads') => {
      for (;;) if ((await own.store.prune(what, fixture.now, 10)) < 10) return;
    };

    test('stays with the deliveries that name it, and with their replays', async () => {
      const fixture = await own.fixture();
      const { store, partition } = fixture;
      const id = await addWithPayload(fixture);
      fixture.tick(HOUR_MS);
      const first = await fixture.fire(await fixture.pending(id), SUCCESS);
      await nextVersion(fixture, id);
      const second = await fixture.pending(id);
      expect([first, second].map(({ payloadVersion }) => payloadVersion)).toEqual([1, 2]);
      expect(await payloadOf(fixture, first)).toBe('010101');
      expect(await payloadOf(fixture, second)).toBe('020202');
      expect(hex(await store.findPayload(partition, id, 1))).toBe('010101');
      expect(hex(await store.findPayload(partition, id, 2))).toBe('020202');
      expect(await store.findPayload(partition, id, 3)).toBeNull();

      fixture.tick(HOUR_MS);
      await nextVersion(fixture, id, true);
      expect(await payloadOf(fixture, await fixture.pending(id))).toBeNull();
      const replay = await fixture.addReplay(first);
      await nextVersion(fixture, id);
      expect(await payloadOf(fixture, replay)).toBe('010101');
      expect(await payloadOf(fixture, await fixture.pending(id))).toBe('040404');
    });

    test('that no delivery names is not kept', async () => {
      const fixture = await own.fixture();
      const id = await addWithPayload(fixture);
      for (let version = 2; version < 6; version++) await nextVersion(fixture, id);
      for (const version of [1, 2, 3, 4]) {
        expect(await fixture.store.findPayload(fixture.partition, id, version)).toBeNull();
      }
      expect(hex(await fixture.store.findPayload(fixture.partition, id, 5))).toBe('050505');
    });

    test('is kept for a pending delivery that has had an attempt', async () => {
      const fixture = await own.fixture();
      const made = fixture.schedule({ payloadBytes: 3 });
      await fixture.store.addSchedule({ ...made, payload: bytes(1), profile: null, receipt: null });
      fixture.tick(HOUR_MS);
      const retried = await fixture.fire(pendingOf(await fixture.view(made.schedule.id)), FAILURE);
      expect(retried.status).toBe('retry_scheduled');
      await nextVersion(fixture, made.schedule.id);
      expect(await payloadOf(fixture, retried)).toBe('010101');
    });

    test('is kept for a delivery that waits, also when its id is of another time because a clock was set', async () => {
      const fixture = await own.fixture();
      const id = await addWithPayload(fixture);
      fixture.tick(HOUR_MS);
      const retried = await fixture.fire(await fixture.pending(id), FAILURE);
      const { schedule, pending } = await fixture.view(id);
      if (pending === null) throw new Error('There is no pending delivery.');
      const changed = { payloadVersion: 2, payloadBytes: 3 };
      const past = firstIdAt('dlv', instant(fixture.now - 10 * HOUR_MS)) as DeliveryId;
      const replaced = await fixture.store.replaceSchedule({
        schedule: { ...schedule, ...changed, revision: schedule.revision + 1 },
        pending: { ...pending, ...changed, revision: pending.revision + 1 },
        payload: { sealed: bytes(2), sinceId: past, lastId: past },
        sweep: null,
        receipt: null,
      });
      expect(replaced).toBe('done');
      await prune(fixture, 'payloads');
      expect(retried.status).toBe('retry_scheduled');
      expect(await payloadOf(fixture, retried)).toBe('010101');
    });

    test('goes with the last delivery that names it', async () => {
      const fixture = await own.fixture();
      const { store, partition } = fixture;
      const id = await addWithPayload(fixture);
      fixture.tick(HOUR_MS);
      const first = await fixture.fire(await fixture.pending(id), SUCCESS);
      await nextVersion(fixture, id);
      fixture.tick(HOUR_MS);
      const replay = await fixture.addReplay(first);
      const kept = () => store.findPayload(partition, id, 1).then(hex);

      // Only the original goes.
      await prune(fixture, 'deliveries');
      await prune(fixture, 'payloads');
      expect(await store.findDelivery(partition, first.id)).toBeNull();
      expect(await kept()).toBe('010101');
      fixture.tick(HOUR_MS);
      await prune(fixture, 'payloads');
      expect(await kept()).toBe('010101');

      const ended = await fixture.fire(replay, SUCCESS);
      fixture.tick(HOUR_MS);
      await prune(fixture, 'payloads');
      expect(await payloadOf(fixture, ended)).toBe('010101');
      await prune(fixture, 'deliveries');
      await prune(fixture, 'payloads');
      expect(await kept()).toBeNull();
      expect(hex(await store.findPayload(partition, id, 2))).toBe('020202');
    });

    test('stays for every replay, whatever the order in which they are stored', async () => {
      const fixture = await own.fixture();
      const { store, partition } = fixture;
      const id = await addWithPayload(fixture);
      fixture.tick(HOUR_MS);
      const first = await fixture.fire(await fixture.pending(id), SUCCESS);
      await nextVersion(fixture, id);
      fixture.tick(HOUR_MS);
      // The clocks of two nodes differ, so the id of the second replay is the lower one.
      const [early, late] = [fixture.replay(first), fixture.replay(first)];
      for (const delivery of [late, early]) await store.addReplay({ delivery, receipt: null });
      await fixture.fire(early, SUCCESS);
      fixture.tick(HOUR_MS);
      await prune(fixture, 'deliveries');
      await prune(fixture, 'payloads');
      expect(await store.findDelivery(partition, early.id)).toBeNull();
      expect(await payloadOf(fixture, late)).toBe('010101');
    });

    test('cannot be replayed once its delivery is gone', async () => {
      const fixture = await own.fixture();
      const id = await addWithPayload(fixture);
      fixture.tick(HOUR_MS);
      const first = await fixture.fire(await fixture.pending(id), SUCCESS);
      await nextVersion(fixture, id);
      fixture.tick(HOUR_MS);
      await prune(fixture, 'deliveries');
      const replay = () => fixture.store.addReplay({ delivery: fixture.replay(first), receipt: null });
      expect(await fixture.changesNothing(replay)).toBe('stale');
    });

    test('is found by a delivery that is read while the payload is replaced', async () => {
      const fixture = await own.fixture();
      const id = await addWithPayload(fixture);
      fixture.tick(HOUR_MS);
      const first = await fixture.fire(await fixture.pending(id), SUCCESS);
      const [read] = await Promise.all([
        Promise.all(Array.from({ length: 20 }, () => payloadOf(fixture, first))),
        nextVersion(fixture, id),
      ]);
      expect(new Set(read)).toEqual(new Set(['010101']));
    });
  });
}
