/**
 * The signing secrets of an endpoint profile, which it may have beside those of its project.
 *
 * A delivery that names a profile is signed with the profile's live secrets, and with those of the project beside them
 * until one of the profile's is alone (`aloneFrom`). A profile that gets its first secret keeps the project's beside
 * it for an overlap, so that its receiver can change over. One that loses its secrets gets the project's back at once,
 * and its own end after an overlap. A delivery without a profile is signed with the project's.
 */
import { type Instant, instant } from './instant.ts';

/** Each adds a signature to every request: what a header holds is bounded. */
export const LIVE_SECRETS_MAX = 5;

export interface SecretTerm {
  /** The secret stops signing then; null while it is in force. */
  readonly expiresAt: Instant | null;
}

export interface EndpointSecretTerm extends SecretTerm {
  /** From then on the project's secrets do not sign beside it; null: they always do. */
  readonly aloneFrom: Instant | null;
}

/** The result of a change. */
export interface SecretsChange<Own> {
  /** The new secret; a removal adds none. */
  readonly added: Pick<EndpointSecretTerm, 'aloneFrom'> | null;
  /** The live secrets, with their new ends. */
  readonly ended: readonly Own[];
}

export type SecretsRefusal = 'in_force' | 'none_in_force' | 'too_many';

export function isLive({ expiresAt }: SecretTerm, now: Instant): boolean {
  return expiresAt === null || expiresAt > now;
}

/** The secrets that sign for a delivery, in the order given, the profile's first. */
export function signersAt<Project extends SecretTerm, Own extends EndpointSecretTerm>(
  projects: readonly Project[],
  own: readonly Own[],
  now: Instant,
): readonly (Project | Own)[] {
  const live = own.filter((secret) => isLive(secret, now));
  const isAlone = live.some(({ aloneFrom }) => aloneFrom !== null && aloneFrom <= now);
  return isAlone ? live : [...live, ...projects.filter((secret) => isLive(secret, now))];
}

/** The project's secrets sign beside the new one until `aloneFrom`. Those that a removal left live keep their end. */
export function creation<Own extends EndpointSecretTerm>(
  own: readonly Own[],
  aloneFrom: Instant,
  now: Instant,
): SecretsChange<Own> | SecretsRefusal {
  const live = own.filter((secret) => isLive(secret, now));
  if (live.some(isInForce)) return 'in_force';
  return live.length < LIVE_SECRETS_MAX ? { added: { aloneFrom }, ended: [] } : 'too_many';
}

/** All that are live end at `endsAt`, or earlier where they did already; the new one is alone when they were. */
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

/** The project's secrets sign beside those that are live from now on, and alone once they have ended. */
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
