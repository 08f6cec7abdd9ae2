import { describe, expect, test } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import { editProfile } from '#src/domain/profile.ts';
import * as life from '#src/domain/schedule-life.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { HOUR_MS, HOURLY, SUCCESS } from './builders.ts';

const CROWD = 100;

export function durabilityContract(suite: Suite): void {
  describe('what was answered', () => {
    test('survives closing and opening again', async () => {
      const bench = await suite.bench();
      await populate(bench);
      const before = await bench.everything();
      await bench.reopen();
      expect(await bench.everything()).toEqual(before);
    });

    test('to 500 verbs at once is what is there, and is there after opening again', async () => {
      const bench = await suite.bench();
      const views = await Promise.all(
        Array.from({ length: CROWD }, (_, i) => bench.addSchedule(i % 2 === 0 ? { timing: HOURLY } : {})),
      );
      bench.tick(HOUR_MS);
      const profiles = await Promise.all(Array.from({ length: CROWD / 2 }, () => bench.addProfile()));

      const answers = await Promise.all([
        ...views.map(async (view) => {
          const written = await bench.store.claim([bench.claim(pendingOf(view), view)]);
          return [view.schedule.timing.kind === 'recurring' ? view.schedule.id : null, ...written];
        }),
        ...['1h', '2h'].flatMap((ttl) =>
          views.map(async (view) => [
            view.schedule.id,
            await bench.store.replaceSchedule({ ...life.edit(view, { ttl }, bench.now), receipt: null }),
          ]),
        ),
        ...profiles.flatMap((profile) => [edit(bench, profile, '1s'), edit(bench, profile, '2s')]),
        ...views.map(async () => [null, await add(bench)]),
      ]);
      expect(answers).toHaveLength(5 * CROWD);

      // Every change raises one revision: those of all rows add up to what was answered `done`.
      const done = new Map<string | null, number>();
      for (const [id = null, written] of answers) {
        if (written === 'done') done.set(id, (done.get(id) ?? 0) + 1);
      }
      const [after] = await bench.everything();
      expect(after.schedules).toHaveLength(2 * CROWD);
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

      const before = await bench.everything();
      await bench.reopen();
      expect(await bench.everything()).toEqual(before);
    });
  });

  describe('a store', () => {
    test('that can write says so', async () => {
      const bench = await suite.bench();
      await expect(bench.store.check(bench.now)).resolves.toBeUndefined();
      await expect(bench.store.check(bench.tick())).resolves.toBeUndefined();
    });

    test('that is closed has written what it was given, refuses every verb, and may be closed again', async () => {
      const bench = await suite.bench();
      const opened = await suite.open();
      try {
        const { store } = opened;
        const receipts = Array.from({ length: 50 }, () => bench.receipt());
        const writes = receipts.map((receipt) => store.addReceipt(bench.partition, receipt));
        await store.close();
        expect(await Promise.all(writes)).toEqual(writes.map(() => 'done'));

        const [receipt = bench.receipt()] = receipts;
        const { schedule } = bench.schedule();
        await expect(store.addReceipt(bench.partition, receipt)).rejects.toThrow(StoreUnavailable);
        await expect(store.check(bench.now)).rejects.toThrow(StoreUnavailable);
        await expect(store.findReceipt(bench.partition, receipt.key, bench.now)).rejects.toThrow(
          StoreUnavailable,
        );
        await expect(store.findSchedule(bench.partition, schedule.id)).rejects.toThrow(StoreUnavailable);
        await expect(store.findTenant('hash')).rejects.toThrow(StoreUnavailable);
        await store.close();
      } finally {
        await opened.close();
      }
    });
  });
}

async function edit(bench: Bench, profile: ReturnType<Bench['profile']>, timeout: string) {
  const edited = editProfile(profile, { timeout }, bench.now);
  return [profile.id, await bench.store.replaceProfile({ profile: edited, headers: null, receipt: null })];
}

async function add(bench: Bench): Promise<string> {
  const made = bench.schedule({ metadata: [['crowd', 'yes']] });
  return bench.store.addSchedule({
    ...made,
    payload: Uint8Array.of(7),
    profile: null,
    receipt: bench.receipt(),
  });
}

/** Something in every table. */
async function populate(bench: Bench): Promise<void> {
  const profile = await bench.addProfile();
  await edit(bench, profile, '3s');
  await add(bench);
  const view = await bench.addSchedule({ timing: HOURLY });
  bench.tick(HOUR_MS);
  const finished = await bench.fire(pendingOf(view), SUCCESS);
  await bench.store.addReplay({ delivery: bench.replay(finished), receipt: null });
  await bench.store.saveGates([bench.gate(endpointKeyOf(finished.target))]);
  await bench.change(view.schedule.id, (read) => life.pause(read, bench.now));
  const { partition } = bench;
  const key = { id: bench.ids.mint('key', bench.now), partition, mode: 'test', hint: 'abcd' } as const;
  await bench.store.addKey({ ...key, hash: key.id, createdAt: bench.now, revokedAt: null, lastUsedAt: null });
  const secret = { id: bench.ids.mint('sec', bench.now), partition, sealed: Uint8Array.of(3) };
  await bench.store.addSecret({ ...secret, createdAt: bench.now, expiresAt: null }, instant(bench.now + 1));
}
