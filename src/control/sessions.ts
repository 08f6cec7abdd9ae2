/**
 * Sessions. A token is 256 random bits, known to the browser alone. The store has its SHA-256, which cannot be used to
 * sign in. A user who signs in gets a new token, and the session of the presented token ends. So an attacker cannot
 * make a user adopt a session that the attacker knows.
 *
 * A session ends after 8 hours without use, and after 7 days in any case. Requests that a page makes by itself do not
 * count as use.
 */
import { createHmac, hash } from 'node:crypto';
import { instant } from '#src/domain/instant.ts';
import type { PeopleStore, Session, User } from '#src/ports/people-store.ts';
import type { Clock, Random } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

const TOKEN_BYTES = 32;
const SESSION_ID_CHARACTERS = 16;
const ADDRESS_CHARACTERS_MAX = 64;
const AGENT_CHARACTERS_MAX = 200;
export const IDLE_MS_MAX = 8 * 3_600_000;
export const SESSION_MS_MAX = 7 * 86_400_000;
/** The time of the last use is written at most this often. */
const TOUCH_EVERY_MS = 60_000;

export interface SessionDependencies {
  readonly store: { readonly people: PeopleStore };
  readonly clock: Clock;
  readonly random: Random;
}

export interface FoundSession {
  readonly user: User;
  readonly session: Session;
}

export interface NewSession {
  /** The token itself. It is known only now; the store has its hash. */
  readonly token: string;
  readonly session: Session;
}

/** `presented` is the token that came with the request. Its session ends. */
export async function createSession(
  { store, clock, random }: SessionDependencies,
  user: User,
  presented: string | null,
  address: string,
  agent: string,
): Promise<NewSession> {
  const token = newToken(random);
  const now = clock.now();
  const session: Session = {
    hash: hashToken(token),
    userId: user.id,
    createdAt: now,
    seenAt: now,
    expiresAt: instant(now + SESSION_MS_MAX),
    address: address.slice(0, ADDRESS_CHARACTERS_MAX),
    agent: agent.slice(0, AGENT_CHARACTERS_MAX),
  };
  const replaced = presented === null ? null : hashToken(presented);
  // The password may have been changed since it was checked.
  if ((await store.people.addSession(session, user.passwordHash, replaced)) === 'stale') {
    throw new ControlRefusal('wrong_login');
  }
  return { token, session };
}

/**
 * `isUsed` means that a person makes the request, not a page that was left open. Only then does the session last
 * longer.
 */
export async function findSession(
  { store, clock }: Pick<SessionDependencies, 'store' | 'clock'>,
  token: string,
  isUsed: boolean,
): Promise<FoundSession | null> {
  const found = await findSessionByHash({ store, clock }, hashToken(token));
  if (found === null || !isUsed) return found;
  const now = clock.now();
  if (now - found.session.seenAt >= TOUCH_EVERY_MS) {
    // The request does not wait for this write. If it fails, the next request writes again.
    void store.people.touchSession(found.session.hash, now).catch(() => {});
  }
  return found;
}

/** Finds a session by its hash. This does not count as use. */
export async function findSessionByHash(
  { store, clock }: Pick<SessionDependencies, 'store' | 'clock'>,
  hash: string,
): Promise<FoundSession | null> {
  const found = await store.people.findSession(hash);
  return found !== null && isOpen(found.session, clock.now()) ? found : null;
}

/** Lists the open sessions of a user, the last used one first. */
export async function openSessions(
  { store, clock }: Pick<SessionDependencies, 'store' | 'clock'>,
  { id }: User,
): Promise<readonly Session[]> {
  const now = clock.now();
  return (await store.people.listSessions(id, now)).filter((session) => isOpen(session, now));
}

function isOpen({ seenAt, expiresAt }: Session, now: number): boolean {
  return now < expiresAt && now - seenAt < IDLE_MS_MAX;
}

export function newToken(random: Random): string {
  return Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The part of the hash that users see, long enough to tell sessions apart. */
export function sessionIdOf({ hash }: Session): string {
  return hash.slice(0, SESSION_ID_CHARACTERS);
}

/** Derives the CSRF token from the session's token. The session's token cannot be derived from it. */
export function csrfToken(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}
