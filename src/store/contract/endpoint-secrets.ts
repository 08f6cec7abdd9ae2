import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { EndpointProfile } from '#src/domain/profile.ts';
import type { EndpointSecret, EndpointSecretsChange } from '#src/ports/control-store.ts';
import type { Bench, Suite } from './bench.ts';
import { DAY_MS, HOUR_MS } from './builders.ts';

export function endpointSecretsContract(suite: Suite): void {
  describe('signing secrets of an endpoint profile', () => {
    test('are kept byte for byte and listed newest first, those that still sign', async () => {
      const { bench, profile, listed, change } = await givenProfile(suite);
      expect(await bench.store.hasEndpointSecrets(bench.partition, bench.now)).toBe(false);
      const first = newSecret(bench, profile, { aloneFrom: instant(bench.now + HOUR_MS) });
      expect(await change({ before: [], added: first })).toBe('done');
      expect(await listed(bench.now)).toEqual([plain(first)]);
      expect(await bench.store.hasEndpointSecrets(bench.partition, bench.now)).toBe(true);

      const end = instant(bench.tick() + DAY_MS);
      const second = newSecret(bench, profile);
      const ended = { ...first, expiresAt: end, aloneFrom: null };
      expect(await change({ before: [first], ended: [ended], added: second })).toBe('done');
      expect(await listed(instant(end - 1))).toEqual([plain(second), plain(ended)]);
      expect(await listed(end)).toEqual([plain(second)]);
    });

    test('are gone when the last of them has ended', async () => {
      const { bench, profile, listed, change } = await givenProfile(suite);
      const secret = newSecret(bench, profile);
      await change({ before: [], added: secret });
      const end = instant(bench.now + HOUR_MS);
      expect(await change({ before: [secret], ended: [{ ...secret, expiresAt: end }] })).toBe('done');
      expect(await bench.store.hasEndpointSecrets(bench.partition, instant(end - 1))).toBe(true);
      expect(await bench.store.hasEndpointSecrets(bench.partition, end)).toBe(false);
      expect(await listed(end)).toEqual([]);
    });

    test('belong to their profile and partition', async () => {
      const { bench, profile, listed, change } = await givenProfile(suite);
      const other = await bench.addProfile();
      const secret = newSecret(bench, profile);
      await change({ before: [], added: secret });
      expect(await bench.store.listEndpointSecrets(bench.partition, other.id, bench.now)).toEqual([]);
      expect(await bench.store.listEndpointSecrets(bench.neighbour, profile.id, bench.now)).toEqual([]);
      expect(await bench.store.hasEndpointSecrets(bench.neighbour, bench.now)).toBe(false);
      const anothers = newSecret(bench, other);
      await change({ endpointId: other.id, before: [], added: anothers });
      expect(await listed(bench.now)).toEqual([plain(secret)]);
      expect(await bench.store.listSecrets(bench.partition, bench.now)).toEqual([]);
    });

    test('are for profiles that are there, archived or not', async () => {
      const { bench, profile, change } = await givenProfile(suite);
      const endpointId = bench.ids.mint('ep', bench.now);
      const secret = { ...newSecret(bench, profile), endpointId };
      await bench.changesNothing(async () => {
        expect(await change({ endpointId, before: [], added: secret })).toBe('missing');
        const elsewhere = { ...newSecret(bench, profile), partition: bench.neighbour };
        expect(await change({ partition: bench.neighbour, before: [], added: elsewhere })).toBe('missing');
      });
      const archived = { ...profile, archivedAt: bench.tick(), revision: profile.revision + 1 };
      expect(await bench.store.archiveProfile(archived)).toBe('done');
      expect(await change({ before: [], added: newSecret(bench, profile) })).toBe('done');
    });

    test('are changed as they were read, or not at all', async () => {
      const { bench, profile, change } = await givenProfile(suite);
      const first = newSecret(bench, profile);
      await change({ before: [], added: first });
      const ended = { ...first, expiresAt: instant(bench.now + HOUR_MS) };
      const second = newSecret(bench, profile);
      await change({ before: [first], ended: [ended], added: second });
      const third = newSecret(bench, profile);
      await bench.changesNothing(async () => {
        // Another was in force when it was decided, or none.
        expect(await change({ before: [first], ended: [ended], added: third })).toBe('stale');
        expect(await change({ before: [], added: third })).toBe('stale');
        expect(await change({ before: [ended], ended: [{ ...ended, aloneFrom: null }] })).toBe('stale');
        // One of several has another end by now.
        const before = [second, { ...ended, expiresAt: instant(bench.now + DAY_MS) }];
        const all = before.map((secret) => ({ ...secret, expiresAt: bench.now }));
        expect(await change({ before, ended: all, added: third })).toBe('stale');
      });
    });

    test('are changed once when several decide at once', async () => {
      const { bench, profile, listed, change } = await givenProfile(suite);
      const created = await Promise.all(
        Array.from({ length: 4 }, () => change({ before: [], added: newSecret(bench, profile) })),
      );
      expect(created.toSorted()).toEqual(['done', 'stale', 'stale', 'stale']);
      const before = await bench.store.listEndpointSecrets(bench.partition, profile.id, bench.now);
      const end = instant(bench.now + HOUR_MS);
      const ended = before.map((secret) => ({ ...secret, expiresAt: end }));
      const rotated = await Promise.all(
        Array.from({ length: 4 }, () => change({ before, ended, added: newSecret(bench, profile) })),
      );
      expect(rotated.toSorted()).toEqual(['done', 'stale', 'stale', 'stale']);
      expect((await listed(bench.now)).map(({ expiresAt }) => expiresAt)).toEqual([null, end]);
    });

    test('are changed whole or not at all: one that cannot be added ends no other', async () => {
      const { bench, profile, change } = await givenProfile(suite);
      const secret = newSecret(bench, profile);
      await change({ before: [], added: secret });
      const ended = [{ ...secret, expiresAt: instant(bench.now + 1) }];
      await bench.changesNothing(() =>
        expect(change({ before: [secret], ended, added: secret })).rejects.toThrow(),
      );
    });
  });
}

async function givenProfile(suite: Suite) {
  const bench = await suite.bench();
  const profile = await bench.addProfile();
  return {
    bench,
    profile,
    listed: async (now: Instant) =>
      (await bench.store.listEndpointSecrets(bench.partition, profile.id, now)).map(plain),
    change: (given: Pick<EndpointSecretsChange, 'before'> & Partial<EndpointSecretsChange>) =>
      bench.store.changeEndpointSecrets({
        partition: bench.partition,
        endpointId: profile.id,
        ended: [],
        added: null,
        ...given,
      }),
  };
}

function newSecret(
  bench: Bench,
  { id: endpointId }: EndpointProfile,
  given: Partial<EndpointSecret> = {},
): EndpointSecret {
  const id = bench.ids.mint('sec', bench.now);
  const sealed = Uint8Array.of(0, 255, ...Buffer.from(id));
  const terms = { createdAt: bench.now, expiresAt: null, aloneFrom: null };
  return { id, partition: bench.partition, endpointId, sealed, ...terms, ...given };
}

function plain(secret: EndpointSecret) {
  return { ...secret, sealed: Buffer.from(secret.sealed).toString('hex') };
}
