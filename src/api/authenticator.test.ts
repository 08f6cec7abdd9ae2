import { expect, test } from 'vitest';
import { hashKey } from '#src/domain/api-key.ts';
import type { ProjectId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { CURRENT_VERSION, type Partition } from '#src/domain/project.ts';
import type { Tenant } from '#src/ports/control-store.ts';
import { Authenticator } from './authenticator.ts';

const KEY = 'sk_test_0123456789abcdef';
const HEADER = `Bearer ${KEY}`;
const START = instant(1_000_000);

function setUp() {
  const tenant: Tenant = {
    projectId: 'prj_1' as ProjectId,
    partition: 1 as Partition,
    mode: 'test',
    keyHash: hashKey(KEY),
    pinnedVersion: CURRENT_VERSION,
  };
  const state: { now: Instant; isRevoked: boolean; reads: number } = {
    now: START,
    isRevoked: false,
    reads: 0,
  };
  const store = {
    findTenant: async (hash: string) => {
      state.reads += 1;
      return state.isRevoked || hash !== tenant.keyHash ? null : tenant;
    },
    touchKeys: async () => {},
  };
  return { tenant, state, authenticator: new Authenticator(store, { now: () => state.now }) };
}

test('a key that was found is cached for less than a second', async () => {
  const { tenant, state, authenticator } = setUp();
  expect(authenticator.cachedTenant(HEADER)).toBeNull();
  expect(await authenticator.authenticate(HEADER)).toBe(tenant);
  state.now = instant(START + 899);
  expect(authenticator.cachedTenant(HEADER)).toBe(tenant);
  state.now = instant(START + 900);
  expect(authenticator.cachedTenant(HEADER)).toBeNull();
  state.isRevoked = true;
  await expect(authenticator.authenticate(HEADER)).rejects.toMatchObject({ code: 'invalid_api_key' });
  expect(authenticator.cachedTenant(HEADER)).toBeNull();
});

test('a cached key is not trusted after the clock was set back', async () => {
  const { state, authenticator } = setUp();
  await authenticator.authenticate(HEADER);
  state.now = instant(START - 1);
  expect(authenticator.cachedTenant(HEADER)).toBeNull();
  state.now = START;
  expect(authenticator.cachedTenant(HEADER)).toBeNull();
});

test('no header stays in memory when it is no longer trusted, even if it is not sent again', async () => {
  const { state, authenticator } = setUp();
  await authenticator.authenticate(HEADER);
  state.now = instant(START + 900);
  expect(authenticator.cachedTenant('Bearer sk_test_of_another_customer')).toBeNull();
  // At this instant the header would be trusted if it were still known.
  state.now = instant(START + 1);
  expect(authenticator.cachedTenant(HEADER)).toBeNull();
});

test('a header of more than 512 characters is accepted, but not cached', async () => {
  const { tenant, authenticator } = setUp();
  const header = `Bearer ${' '.repeat(600)}${KEY}`;
  expect(await authenticator.authenticate(header)).toBe(tenant);
  expect(authenticator.cachedTenant(header)).toBeNull();
});

test('a missing or malformed header is refused without reading the store', async () => {
  const { state, authenticator } = setUp();
  for (const header of [undefined, '', KEY, 'Bearer', 'Basic abc'])
    await expect(authenticator.authenticate(header)).rejects.toMatchObject({ code: 'missing_api_key' });
  expect(state.reads).toBe(0);
});
