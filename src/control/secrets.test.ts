import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { AesVault } from '#src/vault/aes-vault.ts';
import { openControlHarness, START } from '#test/process/control-harness.ts';
import { createProject } from './bootstrap.ts';
import { rotateSecret, showSecrets } from './secrets.ts';

const HOUR_MS = 3_600_000;

describe('rotation', () => {
  test('lets the old secret sign beside the new one for the overlap, 24 h by default', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const [old] = await showSecrets(harness, 'shop', 'test');
    const [now, before] = await rotateSecret(harness, 'shop', 'test');
    expect(before).toEqual({ ...old, expiresAt: START + 24 * HOUR_MS });
    expect(now?.text).not.toBe(old?.text);
    expect(now?.expiresAt).toBeNull();

    harness.advance(24 * HOUR_MS - 1);
    expect(await showSecrets(harness, 'shop', 'test')).toEqual([now, before]);
    harness.advance(1);
    expect(await showSecrets(harness, 'shop', 'test')).toEqual([now]);
  });

  test('lets only the new secret sign with an overlap of 0', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const signing = await rotateSecret(harness, 'shop', 'test', '0');
    expect(signing).toHaveLength(1);
    expect(await showSecrets(harness, 'shop', 'test')).toEqual(signing);
  });

  test('keeps the end of an earlier overlap', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    await rotateSecret(harness, 'shop', 'live', '1h');
    const signing = await rotateSecret(harness, 'shop', 'live', '2h');
    expect(signing.map(({ expiresAt }) => expiresAt)).toEqual([null, START + 2 * HOUR_MS, START + HOUR_MS]);
  });

  test('does not change the other mode', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const live = await showSecrets(harness, 'shop', 'live');
    await rotateSecret(harness, 'shop', 'test');
    expect(await showSecrets(harness, 'shop', 'live')).toEqual(live);
  });

  test.each(['-1s', '-1ns', '1d', '24', '', 'soon'])(
    'refuses the overlap %j and changes nothing',
    async (overlap) => {
      await using harness = await openControlHarness();
      await createProject(harness, 'shop');
      const before = await showSecrets(harness, 'shop', 'test');
      await expect(rotateSecret(harness, 'shop', 'test', overlap)).rejects.toMatchObject({
        code: 'invalid_overlap',
      });
      expect(await showSecrets(harness, 'shop', 'test')).toEqual(before);
    },
  );

  test('refuses an unknown project', async () => {
    await using harness = await openControlHarness();
    await expect(rotateSecret(harness, 'nowhere', 'test')).rejects.toMatchObject({ code: 'unknown_project' });
  });
});

describe('a stored secret', () => {
  test('is sealed for its own row', async () => {
    await using harness = await openControlHarness();
    const project = await createProject(harness, 'shop');
    const [secret] = await showSecrets(harness, 'shop', 'test');
    const [row] = await harness.store.listSecrets(project.partitions.test, START);
    const sealed = row?.sealed ?? new Uint8Array();
    expect(Buffer.from(sealed).includes(secret?.text ?? '')).toBe(false);
    const context = `secret/${project.partitions.test}/${row?.id}`;
    expect(Buffer.from(harness.vault.open(context, sealed)).toString()).toBe(secret?.text);
  });

  test('cannot be opened with another master key', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const other = { ...harness, vault: new AesVault(harness.random, randomBytes(32)) };
    await expect(showSecrets(other, 'shop', 'test')).rejects.toThrow(/master key/);
  });
});
