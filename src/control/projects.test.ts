import { describe, expect, test } from 'vitest';
import { CURRENT_VERSION, MODES } from '#src/domain/project.ts';
import { openControlHarness, START } from '#test/process/control-harness.ts';
import { createProject } from './bootstrap.ts';
import { requireProject } from './projects.ts';
import { showSecrets } from './secrets.ts';

describe('creating a project', () => {
  test('pins it to the current version and gives it two partitions', async () => {
    await using harness = await openControlHarness();
    const shop = await createProject(harness, 'shop');
    const mail = await createProject(harness, 'mail');
    expect(shop).toMatchObject({ name: 'shop', pinnedVersion: CURRENT_VERSION, createdAt: START });
    const partitions = [shop, mail].flatMap(({ partitions }) => [partitions.test, partitions.live]);
    expect(new Set(partitions).size).toBe(4);
    expect(await harness.store.listProjects()).toEqual([shop, mail]);
  });

  test('adds one signing secret in each mode', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const secrets = await Promise.all(MODES.map((mode) => showSecrets(harness, 'shop', mode)));
    for (const [only, ...others] of secrets) {
      expect(only?.text).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
      expect(only?.expiresAt).toBeNull();
      expect(others).toEqual([]);
    }
    expect(secrets[0]?.[0]?.text).not.toBe(secrets[1]?.[0]?.text);
  });

  test.each(['a', '0', 'shop', 'my-shop_2', 'a'.repeat(64)])('accepts the name %s', async (name) => {
    await using harness = await openControlHarness();
    expect((await createProject(harness, name)).name).toBe(name);
  });

  test.each(['', 'Shop', '-shop', '_shop', 'my shop', 'shöp', 'a/b', 'a'.repeat(65), 'shop\n'])(
    'refuses the name %j and stores nothing',
    async (name) => {
      await using harness = await openControlHarness();
      await expect(createProject(harness, name)).rejects.toMatchObject({ code: 'invalid_project_name' });
      expect(await harness.store.listProjects()).toEqual([]);
    },
  );

  test('refuses a name that exists, and the existing project keeps its secrets', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const before = await showSecrets(harness, 'shop', 'live');
    await expect(createProject(harness, 'shop')).rejects.toMatchObject({ code: 'project_exists' });
    expect(await showSecrets(harness, 'shop', 'live')).toEqual(before);
  });
});

test('an unknown project is refused by name', async () => {
  await using harness = await openControlHarness();
  await expect(requireProject(harness.store, 'nowhere')).rejects.toMatchObject({
    code: 'unknown_project',
    subject: 'nowhere',
  });
});
