/**
 * The signing secrets of an endpoint profile, which it may have beside those of its project.
 *
 * A delivery with a profile is signed with the live secrets of the profile. The project's secrets sign beside them
 * until `aloneFrom` of one of the profile's secrets. After the first secret of a profile, the project's secrets sign
 * for an overlap, so that the receiver can switch. When a profile loses its secrets, the project's secrets sign again
 * at once, and its own end after an overlap. A delivery without a profile is signed with the project's secrets.
 */
import { type Instant, instant } from './instant.ts';

/** Each secret adds a signature to every request, and the size of a header is limited. */
export const LIVE_SECRETS_MAX = 5;

export interface SecretTerm {
  /** The end of the secret; null while it has no end. */
  readonly expiresAt: Instant | null;
}

export interface EndpointSecretTerm extends SecretTerm {
  /** The project's secrets stop signing beside it at this instant; null if they never stop. */
  readonly aloneFrom: Instant | null;
}

export interface SecretsChange<Own> {
  /** The new secret; null for a removal. */
  readonly added: Pick<EndpointSecretTerm, 'aloneFrom'> | null;
  /** The live secrets with their new ends. */
  readonly ended: readonly Own[];
}

export type SecretsRefusal = 'in_force' | 'none_in_force' | 'too_many';

export function isLive({ expiresAt }: SecretTerm, now: Instant): boolean {
  return expiresAt === null || expiresAt > now;
}

/** Returns the secrets that sign for a delivery. The profile's secrets come first, each group in the given order. */
export function signersAt<Project extends SecretTerm, Own extends EndpointSecretTerm>(
  projects: readonly Project[],
  own: readonly Own[],
  now: Instant,
): readonly (Project | Own)[] {
  const live = own.filter((secret) => isLive(secret, now));
  const isAlone = live.some(({ aloneFrom }) => aloneFrom !== null && aloneFrom <= now);
  return isAlone ? live : [...live, ...projects.filter((secret) => isLive(secret, now))];
}

/**
 * Returns the secrets that sign now or will sign without a further change. An endpoint profile whose secret is alone and
 * has no end needs the project's no more.
 */
export function signersFrom<Project extends SecretTerm, Own extends EndpointSecretTerm>(
  projects: readonly Project[],
  own: readonly Own[],
  now: Instant,
): readonly (Project | Own)[] {
  const live = own.filter((secret) => isLive(secret, now));
  const isAlone = live.some(
    (secret) => isInForce(secret) && secret.aloneFrom !== null && secret.aloneFrom <= now,
  );
  return isAlone ? live : [...live, ...projects.filter((secret) => isLive(secret, now))];
}

/**
 * Creates the first secret. The project's secrets sign beside it until `aloneFrom`. Secrets that a removal left live
 * keep their end.
 */
export function creation<Own extends EndpointSecretTerm>(
  own: readonly Own[],
  aloneFrom: Instant,
  now: Instant,
): SecretsChange<Own> | SecretsRefusal {
  const live = own.filter((secret) => isLive(secret, now));
  if (live.some(isInForce)) return 'in_force';
  return live.length < LIVE_SECRETS_MAX ? { added: { aloneFrom }, ended: [] } : 'too_many';
}

/** Replaces the current secret. Live secrets end at `endsAt` or earlier. The new one is alone when the old one was. */
export function rotation<Own extends EndpointSecretTerm>(
  own: readonly Own[],
  endsAt: Instant,
  now: Instant,
): SecretsChange<Own> | SecretsRefusal {
  const inForce = own.find(isInForce);
  if (inForce === undefined) return 'none_in_force';
  const ended = ending(own, endsAt, now);
  const live = ended.filter((secret) => isLive(secret, now));
  return live.length < LIVE_SECRETS_MAX ? { added: { aloneFrom: inForce.aloneFrom }, ended } : 'too_many';
}

/**
 * Removes the secrets of the profile. From now on the project's secrets sign beside them, and alone once they have
 * ended.
 */
export function removal<Own extends EndpointSecretTerm>(
  own: readonly Own[],
  endsAt: Instant,
  now: Instant,
): SecretsChange<Own> | SecretsRefusal {
  const ended = ending(own, endsAt, now).map((secret) => ({ ...secret, aloneFrom: null }));
  return ended.length === 0 ? 'none_in_force' : { added: null, ended };
}

function isInForce({ expiresAt }: SecretTerm): boolean {
  return expiresAt === null;
}

function ending<Own extends SecretTerm>(own: readonly Own[], endsAt: Instant, now: Instant): readonly Own[] {
  return own
    .filter((secret) => isLive(secret, now))
    .map((secret) => ({ ...secret, expiresAt: instant(Math.min(secret.expiresAt ?? endsAt, endsAt)) }));
}
