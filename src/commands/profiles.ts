import {
  archiveProfile as archived,
  type EndpointProfile,
  editProfile as edited,
  type ProfileTerms,
} from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { encodeHeaders } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import { profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import {
  areLarge,
  type Commands,
  type MakeReceipt,
  type Render,
  type RenderedAnswer,
  requireFound,
  retryUntilWritten,
  type WriteResult,
} from './command.ts';
import { requireNotifiable } from './required-profiles.ts';
import { requireStandardSecrets } from './standard-webhooks.ts';

export interface ProfileFields extends ProfileTerms {
  readonly headers: Headers;
}

export async function createProfile(
  commands: Commands,
  partition: Partition,
  read: () => ProfileFields,
  render: Render<EndpointProfile>,
  makeReceipt: MakeReceipt,
): Promise<RenderedAnswer> {
  const { store, clock, ids, vault } = commands;
  const now = clock.now();
  const { headers, ...terms } = read();
  if (terms.standardWebhooks) await requireStandardSecrets(commands, partition, null);
  const profile: EndpointProfile = {
    ...terms,
    partition,
    id: ids.mint('ep', now),
    version: 1,
    headerNames: namesOf(headers),
    archived: false,
    createdAt: now,
    updatedAt: now,
    revision: 1,
  };
  return retryUntilWritten(async () => {
    const notified = await requireNotifiable(store, partition, profile.notify);
    const answer = render(profile);
    const sealed = sealedHeaders(vault, profile, headers);
    const receipt = makeReceipt(answer, now);
    const written = await store.addProfile({ profile, notified, headers: sealed, receipt });
    return { written, answer };
  });
}

/**
 * The fields are read after the endpoint profile is found, because `not_found` takes precedence over invalid fields.
 */
export function editProfile(
  commands: Commands,
  partition: Partition,
  id: EndpointId,
  read: (profile: EndpointProfile) => Partial<ProfileFields> | Promise<Partial<ProfileFields>>,
  render: Render<EndpointProfile>,
  makeReceipt: MakeReceipt,
): Promise<RenderedAnswer> {
  const { store, clock, vault, mutex, pause } = commands;
  const write = async (): Promise<WriteResult> => {
    const before = requireFound(await store.findProfile(partition, id), id);
    if (areLarge(before.metadata)) await pause(partition);
    const { headers, ...edit } = await read(before);
    if (edit.standardWebhooks === true && !before.standardWebhooks)
      await requireStandardSecrets(commands, partition, id);
    const notified = await requireNotifiable(store, partition, edit.notify);
    const now = clock.now();
    const profile = edited(before, { ...edit, ...(headers && { headerNames: namesOf(headers) }) }, now);
    const sealed =
      headers === undefined
        ? resealedHeaders(
            vault,
            before,
            profile,
            await store.findProfileHeaders(partition, id, before.version),
          )
        : sealedHeaders(vault, profile, headers);
    const answer = render(profile);
    const written = await store.replaceProfile({
      profile,
      notified: otherThan(profile, notified),
      nameBefore: before.name,
      headers: sealed,
      receipt: makeReceipt(answer, now),
    });
    return { written, answer };
  };
  return mutex.run(`${partition}/${id}`, () => retryUntilWritten(write));
}

/** `checkFields` throws to refuse the request after the endpoint profile was found. */
export function archiveProfile(
  { store, clock, mutex }: Commands,
  partition: Partition,
  id: EndpointId,
  render: Render<EndpointProfile>,
  checkFields: () => void = () => {},
): Promise<RenderedAnswer> {
  const write = async (): Promise<WriteResult> => {
    const before = requireFound(await store.findProfile(partition, id), id);
    checkFields();
    const profile = archived(before, clock.now());
    const written = profile === before ? 'done' : await store.archiveProfile(profile);
    if (written === 'in_use') throw new Refusal('profile_in_use');
    return { written, answer: render(profile) };
  };
  return mutex.run(`${partition}/${id}`, () => retryUntilWritten(write));
}

/** A profile that notifies itself is guarded by its own replacement. */
export function otherThan({ id }: EndpointProfile, notified: EndpointProfile | null): EndpointProfile | null {
  return notified?.id === id ? null : notified;
}

export function namesOf(headers: Headers): readonly string[] {
  return headers.map(([name]) => name);
}

export function sealedHeaders(
  vault: Commands['vault'],
  profile: EndpointProfile,
  headers: Headers,
): Uint8Array | null {
  const plain = encodeHeaders(headers);
  return plain && sealedFor(vault, profile, plain);
}

/** An edit that keeps the headers makes a new version too, and each version has its own sealed headers. */
function resealedHeaders(
  vault: Commands['vault'],
  before: EndpointProfile,
  profile: EndpointProfile,
  sealed: Uint8Array | null,
): Uint8Array | null {
  if (sealed === null) return null;
  const context = profileHeadersContext(before.partition, before.id, before.version);
  return sealedFor(vault, profile, vault.open(context, sealed));
}

function sealedFor(
  vault: Commands['vault'],
  { partition, id, version }: EndpointProfile,
  plain: Uint8Array,
): Uint8Array {
  return vault.seal(profileHeadersContext(partition, id, version), plain);
}
