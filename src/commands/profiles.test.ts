import { describe, expect, test, vi } from 'vitest';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import * as profileLife from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { decodeHeaders } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { interleaved } from '#test/store-contract/interleave.ts';
import { CONFLICTS_MAX, type Commands, KeyedMutex, type MakeReceipt } from './command.ts';
import { archiveProfile, createProfile, editProfile, type ProfileFields } from './profiles.ts';

const PARTITION = 1 as Partition;
const NO_RECEIPT: MakeReceipt = () => null;

const ORDER: ProfileFields = {
  name: null,
  responseExcerpt: null,
  notify: null,
  standardWebhooks: false,
  url: 'https://example.com/profile',
  method: 'PUT',
  headers: [['X-Secret', 'hush']],
  timeout: null,
  retryPolicy: DEFAULT_RETRY_POLICY,
  retryBudget: null,
  rateLimit: null,
  breakerPolicy: null,
  metadata: [],
};

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

function render(profile: EndpointProfile) {
  return { status: 200, body: JSON.stringify(profile) };
}

async function answered(
  harness: ControlHarness,
  answer: Promise<{ readonly body: string }>,
): Promise<EndpointProfile> {
  const profile = JSON.parse((await answer).body) as EndpointProfile;
  expect(await harness.store.findProfile(PARTITION, profile.id)).toEqual(profile);
  return profile;
}

function given(harness: ControlHarness): Promise<EndpointProfile> {
  return answered(
    harness,
    createProfile(commandsOf(harness), PARTITION, () => ORDER, render, NO_RECEIPT),
  );
}

async function headersOf(harness: ControlHarness, { id }: EndpointProfile, version: number) {
  const sealed = await harness.store.findProfileHeaders(PARTITION, id, version);
  return sealed && decodeHeaders(harness.vault.open(profileHeadersContext(PARTITION, id, version), sealed));
}

/** A concurrent edit of the stored endpoint profile. */
async function edited(
  harness: ControlHarness,
  { id }: EndpointProfile,
  edit: profileLife.ProfileEdit,
): Promise<void> {
  const before = await harness.store.findProfile(PARTITION, id);
  if (before === null) throw new Error('The profile does not exist.');
  const sealed = await harness.store.findProfileHeaders(PARTITION, id, before.version);
  const profile = profileLife.editProfile(before, edit, harness.clock.now());
  const plain = sealed && harness.vault.open(profileHeadersContext(PARTITION, id, before.version), sealed);
  const headers = plain && harness.vault.seal(profileHeadersContext(PARTITION, id, profile.version), plain);
  expect(await harness.store.replaceProfile({ profile, headers, receipt: null })).toBe('done');
}

describe('creating an endpoint profile', () => {
  test('stores the answered profile, with sealed header values', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    expect(profile).toMatchObject({
      version: 1,
      headerNames: ['X-Secret'],
      archived: false,
      createdAt: START,
    });
    expect(await headersOf(harness, profile, 1)).toEqual(ORDER.headers);
    const sealed = await harness.store.findProfileHeaders(PARTITION, profile.id, 1);
    expect(Buffer.from(sealed ?? []).includes('hush')).toBe(false);
  });
});

describe('editing an endpoint profile', () => {
  test('keeps the headers if it does not name them, and replaces them if it does', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    const edit = (order: Partial<ProfileFields>) =>
      answered(
        harness,
        editProfile(commandsOf(harness), PARTITION, profile.id, () => order, render, NO_RECEIPT),
      );
    expect(await edit({ timeout: '5s' })).toMatchObject({
      version: 2,
      timeout: '5s',
      headerNames: ['X-Secret'],
    });
    expect(await headersOf(harness, profile, 2)).toEqual(ORDER.headers);
    expect(await edit({ headers: [['X-New', 'value']] })).toMatchObject({
      version: 3,
      headerNames: ['X-New'],
    });
    expect(await headersOf(harness, profile, 3)).toEqual([['X-New', 'value']]);
    expect(await edit({ headers: [] })).toMatchObject({ version: 4, headerNames: [] });
    expect(await headersOf(harness, profile, 4)).toBeNull();
    expect(await headersOf(harness, profile, 1)).toEqual(ORDER.headers);
  });

  test('seals kept headers for its own version, so that those of another version cannot be opened there', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    await editProfile(
      commandsOf(harness),
      PARTITION,
      profile.id,
      () => ({ timeout: '5s' }),
      render,
      NO_RECEIPT,
    );
    const [first, second] = [
      await harness.store.findProfileHeaders(PARTITION, profile.id, 1),
      await harness.store.findProfileHeaders(PARTITION, profile.id, 2),
    ];
    const opened = (version: number, sealed: Uint8Array | null) => () =>
      harness.vault.open(profileHeadersContext(PARTITION, profile.id, version), sealed ?? new Uint8Array());
    expect(opened(1, first)()).toEqual(opened(2, second)());
    expect(opened(2, first)).toThrow('sealed for another row');
    expect(opened(1, second)).toThrow('sealed for another row');
  });

  test('keeps a concurrent edit, and each edit makes a version', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    const store = interleaved(
      harness.store,
      'replaceProfile',
      () => edited(harness, profile, { timeout: '7s' }),
      2,
    );
    const commands = { ...commandsOf(harness), store };
    const answer = editProfile(
      commands,
      PARTITION,
      profile.id,
      () => ({ method: 'GET' }),
      render,
      NO_RECEIPT,
    );
    expect(await answered(harness, answer)).toMatchObject({ method: 'GET', timeout: '7s', version: 4 });
    expect(await headersOf(harness, profile, 4)).toEqual(ORDER.headers);
  });

  test('fails after too many concurrent edits', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    const store = interleaved(
      harness.store,
      'replaceProfile',
      () => edited(harness, profile, { timeout: '7s' }),
      Number.POSITIVE_INFINITY,
    );
    const commands = { ...commandsOf(harness), store };
    const answer = editProfile(
      commands,
      PARTITION,
      profile.id,
      () => ({ method: 'GET' }),
      render,
      NO_RECEIPT,
    );
    await expect(answer).rejects.toThrow(StoreUnavailable);
    expect(await harness.store.findProfile(PARTITION, profile.id)).toMatchObject({
      method: 'PUT',
      version: CONFLICTS_MAX + 1,
    });
  });

  test('waits for other edits of the same profile, so that many at once decide once each', async () => {
    await using harness = await openControlHarness();
    const { id } = await given(harness);
    const commands = commandsOf(harness);
    const read = vi.fn(() => ({ timeout: '5s' }));
    // More than the number of times that a conflicting decision is made again.
    const edits = Array.from({ length: 30 }, () =>
      editProfile(commands, PARTITION, id, read, render, NO_RECEIPT),
    );
    await Promise.all(edits);
    expect(read).toHaveBeenCalledTimes(edits.length);
    expect(await harness.store.findProfile(PARTITION, id)).toMatchObject({ version: 1 + edits.length });
  });

  test('refuses an unknown profile before its fields are read, and invalid fields change nothing', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    const faulty = () => {
      throw new Refusal('invalid_timeout', 'timeout');
    };
    const edit = (partition: number) =>
      editProfile(commandsOf(harness), partition as Partition, profile.id, faulty, render, NO_RECEIPT);
    await expect(edit(2)).rejects.toMatchObject({ code: 'not_found' });
    await expect(edit(PARTITION)).rejects.toMatchObject({ code: 'invalid_timeout' });
    expect(await harness.store.findProfile(PARTITION, profile.id)).toEqual(profile);
  });
});

describe('archiving an endpoint profile', () => {
  test('can be repeated with the same answer', async () => {
    await using harness = await openControlHarness();
    const { id } = await given(harness);
    const archive = () => answered(harness, archiveProfile(commandsOf(harness), PARTITION, id, render));
    const first = await archive();
    expect(first).toMatchObject({ archived: true, version: 1 });
    harness.advance(1_000);
    expect(await archive()).toEqual(first);
  });

  test('archives the version of a concurrent edit', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    const store = interleaved(harness.store, 'archiveProfile', () =>
      edited(harness, profile, { timeout: '7s' }),
    );
    const answer = archiveProfile({ ...commandsOf(harness), store }, PARTITION, profile.id, render);
    expect(await answered(harness, answer)).toMatchObject({ archived: true, version: 2, timeout: '7s' });
  });

  test('is refused if a schedule begins to use it at the same time', async () => {
    await using harness = await openControlHarness();
    const profile = await given(harness);
    const addition = new Builders(PARTITION, harness.ids).scheduleOn(profile);
    const store = interleaved(harness.store, 'archiveProfile', () => harness.store.addSchedule(addition));
    const answer = archiveProfile({ ...commandsOf(harness), store }, PARTITION, profile.id, render);
    await expect(answer).rejects.toMatchObject({ code: 'profile_in_use' });
    expect(await harness.store.findProfile(PARTITION, profile.id)).toEqual(profile);
  });

  test('refuses an unknown profile', async () => {
    await using harness = await openControlHarness();
    const { id } = await given(harness);
    const answer = archiveProfile(commandsOf(harness), 2 as Partition, id, render);
    await expect(answer).rejects.toMatchObject({ code: 'not_found' });
  });
});
