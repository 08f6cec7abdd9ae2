/** Creates, changes and finds an endpoint profile by its name. */
import { comparableLabels } from '#src/domain/comparable.ts';
import { differingFields, type EndpointProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Headers } from '#src/domain/headers.ts';
import { decodeHeaders } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import { profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import {
  areLarge,
  type Commands,
  type RenderedAnswer,
  requireFound,
  retryUntilWritten,
  type WriteResult,
} from './command.ts';
import { createProfile, namesOf, otherThan, type ProfileFields, sealedHeaders } from './profiles.ts';
import { byName, type PutAnswers, unchanged } from './put.ts';
import { requireNotifiable } from './required-profiles.ts';
import { requireStandardSecrets } from './standard-webhooks.ts';

/** Finds the unarchived profile that has this name. */
async function findNamedProfile(
  { store }: Pick<Commands, 'store'>,
  partition: Partition,
  name: string,
): Promise<EndpointProfile | null> {
  const id = await store.findNamed(partition, 'endpoint', name);
  const profile = id === null ? null : await store.findProfile(partition, id);
  // It may have been renamed or archived since its name was read.
  return profile?.name === name && !profile.archived ? profile : null;
}

export async function getNamedProfile(
  commands: Pick<Commands, 'store'>,
  partition: Partition,
  name: string,
): Promise<EndpointProfile> {
  return requireFound(await findNamedProfile(commands, partition, name));
}

/** `read` names the profile as the path does. */
export function putProfile(
  commands: Commands,
  partition: Partition,
  name: string,
  read: () => ProfileFields,
  answers: PutAnswers<EndpointProfile>,
): Promise<RenderedAnswer> {
  return byName(commands, partition, 'endpoint', name, async () => {
    const profile = await findNamedProfile(commands, partition, name);
    if (profile !== null) {
      return commands.mutex.run(`${partition}/${profile.id}`, () =>
        retryUntilWritten(() => change(commands, partition, name, read, answers)),
      );
    }
    if (answers.plan === null) return createProfile(commands, partition, read, answers.created, () => null);
    const { notify, standardWebhooks } = read();
    if (standardWebhooks) await requireStandardSecrets(commands, partition, null);
    await requireNotifiable(commands.store, partition, notify);
    return answers.plan('create', []);
  });
}

async function change(
  commands: Commands,
  partition: Partition,
  name: string,
  read: () => ProfileFields,
  answers: PutAnswers<EndpointProfile>,
): Promise<WriteResult> {
  const { store, clock, vault, pause } = commands;
  const before = await findNamedProfile(commands, partition, name);
  // The profile was archived in the meantime. The name is free, and the write begins anew.
  if (before === null) throw new Refusal('name_taken', 'name');
  const { headers, ...terms } = read();
  if (terms.standardWebhooks && !before.standardWebhooks)
    await requireStandardSecrets(commands, partition, before.id);
  if (areLarge(before.metadata) || areLarge(terms.metadata)) await pause(partition);
  const isSameHeaders = comparableLabels(await openHeaders(commands, before)) === comparableLabels(headers);
  const fields = [...differingFields(before, terms), ...(isSameHeaders ? [] : ['headers'])];
  if (fields.length === 0) {
    return { written: 'done', answer: answers.plan?.('none', []) ?? unchanged(answers.present(before)) };
  }
  const notified = await requireNotifiable(store, partition, terms.notify);
  if (answers.plan !== null) return { written: 'done', answer: answers.plan('change', fields) };

  const profile = editProfile(before, { ...terms, headerNames: namesOf(headers) }, clock.now());
  const answer = answers.present(profile);
  const written = await store.replaceProfile({
    profile,
    notified: otherThan(profile, notified),
    nameBefore: before.name,
    headers: sealedHeaders(vault, profile, headers),
    receipt: null,
  });
  return { written, answer };
}

async function openHeaders(
  { store, vault }: Commands,
  { partition, id, version }: EndpointProfile,
): Promise<Headers> {
  const sealed = await store.findProfileHeaders(partition, id, version);
  return sealed === null
    ? []
    : decodeHeaders(vault.open(profileHeadersContext(partition, id, version), sealed));
}
