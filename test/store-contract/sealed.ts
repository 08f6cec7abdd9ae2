import { beforeAll, describe, expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import {
  SEALED_COLUMN_NAMES,
  SEALED_HEAD_BYTES,
  type SealedColumnName,
  type SealedEntry,
  type SealedKey,
} from '#src/ports/vault.ts';
import { newChannel } from './alert-builders.ts';
import { FAILURE, START } from './builders.ts';
import { type Fixture, ownSuite, type Suite } from './fixture.ts';

const VALUE = Buffer.from('0123456789 sealed');
const OTHER = Buffer.from('9876543210 sealed anew');

/** Fills each sealed column twice, and adds a version of a profile without headers. */
async function fill(fixture: Fixture): Promise<void> {
  const { store } = fixture;
  for (const _ of [1, 2]) {
    const made = fixture.schedule();
    await store.addSchedule({ ...made, payload: VALUE, profile: null, receipt: null });
    await addEarlierPayload(fixture, made.schedule.id);
    const profile = fixture.profile();
    await store.addProfile({ profile, headers: VALUE, receipt: null });
    await store.addProfile({ profile: fixture.profile(), headers: null, receipt: null });
    const id = fixture.ids.mint('sec', fixture.now);
    const secret = {
      id,
      partition: fixture.partition,
      sealed: VALUE,
      createdAt: fixture.now,
      expiresAt: null,
    };
    await store.addSecret(secret, START);
    const owner = { partition: fixture.partition, endpointId: profile.id };
    const added = { ...secret, ...owner, aloneFrom: null };
    await store.changeEndpointSecrets({ ...owner, before: [], ended: [], added });
    await store.alerts.addChannel(newChannel(fixture, { sealedUrl: VALUE }));
  }
}

/** Sends the delivery of a one-shot, keeps what was answered, and replaces the payload. */
async function addEarlierPayload(fixture: Fixture, id: ScheduleId): Promise<void> {
  const { store } = fixture;
  const claimed = await fixture.addClaim(await fixture.view(id));
  const { schedule } = await fixture.view(id);
  const response = { statusCode: 503, contentType: null, isTruncated: false, sealed: VALUE };
  expect(await store.settle([{ ...fixture.settle(claimed, schedule, FAILURE), response }])).toEqual(['done']);
  const payload = { sealed: VALUE, sinceId: claimed.delivery.id, lastId: claimed.delivery.id };
  const next = {
    ...schedule,
    payloadVersion: schedule.payloadVersion + 1,
    revision: schedule.revision + 1,
  };
  expect(
    await store.replaceSchedule({ schedule: next, pending: null, payload, sweep: null, receipt: null }),
  ).toBe('done');
}

export function sealedContract(suite: Suite): void {
  describe('sealed values', () => {
    const own = ownSuite(suite);
    const filled: readonly SealedColumnName[] = [...SEALED_COLUMN_NAMES];
    const sealed = () => own.store.sealed;
    beforeAll(async () => {
      for (const _ of [1, 2]) await fill(await own.fixture());
    });

    async function listAll(name: SealedColumnName, limit: number): Promise<readonly SealedEntry[]> {
      const all: SealedEntry[] = [];
      let after: SealedKey | null = null;
      for (;;) {
        const page: readonly SealedEntry[] = await sealed().listSealed(name, after, limit);
        if (page.length === 0) return all;
        expect(page.length).toBeLessThanOrEqual(limit);
        all.push(...page);
        after = page.at(-1)?.key ?? null;
      }
    }

    async function oneOf(name: SealedColumnName): Promise<SealedKey> {
      const entry = (await sealed().listSealed(name, null, 10)).find(({ head }) => head !== null);
      if (entry === undefined) throw new Error('There is no entry.');
      return entry.key;
    }

    test.for(filled)('are listed in pages, each once, with head and size: %s', async (name) => {
      const all = await listAll(name, 100);
      expect(await listAll(name, 1)).toEqual(all);
      expect(await listAll(name, 3)).toEqual(all);
      expect(new Set(all.map(({ key }) => key.join())).size).toBe(all.length);
      const present = all.filter(({ head }) => head !== null);
      expect(present).toHaveLength(4);
      for (const { head, bytes } of present) {
        expect(Buffer.from(head ?? [])).toEqual(VALUE.subarray(0, SEALED_HEAD_BYTES));
        expect(bytes).toBe(VALUE.length);
      }
    });

    test('that are null have no head', async () => {
      const all = await listAll('profile_headers', 100);
      expect(all.filter(({ head }) => head === null)).toHaveLength(4);
      for (const { key, head, bytes } of all.filter(({ head }) => head === null)) {
        expect({ head, bytes }).toEqual({ head: null, bytes: 0 });
        expect(await sealed().findSealed('profile_headers', key)).toBeNull();
      }
    });

    test.for(filled)(
      'are replaced where they are still as they were read, and nowhere else: %s',
      async (name) => {
        const key = await oneOf(name);
        const others = async () =>
          Promise.all(
            (await listAll(name, 100))
              .filter((entry) => entry.key.join() !== key.join())
              .map((entry) => sealed().findSealed(name, entry.key)),
          );
        const before = await others();
        expect(await sealed().findSealed(name, key)).toEqual(VALUE);
        const replacement = { key, was: VALUE, sealed: OTHER };
        expect(await sealed().replaceSealed(name, [replacement])).toEqual(['done']);
        expect(await sealed().findSealed(name, key)).toEqual(OTHER);
        // An old value does not replace one that was changed in between.
        expect(await sealed().replaceSealed(name, [{ key, was: VALUE, sealed: VALUE }])).toEqual(['stale']);
        expect(await sealed().findSealed(name, key)).toEqual(OTHER);
        expect(await others()).toEqual(before);
        expect(await sealed().replaceSealed(name, [{ key, was: OTHER, sealed: VALUE }])).toEqual(['done']);
      },
    );

    test('of missing rows are stale, and others succeed', async () => {
      const key = await oneOf('payloads');
      const gone = [key[0] ?? 0, 'sch_gone', 1];
      expect(
        await sealed().replaceSealed('payloads', [
          { key: gone, was: VALUE, sealed: OTHER },
          { key, was: VALUE, sealed: VALUE },
        ]),
      ).toEqual(['stale', 'done']);
      expect(await sealed().findSealed('payloads', gone)).toBeNull();
    });

    test.for(SEALED_COLUMN_NAMES)('can be listed in every column: %s', async (name) => {
      expect(await sealed().listSealed(name, (await listAll(name, 100)).at(-1)?.key ?? null, 1)).toEqual([]);
    });
  });
}
