import { describe, expect, test } from 'vitest';
import { hashKey } from '#src/domain/api-key.ts';
import { archiveProfile } from '#src/domain/endpoint-profile.ts';
import type { Instant } from '#src/domain/instant.ts';
import { MODES } from '#src/domain/project.ts';
import type { ApiKey, ControlStore, SigningSecret } from '#src/ports/control-store.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { bootstrap, createProject, type ProvidedCredentials } from './bootstrap.ts';
import type { SealingDependencies } from './dependencies.ts';
import { addKey, createKey, listKeys, revokeKey } from './keys.ts';
import { addProject, requireProject } from './projects.ts';
import { rotateSecret, showSecrets } from './secrets.ts';

const DAY_MS = 86_400_000;
const NOTHING: ProvidedCredentials = { keys: { test: null, live: null }, signingSecret: null };
const TEST_KEY = 'sk_test_brought-by-the-operator';
const LIVE_KEY = 'sk_live_brought-by-the-operator';
const SECRET = 'a secret of the operator';
const ALL: ProvidedCredentials = { keys: { test: TEST_KEY, live: LIVE_KEY }, signingSecret: SECRET };

const NOTHING_NEW = { generated: [], revoked: [], superseded: [] };

async function modeOf(harness: ControlHarness, key: string) {
  return (await harness.store.findTenant(hashKey(key)))?.mode;
}

async function textsOf(harness: ControlHarness, mode: 'test' | 'live') {
  return (await showSecrets(harness, 'default', mode)).map(({ text }) => text);
}

function withStore(harness: ControlHarness, changes: Partial<ControlStore>): SealingDependencies {
  return { ...harness, store: { ...asObject(harness.store), ...changes } };
}

/** A store whose writes fail after the first few, as if the process had died there. */
function dyingAfter(harness: ControlHarness, writes: number): SealingDependencies {
  let left = writes;
  const dying =
    <A extends readonly unknown[], R>(write: (...given: A) => Promise<R>) =>
    async (...given: A) => {
      if (left-- === 0) throw new Error('died');
      return write(...given);
    };
  const { store } = harness;
  return withStore(harness, {
    addProject: dying((project: Parameters<ControlStore['addProject']>[0]) => store.addProject(project)),
    addKey: dying((key: ApiKey) => store.addKey(key)),
    addSecret: dying((secret: SigningSecret, end: Instant) => store.addSecret(secret, end)),
  });
}

function asObject(store: ControlHarness['store']): SealingDependencies['store'] {
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
    findMode: (partition) => store.findMode(partition),
    listSecrets: (partition, now) => store.listSecrets(partition, now),
    listSecretOfEachMasterKey: (now) => store.listSecretOfEachMasterKey(now),
    listPartitionsWithoutSecret: (now) => store.listPartitionsWithoutSecret(now),
    addSecret: (secret, othersExpireAt) => store.addSecret(secret, othersExpireAt),
    findStandardProfile: (partition) => store.findStandardProfile(partition),
    hasEndpointSecrets: (partition, now) => store.hasEndpointSecrets(partition, now),
    listEndpointSecrets: (partition, id, now) => store.listEndpointSecrets(partition, id, now),
    changeEndpointSecrets: (change) => store.changeEndpointSecrets(change),
    findProfile: (partition, id) => store.findProfile(partition, id),
  };
}

describe('the first start without provided credentials', () => {
  test('generates a key and a secret in each mode and reports them', async () => {
    await using harness = await openControlHarness();
    const { generated } = await bootstrap(harness, NOTHING);
    expect(generated.map(({ kind, mode }) => `${mode} ${kind}`)).toEqual([
      'test key',
      'live key',
      'test signing secret',
      'live signing secret',
    ]);
    const [testKey, liveKey, testSecret, liveSecret] = generated.map(({ text }) => text);
    expect(await modeOf(harness, testKey ?? '')).toBe('test');
    expect(await modeOf(harness, liveKey ?? '')).toBe('live');
    expect(await textsOf(harness, 'test')).toEqual([testSecret]);
    expect(await textsOf(harness, 'live')).toEqual([liveSecret]);
  });

  test('is followed by starts that change and report nothing', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, NOTHING);
    const keys = await listKeys(harness, 'default');
    const secrets = await textsOf(harness, 'test');
    for (let start = 0; start < 3; start++) expect(await bootstrap(harness, NOTHING)).toEqual(NOTHING_NEW);
    expect(await listKeys(harness, 'default')).toEqual(keys);
    expect(await textsOf(harness, 'test')).toEqual(secrets);
  });
});

describe('the first start with provided credentials', () => {
  test('uses them, the secret in both modes, and reports nothing', async () => {
    await using harness = await openControlHarness();
    expect(await bootstrap(harness, ALL)).toEqual(NOTHING_NEW);
    expect(await modeOf(harness, TEST_KEY)).toBe('test');
    expect(await modeOf(harness, LIVE_KEY)).toBe('live');
    for (const mode of MODES) expect(await textsOf(harness, mode)).toEqual([SECRET]);
    expect(await bootstrap(harness, ALL)).toEqual(NOTHING_NEW);
    expect(await listKeys(harness, 'default')).toHaveLength(2);
  });

  test('generates the credentials that were not provided', async () => {
    await using harness = await openControlHarness();
    const { generated } = await bootstrap(harness, {
      keys: { test: TEST_KEY, live: null },
      signingSecret: SECRET,
    });
    expect(generated).toMatchObject([{ kind: 'key', mode: 'live' }]);
  });
});

describe('a later start', () => {
  test('adds a provided key beside the others', async () => {
    await using harness = await openControlHarness();
    const { generated } = await bootstrap(harness, NOTHING);
    expect((await bootstrap(harness, ALL)).generated).toEqual([]);
    expect(await modeOf(harness, TEST_KEY)).toBe('test');
    expect(await modeOf(harness, generated[0]?.text ?? '')).toBe('test');
    expect(await listKeys(harness, 'default')).toHaveLength(4);
  });

  test('makes a provided secret the newest, and older ones sign for another 24 h', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, NOTHING);
    const [old] = await showSecrets(harness, 'default', 'live');
    expect((await bootstrap(harness, ALL)).superseded).toEqual(['test', 'live']);
    expect(await showSecrets(harness, 'default', 'live')).toMatchObject([
      { text: SECRET, expiresAt: null },
      { text: old?.text, expiresAt: START + DAY_MS },
    ]);
    expect(await bootstrap(harness, ALL)).toEqual(NOTHING_NEW);
  });

  test('does not change a provided secret that signs beside a newer one', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, ALL);
    const rotated = await rotateSecret(harness, 'default', 'test');
    expect(await bootstrap(harness, ALL)).toEqual(NOTHING_NEW);
    expect(await showSecrets(harness, 'default', 'test')).toEqual(rotated);
  });

  test('does not restore a secret that was rotated away', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, ALL);
    await rotateSecret(harness, 'default', 'test', '0s');
    const [inForce] = await showSecrets(harness, 'default', 'test');
    expect(await bootstrap(harness, ALL)).toEqual(NOTHING_NEW);
    expect(await showSecrets(harness, 'default', 'test')).toEqual([inForce]);
    expect(inForce?.text).not.toBe(SECRET);
  });

  test('does not restore a revoked key, and reports its mode', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, ALL);
    const provided = (await listKeys(harness, 'default')).find(({ mode }) => mode === 'test');
    await revokeKey(harness, provided?.id ?? '');
    expect(await bootstrap(harness, ALL)).toEqual({ ...NOTHING_NEW, revoked: ['test'] });
    expect(await modeOf(harness, TEST_KEY)).toBeUndefined();
  });

  test('generates no key in a mode whose keys were all revoked', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, NOTHING);
    for (const { id } of await listKeys(harness, 'default')) await revokeKey(harness, id);
    expect(await bootstrap(harness, NOTHING)).toEqual(NOTHING_NEW);
  });

  test('refuses a key that belongs to another project', async () => {
    await using harness = await openControlHarness();
    const shop = await createProject(harness, 'shop');
    await addKey(harness, shop, 'test', TEST_KEY);
    await expect(bootstrap(harness, ALL)).rejects.toMatchObject({ code: 'key_elsewhere', subject: 'test' });
    expect((await harness.store.findTenant(hashKey(TEST_KEY)))?.partition).toBe(shop.partitions.test);
  });
});

describe('a provided secret that is not whsec_ and base64', () => {
  async function givenProfile(harness: ControlHarness, mode: 'test' | 'live') {
    await bootstrap(harness, NOTHING);
    const { partitions } = await requireProject(harness.store, 'default');
    const profile = new Builders(partitions[mode], harness.ids).profile({ standardWebhooks: true });
    await harness.store.addProfile({ profile, headers: null, receipt: null });
    return profile;
  }

  test('is refused in both modes while an endpoint profile of one uses Standard Webhooks', async () => {
    await using harness = await openControlHarness();
    const profile = await givenProfile(harness, 'live');
    const before = [await textsOf(harness, 'test'), await textsOf(harness, 'live')];
    const refusal = { code: 'secret_not_standard', subject: profile.id };
    await expect(bootstrap(harness, ALL)).rejects.toMatchObject(refusal);
    expect([await textsOf(harness, 'test'), await textsOf(harness, 'live')]).toEqual(before);
    expect(await modeOf(harness, TEST_KEY)).toBeUndefined();
    const fitting = { ...ALL, signingSecret: 'whsec_Z3V0ZW4gVGFn' };
    expect((await bootstrap(harness, fitting)).superseded).toEqual(['test', 'live']);
  });

  test('is accepted once that profile is archived', async () => {
    await using harness = await openControlHarness();
    const profile = await givenProfile(harness, 'test');
    await harness.store.archiveProfile(archiveProfile(profile, START));
    expect((await bootstrap(harness, ALL)).superseded).toEqual(['test', 'live']);
  });

  test('does not prevent the start if it was rotated away before', async () => {
    await using harness = await openControlHarness();
    await bootstrap(harness, ALL);
    for (const mode of MODES) await rotateSecret(harness, 'default', mode, '0');
    await givenProfile(harness, 'test');
    expect(await bootstrap(harness, ALL)).toEqual(NOTHING_NEW);
  });
});

describe('an interrupted start is completed by the next one', () => {
  test('after the project was added', async () => {
    await using harness = await openControlHarness();
    await addProject(harness, 'default');
    expect((await bootstrap(harness, NOTHING)).generated).toHaveLength(4);
  });

  test('after the key of one mode was added', async () => {
    await using harness = await openControlHarness();
    await addProject(harness, 'default');
    await createKey(harness, 'default', 'test');
    expect((await bootstrap(harness, NOTHING)).generated).toMatchObject([
      { kind: 'key', mode: 'live' },
      { kind: 'signing secret', mode: 'test' },
      { kind: 'signing secret', mode: 'live' },
    ]);
  });

  test('after any number of writes', async () => {
    for (let survived = 0; survived < 5; survived++) {
      await using harness = await openControlHarness();
      await expect(bootstrap(dyingAfter(harness, survived), NOTHING)).rejects.toThrow('died');
      await bootstrap(harness, NOTHING);
      const keys = await listKeys(harness, 'default');
      expect(keys.map(({ mode }) => mode).sort()).toEqual(['live', 'test']);
      for (const mode of MODES) expect(await textsOf(harness, mode)).toHaveLength(1);
    }
  });

  test('also for another project that has no secrets yet', async () => {
    await using harness = await openControlHarness();
    await addProject(harness, 'shop');
    const { generated } = await bootstrap(harness, NOTHING);
    expect(generated).toHaveLength(4);
    expect(await showSecrets(harness, 'shop', 'test')).toHaveLength(1);
    expect(await showSecrets(harness, 'shop', 'live')).toHaveLength(1);
  });
});

test('a default project that the command line adds at the same moment is used', async () => {
  await using harness = await openControlHarness();
  let reads = 0;
  const findProject = async (name: string) => {
    if (reads++ > 0) return harness.store.findProject(name);
    await createProject(harness, name);
    return null;
  };
  const { generated } = await bootstrap(withStore(harness, { findProject }), NOTHING);
  expect(generated.map(({ kind }) => kind)).toEqual(['key', 'key']);
  expect(await harness.store.listProjects()).toHaveLength(1);
});
