import { describe, expect, test } from 'vitest';
import { hashKey } from '#src/domain/api-key.ts';
import { openTestWorld } from '#test/process/control-world.ts';
import { createProject } from './create-project.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';

describe('API keys', () => {
  test('a new key speaks for its project and mode; only its hash and its end are stored', async () => {
    await using world = await openTestWorld();
    const project = await createProject(world, 'shop');
    const { text, key } = await createKey(world, 'shop', 'live');
    expect(await world.store.findTenant(hashKey(text))).toEqual({
      projectId: project.id,
      partition: project.partitions.live,
      mode: 'live',
      keyHash: hashKey(text),
      pinnedVersion: project.pinnedVersion,
    });
    expect(key.hint).toBe(text.slice(-4));
    expect(JSON.stringify(await listKeys(world, 'shop'))).not.toContain(text.slice('sk_live_'.length, -4));
  });

  test('are listed over both modes in the order they were made', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    await createProject(world, 'mail');
    const made = [];
    for (const mode of ['live', 'test', 'live'] as const) {
      made.push((await createKey(world, 'shop', mode)).key);
      world.advance(1);
    }
    await createKey(world, 'mail', 'test');
    expect(await listKeys(world, 'shop')).toEqual(made);
  });

  test('a revoked key speaks for nobody, and stays listed with the moment', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    const { text, key } = await createKey(world, 'shop', 'test');
    const other = await createKey(world, 'shop', 'test');
    const revokedAt = world.advance(1_000);
    await revokeKey(world, key.id);
    expect(await world.store.findTenant(hashKey(text))).toBeNull();
    expect(await world.store.findTenant(hashKey(other.text))).not.toBeNull();
    expect(await listKeys(world, 'shop')).toEqual([{ ...key, revokedAt }, other.key]);
  });

  test('revoking what is unknown, revoked already or no id at all is refused', async () => {
    await using world = await openTestWorld();
    await createProject(world, 'shop');
    const { key } = await createKey(world, 'shop', 'test');
    await revokeKey(world, key.id);
    const unknown = world.ids.mint('key', world.clock.now());
    for (const id of [unknown, key.id, '', 'key_', 'sch_01h455vb4pex5vsknk084sn02q', `${key.id}x`]) {
      await expect(revokeKey(world, id)).rejects.toMatchObject({ code: 'unknown_key', subject: id });
    }
  });

  test('a key for a project that is not there is refused', async () => {
    await using world = await openTestWorld();
    await expect(createKey(world, 'nowhere', 'test')).rejects.toMatchObject({ code: 'unknown_project' });
    await expect(listKeys(world, 'nowhere')).rejects.toMatchObject({ code: 'unknown_project' });
  });
});
