import { describe, expect, test } from 'vitest';
import { hashKey } from '#src/domain/api-key.ts';
import type { Instant } from '#src/domain/instant.ts';
import { MODES } from '#src/domain/partition.ts';
import type { ApiKey, ControlStore, SigningSecret } from '#src/ports/control-store.ts';
import { openTestWorld, START, type TestWorld } from '#test/process/control-world.ts';
import { type Brought, bootstrap } from './bootstrap.ts';
import { createProject } from './create-project.ts';
import { addKey, createKey, listKeys, revokeKey } from './keys.ts';
import { addProject } from './projects.ts';
import { rotateSecret, showSecrets } from './secrets.ts';
import type { SealingWorld } from './world.ts';

const DAY_MS = 86_400_000;
const NOTHING: Brought = { keys: { test: null, live: null }, signingSecret: null };
const TEST_KEY = 'sk_test_brought-by-the-operator';
const LIVE_KEY = 'sk_live_brought-by-the-operator';
const SECRET = 'a secret of the operator';
const ALL: Brought = { keys: { test: TEST_KEY, live: LIVE_KEY }, signingSecret: SECRET };

const NOTHING_NEW = { made: [], revoked: [], superseded: [] };

async function modeOf(world: TestWorld, key: string) {
  return (await world.store.findTenant(hashKey(key)))?.mode;
}

async function textsOf(world: TestWorld, mode: 'test' | 'live') {
  return (await showSecrets(world, 'default', mode)).map(({ text }) => text);
}

function withStore(world: TestWorld, changes: Partial<ControlStore>): SealingWorld {
  return { ...world, store: { ...asObject(world.store), ...changes } };
}

/** The store, whose writes fail after the first few, as if the process had died there. */
function dyingAfter(world: TestWorld, writes: number): SealingWorld {
  let left = writes;
  const dying =
    <A extends readonly unknown[], R>(write: (...given: A) => Promise<R>) =>
    async (...given: A) => {
      if (left-- === 0) throw new Error('died');
      return write(...given);
    };
  const { store } = world;
  return withStore(world, {
    addProject: dying((project: Parameters<ControlStore['addProject']>[0]) => store.addProject(project)),
    addKey: dying((key: ApiKey) => store.addKey(key)),
    addSecret: dying((secret: SigningSecret, end: Instant) => store.addSecret(secret, end)),
  });
}

function asObject(store: TestWorld['store']): SealingWorld['store'] {
  return {
    people: store.people,
    addProject: (project) => store.addProject(project),
    findProject: (name) => store.findProject(name),
    listProjects: () => store.listProjects(),
    addKey: (key) => store.addKey(key),
    listKeys: (partition) => store.listKeys(partition),
    revokeKey: (id, now) => store.revokeKey(id, now),
    touchKeys: (uses) => store.touchKeys(uses),
    findTenant: (hash) => store.findTenant(hash),
    listSecrets: (partition, now) => store.listSecrets(partition, now),
    addSecret: (secret, othersExpireAt) => store.addSecret(secret, othersExpireAt),
    hasEndpointSecrets: (partition, now) => store.hasEndpointSecrets(partition, now),
    listEndpointSecrets: (partition, id, now) => store.listEndpointSecrets(partition, id, now),
    changeEndpointSecrets: (change) => store.changeEndpointSecrets(change),
    findProfile: (partition, id) => store.findProfile(partition, id),
  };
}

describe('the first start, nothing brought', () => {
  test('makes a key and a secret in each mode and tells them', async () => {
    await using world = await openTestWorld();
    const { made } = await bootstrap(world, NOTHING);
    expect(made.map(({ what, mode }) => `${mode} ${what}`)).toEqual([
      'test key',
      'live key',
      'test signing secret',
      'live signing secret',
    ]);
    const [testKey, liveKey, testSecret, liveSecret] = made.map(({ text }) => text);
    expect(await modeOf(world, testKey ?? '')).toBe('test');
    expect(await modeOf(world, liveKey ?? '')).toBe('live');
    expect(await textsOf(world, 'test')).toEqual([testSecret]);
    expect(await textsOf(world, 'live')).toEqual([liveSecret]);
  });

  test('every later start changes and tells nothing', async () => {
    await using world = await openTestWorld();
    await bootstrap(world, NOTHING);
    const keys = await listKeys(world, 'default');
    const secrets = await textsOf(world, 'test');
    for (let start = 0; start < 3; start++) expect(await bootstrap(world, NOTHING)).toEqual(NOTHING_NEW);
    expect(await listKeys(world, 'default')).toEqual(keys);
    expect(await textsOf(world, 'test')).toEqual(secrets);
  });
});

describe('the first start, all brought', () => {
  test('uses what was brought, the secret in both modes, and tells nothing', async () => {
    await using world = await openTestWorld();
    expect(await bootstrap(world, ALL)).toEqual(NOTHING_NEW);
    expect(await modeOf(world, TEST_KEY)).toBe('test');
    expect(await modeOf(world, LIVE_KEY)).toBe('live');
    for (const mode of MODES) expect(await textsOf(world, mode)).toEqual([SECRET]);
    expect(await bootstrap(world, ALL)).toEqual(NOTHING_NEW);
    expect(await listKeys(world, 'default')).toHaveLength(2);
  });

  test('what was not brought is made', async () => {
    await using world = await openTestWorld();
    const { made } = await bootstrap(world, { keys: { test: TEST_KEY, live: null }, signingSecret: SECRET });
    expect(made).toMatchObject([{ what: 'key', mode: 'live' }]);
  });
});

describe('a later start', () => {
  test('adds a brought key beside the others', async () => {
    await using world = await openTestWorld();
    const { made } = await bootstrap(world, NOTHING);
    expect((await bootstrap(world, ALL)).made).toEqual([]);
    expect(await modeOf(world, TEST_KEY)).toBe('test');
    expect(await modeOf(world, made[0]?.text ?? '')).toBe('test');
    expect(await listKeys(world, 'default')).toHaveLength(4);
  });

  test('makes a brought secret the newest; the old ones sign for 24 h more', async () => {
    await using world = await openTestWorld();
    await bootstrap(world, NOTHING);
    const [old] = await showSecrets(world, 'default', 'live');
    expect((await bootstrap(world, ALL)).superseded).toEqual(['test', 'live']);
    expect(await showSecrets(world, 'default', 'live')).toMatchObject([
      { text: SECRET, expiresAt: null },
      { text: old?.text, expiresAt: START + DAY_MS },
    ]);
    expect(await bootstrap(world, ALL)).toEqual(NOTHING_NEW);
  });

  test('leaves a brought secret alone that signs beside a newer one', async () => {
    await using world = await openTestWorld();
    await bootstrap(world, ALL);
    const rotated = await rotateSecret(world, 'default', 'test');
    expect(await bootstrap(world, ALL)).toEqual(NOTHING_NEW);
    expect(await showSecrets(world, 'default', 'test')).toEqual(rotated);
  });

  test('does not bring a secret back that was rotated away', async () => {
    await using world = await openTestWorld();
    await bootstrap(world, ALL);
    await rotateSecret(world, 'default', 'test', '0s');
    const [inForce] = await showSecrets(world, 'default', 'test');
    expect(await bootstrap(world, ALL)).toEqual(NOTHING_NEW);
    expect(await showSecrets(world, 'default', 'test')).toEqual([inForce]);
    expect(inForce?.text).not.toBe(SECRET);
  });

  test('does not put a revoked key back in force, and says which', async () => {
    await using world = await openTestWorld();
    await bootstrap(world, ALL);
    const brought = (await listKeys(world, 'default')).find(({ mode }) => mode === 'test');
    await revokeKey(world, brought?.id ?? '');
    expect(await bootstrap(world, ALL)).toEqual({ ...NOTHING_NEW, revoked: ['test'] });
    expect(await modeOf(world, TEST_KEY)).toBeUndefined();
  });

  test('makes no key where all were revoked on purpose', async () => {
    await using world = await openTestWorld();
    await bootstrap(world, NOTHING);
    for (const { id } of await listKeys(world, 'default')) await revokeKey(world, id);
    expect(await bootstrap(world, NOTHING)).toEqual(NOTHING_NEW);
  });

  test('refuses a key that belongs to another project, and leaves it there', async () => {
    await using world = await openTestWorld();
    const shop = await createProject(world, 'shop');
    await addKey(world, shop, 'test', TEST_KEY);
    await expect(bootstrap(world, ALL)).rejects.toMatchObject({ code: 'key_elsewhere', subject: 'test' });
    expect((await world.store.findTenant(hashKey(TEST_KEY)))?.partition).toBe(shop.partitions.test);
  });
});

describe('a start that died halfway is completed by the next', () => {
  test('a project without anything', async () => {
    await using world = await openTestWorld();
    await addProject(world, 'default');
    expect((await bootstrap(world, NOTHING)).made).toHaveLength(4);
  });

  test('a project with a key in one mode only', async () => {
    await using world = await openTestWorld();
    await addProject(world, 'default');
    await createKey(world, 'default', 'test');
    expect((await bootstrap(world, NOTHING)).made).toMatchObject([
      { what: 'key', mode: 'live' },
      { what: 'signing secret', mode: 'test' },
      { what: 'signing secret', mode: 'live' },
    ]);
  });

  test('a death after any number of writes', async () => {
    for (let survived = 0; survived < 5; survived++) {
      await using world = await openTestWorld();
      await expect(bootstrap(dyingAfter(world, survived), NOTHING)).rejects.toThrow('died');
      await bootstrap(world, NOTHING);
      const keys = await listKeys(world, 'default');
      expect(keys.map(({ mode }) => mode).sort()).toEqual(['live', 'test']);
      for (const mode of MODES) expect(await textsOf(world, mode)).toHaveLength(1);
    }
  });

  test('another project that has no secrets yet', async () => {
    await using world = await openTestWorld();
    await addProject(world, 'shop');
    const { made } = await bootstrap(world, NOTHING);
    expect(made).toHaveLength(4);
    expect(await showSecrets(world, 'shop', 'test')).toHaveLength(1);
    expect(await showSecrets(world, 'shop', 'live')).toHaveLength(1);
  });
});

test('a default project that the command line adds at the same moment is used', async () => {
  await using world = await openTestWorld();
  let looks = 0;
  const findProject = async (name: string) => {
    if (looks++ > 0) return world.store.findProject(name);
    await createProject(world, name);
    return null;
  };
  const { made } = await bootstrap(withStore(world, { findProject }), NOTHING);
  expect(made.map(({ what }) => what)).toEqual(['key', 'key']);
  expect(await world.store.listProjects()).toHaveLength(1);
});
