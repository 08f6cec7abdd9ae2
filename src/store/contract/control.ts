import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/partition.ts';
import { MODES } from '#src/domain/partition.ts';
import type { ApiKey, SigningSecret } from '#src/ports/control-store.ts';
import type { Bench, Suite } from './bench.ts';
import { DAY_MS, START } from './builders.ts';

export function controlContract(suite: Suite): void {
  describe('projects', () => {
    test('get two partitions each that no other has', async () => {
      const projects = [await suite.project(), await suite.project(), await suite.project()];
      const numbers = projects.flatMap(({ partitions }) => [partitions.test, partitions.live]);
      expect(new Set(numbers).size).toBe(6);
      expect(numbers.every((number) => Number.isSafeInteger(number))).toBe(true);
    });

    test('are found by name and listed in the order they were made', async () => {
      const made = [await suite.project(), await suite.project()];
      for (const project of made) expect(await suite.store.findProject(project.name)).toEqual(project);
      expect((await suite.store.listProjects()).slice(-2)).toEqual(made);
      expect(await suite.store.findProject('nobody')).toBeNull();
    });

    test('of a name that is taken are refused, also when asked for at once', async () => {
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
    test('speak for their project and mode', async () => {
      const bench = await suite.bench();
      for (const mode of MODES) {
        const key = await addKey(bench, mode);
        expect(await bench.store.findTenant(key.hash)).toEqual({
          projectId: bench.project.id,
          partition: bench.project.partitions[mode],
          mode,
          keyHash: key.hash,
          pinnedVersion: bench.project.pinnedVersion,
        });
        expect(await bench.store.listKeys(bench.project.partitions[mode])).toEqual([key]);
      }
      expect(await bench.store.findTenant('no such hash')).toBeNull();
    });

    test('are listed in the order they were made', async () => {
      const bench = await suite.bench();
      const keys = [];
      for (let i = 0; i < 5; i++) {
        keys.push(await addKey(bench, 'test'));
        bench.tick(i % 2);
      }
      expect(await bench.store.listKeys(bench.partition)).toEqual(keys);
    });

    test('that exist already are taken, in any project', async () => {
      const bench = await suite.bench();
      const key = await addKey(bench, 'test');
      const other = await suite.bench();
      const double = { ...newKey(other, 'test'), hash: key.hash };
      expect(await other.changesNothing(() => other.store.addKey(double))).toBe('taken');
      expect((await bench.store.findTenant(key.hash))?.partition).toBe(bench.partition);
    });

    test('that are revoked speak for nobody, and stay listed and taken', async () => {
      const bench = await suite.bench();
      const key = await addKey(bench, 'test');
      const other = await addKey(bench, 'test');
      const revokedAt = bench.tick();
      expect(await bench.store.revokeKey(key.id, revokedAt)).toBe(true);
      expect(await bench.store.findTenant(key.hash)).toBeNull();
      expect(await bench.store.findTenant(other.hash)).not.toBeNull();
      expect(await bench.store.listKeys(bench.partition)).toEqual([{ ...key, revokedAt }, other]);
      expect(await bench.store.addKey({ ...newKey(bench, 'test'), hash: key.hash })).toBe('taken');
    });

    test('are known to have been used, as late as anybody says', async () => {
      const bench = await suite.bench();
      const [used, other] = [await addKey(bench, 'test'), await addKey(bench, 'test')];
      const at = instant(bench.now + DAY_MS);
      await bench.store.touchKeys([
        { hash: used.hash, at },
        { hash: 'of no key', at },
      ]);
      await Promise.all([1, 2].map(() => bench.store.touchKeys([{ hash: used.hash, at: instant(at - 1) }])));
      await bench.store.touchKeys([]);
      expect(await bench.store.listKeys(bench.partition)).toEqual([{ ...used, lastUsedAt: at }, other]);
    });

    test('are revoked once; an unknown one is none', async () => {
      const bench = await suite.bench();
      const key = await addKey(bench, 'test');
      const at = bench.tick();
      const answers = await Promise.all([1, 2, 3].map(() => bench.store.revokeKey(key.id, at)));
      expect(answers.filter(Boolean)).toHaveLength(1);
      await bench.changesNothing(async () => {
        expect(await bench.store.revokeKey(key.id, bench.tick())).toBe(false);
        expect(await bench.store.revokeKey(bench.ids.mint('key', bench.now), bench.now)).toBe(false);
      });
    });
  });

  describe('signing secrets', () => {
    test('are kept byte for byte and listed newest first, those that still sign', async () => {
      const bench = await suite.bench();
      const first = await addSecret(bench, bench.now);
      const overlapEnd = instant(bench.tick() + DAY_MS);
      const second = await addSecret(bench, overlapEnd);
      expect(await listed(bench, bench.now)).toEqual([
        plain(second),
        plain({ ...first, expiresAt: overlapEnd }),
      ]);
      expect(await listed(bench, instant(overlapEnd - 1))).toHaveLength(2);
      expect(await listed(bench, overlapEnd)).toEqual([plain(second)]);
    });

    test('that have an end already keep it through the next rotation', async () => {
      const bench = await suite.bench();
      const ends = [DAY_MS, DAY_MS * 2, DAY_MS * 3].map((ms) => instant(bench.now + ms));
      for (const end of ends) {
        await addSecret(bench, end);
        bench.tick();
      }
      expect((await listed(bench, bench.now)).map(({ expiresAt }) => expiresAt)).toEqual([
        null,
        ends[2],
        ends[1],
      ]);
    });

    test('belong to their partition', async () => {
      const bench = await suite.bench();
      const secret = await addSecret(bench, bench.now);
      const elsewhere = { ...newSecret(bench), partition: bench.neighbour };
      await bench.store.addSecret(elsewhere, bench.now);
      expect(await listed(bench, bench.now)).toEqual([plain(secret)]);
      expect(await bench.store.listSecrets(bench.neighbour, bench.now)).toHaveLength(1);
    });

    test('are rotated whole or not at all: one that cannot be added ends no other', async () => {
      const bench = await suite.bench();
      const secret = await addSecret(bench, bench.now);
      const double = { ...newSecret(bench), id: secret.id };
      await bench.changesNothing(() =>
        expect(bench.store.addSecret(double, instant(bench.now + 1))).rejects.toThrow(),
      );
    });
  });
}

function newKey(bench: Bench, mode: Mode): ApiKey {
  const id = bench.ids.mint('key', bench.now);
  return {
    id,
    partition: bench.project.partitions[mode],
    mode,
    hash: `hash of ${id}`,
    hint: id.slice(-4),
    createdAt: bench.now,
    revokedAt: null,
    lastUsedAt: null,
  };
}

async function addKey(bench: Bench, mode: Mode): Promise<ApiKey> {
  const key = newKey(bench, mode);
  expect(await bench.store.addKey(key)).toBe('done');
  return key;
}

function newSecret(bench: Bench): SigningSecret {
  const id = bench.ids.mint('sec', bench.now);
  const sealed = Uint8Array.of(0, 255, ...Buffer.from(id));
  return { id, partition: bench.partition, sealed, createdAt: bench.now, expiresAt: null };
}

async function addSecret(bench: Bench, othersExpireAt: Instant): Promise<SigningSecret> {
  const secret = newSecret(bench);
  await bench.store.addSecret(secret, othersExpireAt);
  return secret;
}

function plain(secret: SigningSecret) {
  return { ...secret, sealed: Buffer.from(secret.sealed).toString('hex') };
}

async function listed(bench: Bench, now: Instant) {
  return (await bench.store.listSecrets(bench.partition, now)).map(plain);
}
