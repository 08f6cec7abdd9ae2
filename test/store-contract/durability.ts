import { describe, expect, test } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { editProfile } from '#src/domain/endpoint-profile.ts';
import { instant } from '#src/domain/instant.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

const SCHEDULE_COUNT = 100;

export function durabilityContract(suite: Suite): void {
  describe('an answered write', () => {
    test('is there after closing and reopening', async () => {
      const fixture = await suite.fixture();
      await populate(fixture);
      const before = await fixture.everything();
      await fixture.reopen();
      expect(await fixture.everything()).toEqual(before);
    });

    test('is stored, although other verbs that were sent with it fail with an error', async () => {
      const fixture = await suite.fixture();
      const made = Array.from({ length: 40 }, () => fixture.schedule());
      const isTaken = (index: number) => index % 13 === 0;
      const add = (each: (typeof made)[number]) =>
        fixture.store.addSchedule({ ...each, payload: null, profile: null, receipt: null });
      await Promise.all(made.filter((_, index) => isTaken(index)).map(add));
      const answers = await Promise.allSettled(made.map(add));
      expect(answers.map(({ status }) => status)).toEqual(
        made.map((_, index) => (isTaken(index) ? 'rejected' : 'fulfilled')),
      );
      for (const { schedule } of made) expect((await fixture.view(schedule.id)).schedule).toEqual(schedule);
    });

    test('of 500 concurrent verbs is stored, also after reopening', async () => {
      const fixture = await suite.fixture();
      const views = await Promise.all(
        Array.from({ length: SCHEDULE_COUNT }, (_, i) =>
          fixture.addSchedule(i % 2 === 0 ? { timing: HOURLY } : {}),
        ),
      );
      fixture.tick(HOUR_MS);
      const profiles = await Promise.all(
        Array.from({ length: SCHEDULE_COUNT / 2 }, () => fixture.addProfile()),
      );

      const answers = await Promise.all([
        ...views.map(async (view) => {
          const written = await fixture.store.claim([fixture.claim(pendingOf(view), view)]);
          return [view.schedule.timing.kind === 'recurring' ? view.schedule.id : null, ...written];
        }),
        ...['1h', '2h'].flatMap((ttl) =>
          views.map(async (view) => [
            view.schedule.id,
            await fixture.store.replaceSchedule({ ...life.edit(view, { ttl }, fixture.now), receipt: null }),
          ]),
        ),
        ...profiles.flatMap((profile) => [edit(fixture, profile, '1s'), edit(fixture, profile, '2s')]),
        ...views.map(async () => [null, await add(fixture)]),
      ]);
      expect(answers).toHaveLength(5 * SCHEDULE_COUNT);

      // Every change raises a revision by one. The sum over all rows must equal the number of `done` answers.
      const done = new Map<string | null, number>();
      for (const [id = null, written] of answers) {
        if (written === 'done') done.set(id, (done.get(id) ?? 0) + 1);
      }
      const [after] = await fixture.everything();
      expect(after.schedules).toHaveLength(2 * SCHEDULE_COUNT);
      for (const { schedule, pending } of after.schedules) {
        expect(schedule.revision).toBe(1 + (done.get(schedule.id) ?? 0));
        expect(pending).toMatchObject({ scheduleId: schedule.id, ttl: schedule.ttl });
      }
      for (const profile of after.profiles) {
        expect([profile.revision, done.get(profile.id)]).toEqual([2, 1]);
      }
      const claimed = after.deliveries.filter(({ status }) => status === 'claimed');
      expect(after.attempts.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(
        claimed.map(({ id }) => id).toSorted(),
      );

      const before = await fixture.everything();
      await fixture.reopen();
      expect(await fixture.everything()).toEqual(before);
    });
  });

  describe('a store', () => {
    test('that can write passes its check', async () => {
      const fixture = await suite.fixture();
      await expect(fixture.store.check(fixture.now)).resolves.toBeUndefined();
      await expect(fixture.store.check(fixture.tick())).resolves.toBeUndefined();
    });

    test('that is closed has written all verbs, refuses new ones, and may be closed again', async () => {
      const fixture = await suite.fixture();
      const opened = await suite.open();
      try {
        const { store } = opened;
        const receipts = Array.from({ length: 50 }, () => fixture.receipt());
        const writes = receipts.map((receipt) => store.addReceipt(fixture.partition, receipt));
        await store.close();
        expect(await Promise.all(writes)).toEqual(writes.map(() => 'done'));

        const [receipt = fixture.receipt()] = receipts;
        const { schedule } = fixture.schedule();
        await expect(store.addReceipt(fixture.partition, receipt)).rejects.toThrow(StoreUnavailable);
        await expect(store.check(fixture.now)).rejects.toThrow(StoreUnavailable);
        await expect(store.findReceipt(fixture.partition, receipt.key, fixture.now)).rejects.toThrow(
          StoreUnavailable,
        );
        await expect(store.findSchedule(fixture.partition, schedule.id)).rejects.toThrow(StoreUnavailable);
        await expect(store.findTenant('hash')).rejects.toThrow(StoreUnavailable);
        await store.close();
      } finally {
        await opened.close();
      }
    });
  });
}

async function edit(fixture: Fixture, profile: ReturnType<Fixture['profile']>, timeout: string) {
  const edited = editProfile(profile, { timeout }, fixture.now);
  return [profile.id, await fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null })];
}

async function add(fixture: Fixture): Promise<string> {
  const made = fixture.schedule({ metadata: [['team', 'one']] });
  return fixture.store.addSchedule({
    ...made,
    payload: Uint8Array.of(7),
    profile: null,
    receipt: fixture.receipt(),
  });
}

/** Adds a row to every table. */
async function populate(fixture: Fixture): Promise<void> {
  const profile = await fixture.addProfile();
  await edit(fixture, profile, '3s');
  await add(fixture);
  const view = await fixture.addSchedule({ timing: HOURLY });
  fixture.tick(HOUR_MS);
  const finished = await fixture.fire(pendingOf(view), SUCCESS);
  await fixture.store.addReplay({ delivery: fixture.replay(finished), receipt: null });
  await fixture.store.saveGates([fixture.gate(endpointKeyOf(finished.target))]);
  await fixture.change(view.schedule.id, (read) => life.pause(read, fixture.now));
  const { partition } = fixture;
  const key = { id: fixture.ids.mint('key', fixture.now), partition, mode: 'test', hint: 'abcd' } as const;
  await fixture.store.addKey({
    ...key,
    hash: key.id,
    createdAt: fixture.now,
    revokedAt: null,
    lastUsedAt: null,
  });
  const secret = { id: fixture.ids.mint('sec', fixture.now), partition, sealed: Uint8Array.of(3) };
  await fixture.store.addSecret(
    { ...secret, createdAt: fixture.now, expiresAt: null },
    instant(fixture.now + 1),
  );
}
