import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/project.ts';
import { MODES } from '#src/domain/project.ts';
import type { ApiKey, SigningSecret } from '#src/ports/control-store.ts';
import { SEALED_HEAD_BYTES } from '#src/ports/vault.ts';
import { DAY_MS, START } from './builders.ts';
import type { Fixture, Suite } from './fixture.ts';

export function controlContract(suite: Suite): void {
  describe('projects', () => {
    test('get two partitions of their own', async () => {
      const projects = [await suite.project(), await suite.project(), await suite.project()];
      const numbers = projects.flatMap(({ partitions }) => [partitions.test, partitions.live]);
      expect(new Set(numbers).size).toBe(6);
      expect(numbers.every((number) => Number.isSafeInteger(number))).toBe(true);
    });

    test('are found by name and listed in order of creation', async () => {
      const made = [await suite.project(), await suite.project()];
      for (const project of made) expect(await suite.store.findProject(project.name)).toEqual(project);
      expect((await suite.store.listProjects()).slice(-2)).toEqual(made);
      expect(await suite.store.findProject('nobody')).toBeNull();
    });

    test('with a taken name are refused, also when requested at the same time', async () => {
      const { name } = await suite.project();
      const before = await suite.store.listProjects();
      const again = () => ({
        id: suite.ids.mint('prj', START),
        name,
        pinnedVersion: '2026-11-15',
        createdAt: START,
      });
      expect(await suite.store.addProject(again())).toBe('taken');
      expect(await suite.store.listProjects()).toEqual(before);

      const rivals = [1, 2, 3].map(() => suite.store.addProject({ ...again(), name: `${name}-rival` }));
      const answers = await Promise.all(rivals);
      const winner = answers.find((answer) => answer !== 'taken');
      expect(answers.filter((answer) => answer === 'taken')).toHaveLength(2);
      expect(await suite.store.findProject(`${name}-rival`)).toEqual(winner);
    });
  });

  describe('API keys', () => {
    test('identify their project and mode', async () => {
      const fixture = await suite.fixture();
      for (const mode of MODES) {
        const key = await addKey(fixture, mode);
        expect(await fixture.store.findTenant(key.hash)).toEqual({
          projectId: fixture.project.id,
          partition: fixture.project.partitions[mode],
          mode,
          keyHash: key.hash,
          pinnedVersion: fixture.project.pinnedVersion,
        });
        expect(await fixture.store.listKeys(fixture.project.partitions[mode])).toEqual([key]);
      }
      expect(await fixture.store.findTenant('no such hash')).toBeNull();
    });

    test('are listed in order of creation', async () => {
      const fixture = await suite.fixture();
      const keys = [];
      for (let i = 0; i < 5; i++) {
        keys.push(await addKey(fixture, 'test'));
        fixture.tick(i % 2);
      }
      expect(await fixture.store.listKeys(fixture.partition)).toEqual(keys);
    });

    test('that exist already are refused, in any project', async () => {
      const fixture = await suite.fixture();
      const key = await addKey(fixture, 'test');
      const other = await suite.fixture();
      const double = { ...newKey(other, 'test'), hash: key.hash };
      expect(await other.changesNothing(() => other.store.addKey(double))).toBe('taken');
      expect((await fixture.store.findTenant(key.hash))?.partition).toBe(fixture.partition);
    });

    test('that are revoked identify nobody, and stay listed and taken', async () => {
      const fixture = await suite.fixture();
      const key = await addKey(fixture, 'test');
      const other = await addKey(fixture, 'test');
      const revokedAt = fixture.tick();
      expect(await fixture.store.revokeKey(key.id, revokedAt)).toBe(true);
      expect(await fixture.store.findTenant(key.hash)).toBeNull();
      expect(await fixture.store.findTenant(other.hash)).not.toBeNull();
      expect(await fixture.store.listKeys(fixture.partition)).toEqual([{ ...key, revokedAt }, other]);
      expect(await fixture.store.addKey({ ...newKey(fixture, 'test'), hash: key.hash })).toBe('taken');
    });

    test('keep the latest instant of their use', async () => {
      const fixture = await suite.fixture();
      const [used, other] = [await addKey(fixture, 'test'), await addKey(fixture, 'test')];
      const at = instant(fixture.now + DAY_MS);
      await fixture.store.touchKeys([
        { hash: used.hash, at },
        { hash: 'of no key', at },
      ]);
      await Promise.all(
        [1, 2].map(() => fixture.store.touchKeys([{ hash: used.hash, at: instant(at - 1) }])),
      );
      await fixture.store.touchKeys([]);
      expect(await fixture.store.listKeys(fixture.partition)).toEqual([{ ...used, lastUsedAt: at }, other]);
    });

    test('are revoked once, and an unknown key is not found', async () => {
      const fixture = await suite.fixture();
      const key = await addKey(fixture, 'test');
      const at = fixture.tick();
      const answers = await Promise.all([1, 2, 3].map(() => fixture.store.revokeKey(key.id, at)));
      expect(answers.filter(Boolean)).toHaveLength(1);
      await fixture.changesNothing(async () => {
        expect(await fixture.store.revokeKey(key.id, fixture.tick())).toBe(false);
        expect(await fixture.store.revokeKey(fixture.ids.mint('key', fixture.now), fixture.now)).toBe(false);
      });
    });
  });

  describe('signing secrets', () => {
    test('are stored byte for byte, and those in force are listed newest first', async () => {
      const fixture = await suite.fixture();
      const first = await addSecret(fixture, fixture.now);
      const overlapEnd = instant(fixture.tick() + DAY_MS);
      const second = await addSecret(fixture, overlapEnd);
      expect(await listed(fixture, fixture.now)).toEqual([
        plain(second),
        plain({ ...first, expiresAt: overlapEnd }),
      ]);
      expect(await listed(fixture, instant(overlapEnd - 1))).toHaveLength(2);
      expect(await listed(fixture, overlapEnd)).toEqual([plain(second)]);
    });

    test('that have an end already keep it after the next rotation', async () => {
      const fixture = await suite.fixture();
      const ends = [DAY_MS, DAY_MS * 2, DAY_MS * 3].map((ms) => instant(fixture.now + ms));
      for (const end of ends) {
        await addSecret(fixture, end);
        fixture.tick();
      }
      expect((await listed(fixture, fixture.now)).map(({ expiresAt }) => expiresAt)).toEqual([
        null,
        ends[2],
        ends[1],
      ]);
    });

    test('belong to their partition', async () => {
      const fixture = await suite.fixture();
      const secret = await addSecret(fixture, fixture.now);
      const elsewhere = { ...newSecret(fixture), partition: fixture.neighbour };
      await fixture.store.addSecret(elsewhere, fixture.now);
      expect(await listed(fixture, fixture.now)).toEqual([plain(secret)]);
      expect(await fixture.store.listSecrets(fixture.neighbour, fixture.now)).toHaveLength(1);
    });

    test('are listed once for each master key that sealed one in force', async () => {
      const fixture = await suite.fixture();
      const overlapEnd = instant(fixture.now + DAY_MS);
      const sealedBy = async (key: string) => {
        fixture.tick();
        const secret = newSecret(fixture);
        const head = Buffer.from(key.padEnd(SEALED_HEAD_BYTES, '-'));
        const sealed = Buffer.concat([head, Buffer.from(secret.id)]);
        await fixture.store.addSecret({ ...secret, sealed }, overlapEnd);
        return secret.id;
      };
      const [retired, first, , last] = [
        await sealedBy('retired'),
        await sealedBy('current'),
        await sealedBy('current'),
        await sealedBy('next'),
      ];
      const found = async (now: Instant) =>
        (await fixture.store.listSecretOfEachMasterKey(now))
          .filter(({ partition }) => partition === fixture.partition)
          .map(({ id }) => id);
      expect(await found(fixture.now)).toEqual([retired, first, last]);
      expect(await found(overlapEnd)).toEqual([last]);
    });

    test('are known to be missing in a partition that has none in force', async () => {
      const fixture = await suite.fixture();
      const missing = async (now: Instant) =>
        (await fixture.store.listPartitionsWithoutSecret(now)).filter(
          (one) => one === fixture.partition || one === fixture.neighbour,
        );
      const both = [fixture.partition, fixture.neighbour].toSorted((a, b) => a - b);
      expect(await missing(fixture.now)).toEqual(both);
      const end = instant(fixture.now + DAY_MS);
      await fixture.store.addSecret({ ...newSecret(fixture), expiresAt: end }, fixture.now);
      expect(await missing(fixture.now)).toEqual([fixture.neighbour]);
      expect(await missing(end)).toEqual(both);
      await addSecret(fixture, fixture.now);
      expect(await missing(end)).toEqual([fixture.neighbour]);
    });

    test('are rotated completely or not at all: a secret that cannot be added ends no other', async () => {
      const fixture = await suite.fixture();
      const secret = await addSecret(fixture, fixture.now);
      const double = { ...newSecret(fixture), id: secret.id };
      await fixture.changesNothing(() =>
        expect(fixture.store.addSecret(double, instant(fixture.now + 1))).rejects.toThrow(),
      );
    });
  });
}

function newKey(fixture: Fixture, mode: Mode): ApiKey {
  const id = fixture.ids.mint('key', fixture.now);
  return {
    id,
    partition: fixture.project.partitions[mode],
    mode,
    hash: `hash of ${id}`,
    hint: id.slice(-4),
    createdAt: fixture.now,
    revokedAt: null,
    lastUsedAt: null,
  };
}

async function addKey(fixture: Fixture, mode: Mode): Promise<ApiKey> {
  const key = newKey(fixture, mode);
  expect(await fixture.store.addKey(key)).toBe('done');
  return key;
}

function newSecret(fixture: Fixture): SigningSecret {
  const id = fixture.ids.mint('sec', fixture.now);
  const sealed = Uint8Array.of(0, 255, ...Buffer.from(id));
  return { id, partition: fixture.partition, sealed, createdAt: fixture.now, expiresAt: null };
}

async function addSecret(fixture: Fixture, othersExpireAt: Instant): Promise<SigningSecret> {
  const secret = newSecret(fixture);
  await fixture.store.addSecret(secret, othersExpireAt);
  return secret;
}

function plain(secret: SigningSecret) {
  return { ...secret, sealed: Buffer.from(secret.sealed).toString('hex') };
}

async function listed(fixture: Fixture, now: Instant) {
  return (await fixture.store.listSecrets(fixture.partition, now)).map(plain);
}
