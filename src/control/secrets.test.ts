import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { AesVault } from '#src/vault/aes-vault.ts';
import { openTestWorld, START } from '#test/process/control-world.ts';
import { createProject } from './create-project.ts';
import { rotateSecret, showSecrets } from './secrets.ts';

const HOUR_MS = 3_600_000;

describe('rotation', () => {
  test('the old secret signs beside the new one for the overlap, 24 h unless told, then no more', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    const [old] = await showSecrets(world, 'shop', 'test');
    const [now, before] = await rotateSecret(world, 'shop', 'test');
    expect(before).toEqual({ ...old, expiresAt: START + 24 * HOUR_MS });
    expect(now?.text).not.toBe(old?.text);
    expect(now?.expiresAt).toBeNull();

    world.advance(24 * HOUR_MS - 1);
    expect(await showSecrets(world, 'shop', 'test')).toEqual([now, before]);
    world.advance(1);
    expect(await showSecrets(world, 'shop', 'test')).toEqual([now]);
  });

  test('with an overlap of 0 only the new one signs', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    const signing = await rotateSecret(world, 'shop', 'test', '0');
    expect(signing).toHaveLength(1);
    expect(await showSecrets(world, 'shop', 'test')).toEqual(signing);
  });

  test('an earlier overlap keeps its end when the secret is rotated again', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    await rotateSecret(world, 'shop', 'live', '1h');
    const signing = await rotateSecret(world, 'shop', 'live', '2h');
    expect(signing.map(({ expiresAt }) => expiresAt)).toEqual([null, START + 2 * HOUR_MS, START + HOUR_MS]);
  });

  test('the other mode is left alone', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    const live = await showSecrets(world, 'shop', 'live');
    await rotateSecret(world, 'shop', 'test');
    expect(await showSecrets(world, 'shop', 'live')).toEqual(live);
  });

  test.each(['-1s', '-1ns', '1d', '24', '', 'soon'])(
    'the overlap %j is refused, and nothing changes',
    async (overlap) => {
      await using world = await openTestWorld();
      await createProject(world, 'shop');
      const before = await showSecrets(world, 'shop', 'test');
      await expect(rotateSecret(world, 'shop', 'test', overlap)).rejects.toMatchObject({
        code: 'invalid_overlap',
      });
      expect(await showSecrets(world, 'shop', 'test')).toEqual(before);
    },
  );

  test('a project that is not there is refused', async () => {
    await using world = await openTestWorld();
    await expect(rotateSecret(world, 'nowhere', 'test')).rejects.toMatchObject({ code: 'unknown_project' });
  });
});

describe('at rest', () => {
  test('a secret is sealed for its own row', async () => {
    await using world = await openTestWorld();
    const project = await createProject(world, 'shop');
    const [secret] = await showSecrets(world, 'shop', 'test');
    const [row] = await world.store.listSecrets(project.partitions.test, START);
    const sealed = row?.sealed ?? new Uint8Array();
    expect(Buffer.from(sealed).includes(secret?.text ?? '')).toBe(false);
    const context = `secret/${project.partitions.test}/${row?.id}`;
    expect(Buffer.from(world.vault.open(context, sealed)).toString()).toBe(secret?.text);
  });

  test('with another master key it stays shut', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    const stranger = { ...world, vault: new AesVault(world.random, randomBytes(32)) };
    await expect(showSecrets(stranger, 'shop', 'test')).rejects.toThrow(/master key/);
  });
});
