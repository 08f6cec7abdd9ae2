import { describe, expect, test } from 'vitest';
import { hashKey } from '#src/domain/api-key.ts';
import { systemRandom } from '#src/system/random.ts';
import { openControlHarness } from '#test/process/control-harness.ts';
import { createProject } from './bootstrap.ts';
import { createKey, listKeys, newApiKey, randomBase62, revokeKey } from './keys.ts';

describe('API keys', () => {
  test('a new key authenticates its project and mode, and only its hash and its last characters are stored', async () => {
    await using harness = await openControlHarness();
    const project = await createProject(harness, 'shop');
    const { text, key } = await createKey(harness, 'shop', 'live');
    expect(await harness.store.findTenant(hashKey(text))).toEqual({
      projectId: project.id,
      partition: project.partitions.live,
      mode: 'live',
      keyHash: hashKey(text),
      pinnedVersion: project.pinnedVersion,
    });
    expect(key.hint).toBe(text.slice(-4));
    expect(JSON.stringify(await listKeys(harness, 'shop'))).not.toContain(text.slice('sk_live_'.length, -4));
  });

  test('are listed for both modes in the order of their creation', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    await createProject(harness, 'mail');
    const made = [];
    for (const mode of ['live', 'test', 'live'] as const) {
      made.push((await createKey(harness, 'shop', mode)).key);
      harness.advance(1);
    }
    await createKey(harness, 'mail', 'test');
    expect(await listKeys(harness, 'shop')).toEqual(made);
  });

  test('a revoked key authenticates nobody, and stays listed with the time of the revocation', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const { text, key } = await createKey(harness, 'shop', 'test');
    const other = await createKey(harness, 'shop', 'test');
    const revokedAt = harness.advance(1_000);
    await revokeKey(harness, key.id);
    expect(await harness.store.findTenant(hashKey(text))).toBeNull();
    expect(await harness.store.findTenant(hashKey(other.text))).not.toBeNull();
    expect(await listKeys(harness, 'shop')).toEqual([{ ...key, revokedAt }, other.key]);
  });

  test('revoking an unknown key, a revoked key or an invalid id is refused', async () => {
    await using harness = await openControlHarness();
    await createProject(harness, 'shop');
    const { key } = await createKey(harness, 'shop', 'test');
    await revokeKey(harness, key.id);
    const unknown = harness.ids.mint('key', harness.clock.now());
    for (const id of [unknown, key.id, '', 'key_', 'sch_01h455vb4pex5vsknk084sn02q', `${key.id}x`]) {
      await expect(revokeKey(harness, id)).rejects.toMatchObject({ code: 'unknown_key', subject: id });
    }
  });

  test('a key for an unknown project is refused', async () => {
    await using harness = await openControlHarness();
    await expect(createKey(harness, 'nowhere', 'test')).rejects.toMatchObject({ code: 'unknown_project' });
    await expect(listKeys(harness, 'nowhere')).rejects.toMatchObject({ code: 'unknown_project' });
  });
});

test('each new key is its prefix and 32 other base62 characters', () => {
  const keys = Array.from({ length: 100 }, () => newApiKey('test', systemRandom()));
  for (const key of keys) expect(key).toMatch(/^sk_test_[0-9A-Za-z]{32}$/);
  expect(new Set(keys).size).toBe(100);
  expect(newApiKey('live', systemRandom())).toMatch(/^sk_live_[0-9A-Za-z]{32}$/);
});

test('every character is equally likely over all byte values', () => {
  const counts = new Map<string, number>();
  let next = 0;
  const everyByteInTurn = {
    bytes: (count: number) => Uint8Array.from({ length: count }, () => next++ % 256),
  };
  for (const character of randomBase62(everyByteInTurn, 248)) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  expect(new Set(counts.values())).toEqual(new Set([4]));
});

test('bytes that would make a character more likely are drawn again', () => {
  const draws = [Uint8Array.of(255, 248, 0), Uint8Array.of(250, 1), Uint8Array.of(61)];
  const scripted = { bytes: () => draws.shift() ?? Uint8Array.of() };
  expect(randomBase62(scripted, 3)).toBe('01z');
});
