/** The verbs that change endpoint profiles, each as a list of steps (`verbs.ts`). */
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { ProfileReplacement, ProfileWrite } from '#src/ports/store.ts';
import { PROFILE_HEAD } from './rows.ts';
import {
  changeName,
  giveUpName,
  insertProfileVersion,
  insertReceipt,
  profileAtRevision,
  replaceProfileHead,
  type Step,
  takeName,
} from './steps.ts';

export const PROFILE_VERBS = {
  addProfile: (write: ProfileWrite): readonly Step[] => [
    ...profilesAtRevision(write.notified),
    ...insertReceipt(write.profile.partition, write.receipt),
    ...takeName('endpoint', write.profile),
    ['insertProfile', null, ...PROFILE_HEAD.values(write.profile)],
    insertProfileVersion(write),
  ],

  replaceProfile: (write: ProfileReplacement): readonly Step[] => [
    replaceProfileHead(write.profile),
    ...profilesAtRevision(write.notified),
    ...insertReceipt(write.profile.partition, write.receipt),
    ...changeName(
      'endpoint',
      { ...write.profile, name: write.nameBefore ?? null },
      write.profile,
      write.profile.archived,
    ),
    insertProfileVersion(write),
  ],

  archiveProfile: (profile: EndpointProfile): readonly Step[] => [
    ['profileUnused', 'in_use', profile.partition, profile.id, ...notifyRange(profile.id)],
    replaceProfileHead(profile),
    ...giveUpName('endpoint', profile),
  ],
};

/** Checks that these profiles are as they were read. */
export function profilesAtRevision(
  ...profiles: readonly (FiringProfile | null | undefined)[]
): readonly Step[] {
  return profiles.flatMap((profile) => (profile == null ? [] : [profileAtRevision(profile)]));
}

/** The texts of `notify` that name this endpoint profile are from the first on and before the second. */
function notifyRange(id: EndpointId): readonly [string, string] {
  return [id, `${id}!`];
}
