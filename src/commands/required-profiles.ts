/** Finds endpoint profiles that a request names, or refuses it. A profile cannot be archived while it is named. */
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Notify } from '#src/domain/notify.ts';
import type { Partition } from '#src/domain/project.ts';
import { noObjectText } from '#src/texts/id-fault-text.ts';
import { notifiedArchivedText, profileArchivedText } from '#src/texts/state-fault-text.ts';
import type { Commands } from './command.ts';

/** Finds the endpoint profile of a new schedule. */
export async function requireUsableProfile(
  store: Commands['store'],
  partition: Partition,
  id: EndpointId,
): Promise<EndpointProfile> {
  const profile = await store.findProfile(partition, id);
  if (profile === null) throw new Refusal('invalid_endpoint', 'endpoint_id', noObjectText(id));
  if (profile.archived) throw new Refusal('endpoint_archived', 'endpoint_id', profileArchivedText(id));
  return profile;
}

/** Finds the endpoint profile that a schedule or another profile begins to notify. */
export async function requireNotifiable(
  store: Commands['store'],
  partition: Partition,
  notify: Notify | null | undefined,
): Promise<EndpointProfile | null> {
  const id = notify?.endpointId ?? null;
  if (id === null) return null;
  const profile = await store.findProfile(partition, id);
  if (profile === null) throw new Refusal('invalid_notify', 'notify', noObjectText(id));
  if (profile.archived) throw new Refusal('invalid_notify', 'notify', notifiedArchivedText(id));
  return profile;
}
