import { describe, expect, test } from 'vitest';
import { createEndpointSecret } from '#src/control/endpoint-secrets.ts';
import { addSecret, rotateSecret } from '#src/control/secrets.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { formatInstant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { type ControlHarness, openControlHarness } from '#test/process/control-harness.ts';
import { type Commands, KeyedMutex } from './command.ts';
import { putProfile } from './named-profiles.ts';
import { createProfile, editProfile, type ProfileFields } from './profiles.ts';

const DAY_MS = 86_400_000;
const FREE_TEXT = 'a secret of the operator';

const REFUSED = { code: 'invalid_signature', param: 'standard_webhooks' };

const FIELDS: ProfileFields = {
  name: null,
  url: 'https://example.com/profile',
  method: 'POST',
  headers: [],
  timeout: null,
  retryPolicy: DEFAULT_RETRY_POLICY,
  retryBudget: null,
  rateLimit: null,
  breakerPolicy: null,
  responseExcerpt: null,
  notify: null,
  standardWebhooks: true,
  metadata: [],
};

const render = (profile: EndpointProfile) => ({ status: 200, body: JSON.stringify(profile) });
const rendered = ({ body }: { readonly body: string }) => JSON.parse(body) as EndpointProfile;

/** A project whose signing secret in test mode is this text, with the commands of the API. */
async function given(harness: ControlHarness, secret: string) {
  const id = harness.ids.mint('prj', harness.clock.now());
  const project = { id, name: 'shop', pinnedVersion: '2026-01-01', createdAt: harness.clock.now() };
  const added = await harness.store.addProject(project);
  if (added === 'taken') throw new Error('The project exists.');
  const partition = added.partitions.test;
  await addSecret(harness, partition, secret);
  harness.advance(1);
  const commands = commandsOf(harness);
  return {
    partition,
    create: async (fields: Partial<ProfileFields> = {}) =>
      rendered(
        await createProfile(
          commands,
          partition,
          () => ({ ...FIELDS, ...fields }),
          render,
          () => null,
        ),
      ),
    edit: async ({ id }: EndpointProfile, edit: Partial<ProfileFields>) =>
      rendered(
        await editProfile(
          commands,
          partition,
          id,
          () => edit,
          render,
          () => null,
        ),
      ),
    put: (fields: Partial<ProfileFields>, isPlan = false) =>
      putNamed(commands, partition, { ...FIELDS, ...fields }, isPlan),
  };
}

function commandsOf({ store, clock, ids, vault }: ControlHarness): Commands {
  return {
    store,
    clock,
    ids,
    vault,
    hints: { due: () => {}, rescan: () => {} },
    mutex: new KeyedMutex(),
    pause: async () => {},
  };
}

function putNamed(commands: Commands, partition: Partition, fields: ProfileFields, isPlan: boolean) {
  return putProfile(commands, partition, 'hooks', () => ({ ...fields, name: 'hooks' }), {
    created: render,
    present: render,
    plan: isPlan ? (action, names) => ({ status: 200, body: [action, ...names].join(' ') }) : null,
  });
}

describe('while a signing secret of the project is not whsec_ and base64', () => {
  test('Standard Webhooks is refused to a new endpoint profile, and nothing is stored', async () => {
    await using harness = await openControlHarness();
    const { partition, create, put } = await given(harness, FREE_TEXT);
    await expect(create()).rejects.toMatchObject(REFUSED);
    await expect(put({})).rejects.toMatchObject(REFUSED);
    await expect(put({}, true)).rejects.toMatchObject(REFUSED);
    const page = { before: null, limit: 10 };
    expect((await harness.store.listProfiles(partition, true, page)).items).toEqual([]);
    expect((await create({ standardWebhooks: false })).standardWebhooks).toBe(false);
  });

  test('it is refused to an existing endpoint profile, by PATCH, by PUT and by its dry run', async () => {
    await using harness = await openControlHarness();
    const { create, edit, put } = await given(harness, FREE_TEXT);
    const profile = await create({ name: 'hooks', standardWebhooks: false });
    await expect(edit(profile, { standardWebhooks: true })).rejects.toMatchObject(REFUSED);
    await expect(put({})).rejects.toMatchObject(REFUSED);
    await expect(put({}, true)).rejects.toMatchObject(REFUSED);
    expect((await edit(profile, { standardWebhooks: false, timeout: '7s' })).version).toBe(2);
  });

  test('the message says what to do, and never the secret', async () => {
    await using harness = await openControlHarness();
    const { create } = await given(harness, FREE_TEXT);
    const refusal = await create().catch((error: unknown) => String(error));
    expect(refusal).toContain('sched secret rotate');
    expect(refusal).not.toContain(FREE_TEXT);
    await rotateSecret(harness, 'shop', 'test');
    const end = formatInstant(instant(harness.clock.now() + DAY_MS));
    await expect(create()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining(end) });
  });

  test('it is accepted as soon as that secret has stopped signing', async () => {
    await using harness = await openControlHarness();
    const { create } = await given(harness, FREE_TEXT);
    await rotateSecret(harness, 'shop', 'test', '1h');
    await expect(create()).rejects.toMatchObject(REFUSED);
    harness.advance(3_600_000);
    expect((await create()).standardWebhooks).toBe(true);
  });

  test('it is accepted for an endpoint profile whose own secret signs alone', async () => {
    await using harness = await openControlHarness();
    const { partition, create, edit } = await given(harness, FREE_TEXT);
    const profile = await create({ standardWebhooks: false });
    await createEndpointSecret(harness, { partition, endpointId: profile.id }, '1h');
    await expect(edit(profile, { standardWebhooks: true })).rejects.toMatchObject(REFUSED);
    harness.advance(3_600_000);
    expect((await edit(profile, { standardWebhooks: true })).standardWebhooks).toBe(true);
  });
});

describe('while every signing secret is whsec_ and base64', () => {
  test('an endpoint profile begins and ends to use it by any call', async () => {
    await using harness = await openControlHarness();
    const { create, edit, put } = await given(harness, 'whsec_Z3V0ZW4gVGFn');
    const profile = await create({ name: 'hooks' });
    expect((await put({}, true)).body).toBe('none');
    expect((await put({ standardWebhooks: false }, true)).body).toBe('change standard_webhooks');
    expect((await edit(profile, { standardWebhooks: false })).standardWebhooks).toBe(false);
    expect(rendered(await put({}))).toMatchObject({ standardWebhooks: true, version: 3 });
  });
});

test('an endpoint profile that uses it already can be changed, also if a secret has another form by now', async () => {
  await using harness = await openControlHarness();
  const { partition, create, edit, put } = await given(harness, 'whsec_Z3V0ZW4gVGFn');
  const profile = await create({ name: 'hooks' });
  await addUnchecked(harness, partition, FREE_TEXT);
  expect((await edit(profile, { timeout: '7s' })).version).toBe(2);
  expect(rendered(await put({ timeout: '8s' })).version).toBe(3);
  expect((await put({ timeout: '8s' })).isUnchanged).toBe(true);
  await edit(profile, { standardWebhooks: false });
  await expect(edit(profile, { standardWebhooks: true })).rejects.toMatchObject(REFUSED);
});

/** Adds a secret as two concurrent requests of different nodes could. */
async function addUnchecked(harness: ControlHarness, partition: Partition, text: string): Promise<void> {
  const blind = Object.create(harness.store, { findStandardProfile: { value: async () => null } });
  await addSecret({ ...harness, store: blind }, partition, text);
}
