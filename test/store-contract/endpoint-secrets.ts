import { describe, expect, test } from 'vitest';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { EndpointSecret, EndpointSecretsChange } from '#src/ports/control-store.ts';
import { DAY_MS, HOUR_MS } from './builders.ts';
import type { Fixture, Suite } from './fixture.ts';

export function endpointSecretsContract(suite: Suite): void {
  describe('signing secrets of an endpoint profile', () => {
    test('are stored byte for byte, and those in force are listed newest first', async () => {
      const { fixture, profile, listed, change } = await givenProfile(suite);
      expect(await fixture.store.hasEndpointSecrets(fixture.partition, fixture.now)).toBe(false);
      const first = newSecret(fixture, profile, { aloneFrom: instant(fixture.now + HOUR_MS) });
      expect(await change({ before: [], added: first })).toBe('done');
      expect(await listed(fixture.now)).toEqual([plain(first)]);
      expect(await fixture.store.hasEndpointSecrets(fixture.partition, fixture.now)).toBe(true);

      const end = instant(fixture.tick() + DAY_MS);
      const second = newSecret(fixture, profile);
      const ended = { ...first, expiresAt: end, aloneFrom: null };
      expect(await change({ before: [first], ended: [ended], added: second })).toBe('done');
      expect(await listed(instant(end - 1))).toEqual([plain(second), plain(ended)]);
      expect(await listed(end)).toEqual([plain(second)]);
    });

    test('no longer exist after the last of them has ended', async () => {
      const { fixture, profile, listed, change } = await givenProfile(suite);
      const secret = newSecret(fixture, profile);
      await change({ before: [], added: secret });
      const end = instant(fixture.now + HOUR_MS);
      expect(await change({ before: [secret], ended: [{ ...secret, expiresAt: end }] })).toBe('done');
      expect(await fixture.store.hasEndpointSecrets(fixture.partition, instant(end - 1))).toBe(true);
      expect(await fixture.store.hasEndpointSecrets(fixture.partition, end)).toBe(false);
      expect(await listed(end)).toEqual([]);
    });

    test('belong to their profile and partition', async () => {
      const { fixture, profile, listed, change } = await givenProfile(suite);
      const other = await fixture.addProfile();
      const secret = newSecret(fixture, profile);
      await change({ before: [], added: secret });
      expect(await fixture.store.listEndpointSecrets(fixture.partition, other.id, fixture.now)).toEqual([]);
      expect(await fixture.store.listEndpointSecrets(fixture.neighbour, profile.id, fixture.now)).toEqual([]);
      expect(await fixture.store.hasEndpointSecrets(fixture.neighbour, fixture.now)).toBe(false);
      const anothers = newSecret(fixture, other);
      await change({ endpointId: other.id, before: [], added: anothers });
      expect(await listed(fixture.now)).toEqual([plain(secret)]);
      expect(await fixture.store.listSecrets(fixture.partition, fixture.now)).toEqual([]);
    });

    test('need an existing profile, archived or not', async () => {
      const { fixture, profile, change } = await givenProfile(suite);
      const endpointId = fixture.ids.mint('ep', fixture.now);
      const secret = { ...newSecret(fixture, profile), endpointId };
      await fixture.changesNothing(async () => {
        expect(await change({ endpointId, before: [], added: secret })).toBe('missing');
        const elsewhere = { ...newSecret(fixture, profile), partition: fixture.neighbour };
        expect(await change({ partition: fixture.neighbour, before: [], added: elsewhere })).toBe('missing');
      });
      const archived = { ...profile, archivedAt: fixture.tick(), revision: profile.revision + 1 };
      expect(await fixture.store.archiveProfile(archived)).toBe('done');
      expect(await change({ before: [], added: newSecret(fixture, profile) })).toBe('done');
    });

    test('are changed only if they are as they were read', async () => {
      const { fixture, profile, change } = await givenProfile(suite);
      const first = newSecret(fixture, profile);
      await change({ before: [], added: first });
      const ended = { ...first, expiresAt: instant(fixture.now + HOUR_MS) };
      const second = newSecret(fixture, profile);
      await change({ before: [first], ended: [ended], added: second });
      const third = newSecret(fixture, profile);
      await fixture.changesNothing(async () => {
        // Another secret was in force when this was decided, or none.
        expect(await change({ before: [first], ended: [ended], added: third })).toBe('stale');
        expect(await change({ before: [], added: third })).toBe('stale');
        expect(await change({ before: [ended], ended: [{ ...ended, aloneFrom: null }] })).toBe('stale');
        // One of several secrets has another end by now.
        const before = [second, { ...ended, expiresAt: instant(fixture.now + DAY_MS) }];
        const all = before.map((secret) => ({ ...secret, expiresAt: fixture.now }));
        expect(await change({ before, ended: all, added: third })).toBe('stale');
      });
    });

    test('are changed once by concurrent decisions', async () => {
      const { fixture, profile, listed, change } = await givenProfile(suite);
      const created = await Promise.all(
        Array.from({ length: 4 }, () => change({ before: [], added: newSecret(fixture, profile) })),
      );
      expect(created.toSorted()).toEqual(['done', 'stale', 'stale', 'stale']);
      const before = await fixture.store.listEndpointSecrets(fixture.partition, profile.id, fixture.now);
      const end = instant(fixture.now + HOUR_MS);
      const ended = before.map((secret) => ({ ...secret, expiresAt: end }));
      const rotated = await Promise.all(
        Array.from({ length: 4 }, () => change({ before, ended, added: newSecret(fixture, profile) })),
      );
      expect(rotated.toSorted()).toEqual(['done', 'stale', 'stale', 'stale']);
      expect((await listed(fixture.now)).map(({ expiresAt }) => expiresAt)).toEqual([null, end]);
    });

    test('are changed completely or not at all: a secret that cannot be added ends no other', async () => {
      const { fixture, profile, change } = await givenProfile(suite);
      const secret = newSecret(fixture, profile);
      await change({ before: [], added: secret });
      const ended = [{ ...secret, expiresAt: instant(fixture.now + 1) }];
      await fixture.changesNothing(() =>
        expect(change({ before: [secret], ended, added: secret })).rejects.toThrow(),
      );
    });
  });
}

async function givenProfile(suite: Suite) {
  const fixture = await suite.fixture();
  const profile = await fixture.addProfile();
  return {
    fixture,
    profile,
    listed: async (now: Instant) =>
      (await fixture.store.listEndpointSecrets(fixture.partition, profile.id, now)).map(plain),
    change: (given: Pick<EndpointSecretsChange, 'before'> & Partial<EndpointSecretsChange>) =>
      fixture.store.changeEndpointSecrets({
        partition: fixture.partition,
        endpointId: profile.id,
        ended: [],
        added: null,
        ...given,
      }),
  };
}

function newSecret(
  fixture: Fixture,
  { id: endpointId }: EndpointProfile,
  given: Partial<EndpointSecret> = {},
): EndpointSecret {
  const id = fixture.ids.mint('sec', fixture.now);
  const sealed = Uint8Array.of(0, 255, ...Buffer.from(id));
  const terms = { createdAt: fixture.now, expiresAt: null, aloneFrom: null };
  return { id, partition: fixture.partition, endpointId, sealed, ...terms, ...given };
}

function plain(secret: EndpointSecret) {
  return { ...secret, sealed: Buffer.from(secret.sealed).toString('hex') };
}
