/**
 * Sessions. A token is 256 random bits, known to the browser alone; what is stored is its SHA-256, which opens
 * nothing. Whoever signs in gets a new one, and the one that was presented is over: a session that somebody else
 * planted is never the one that is used.
 *
 * A session is over after a while in which nobody used it, and after a longer one in any case. What a page asks for by
 * itself is no use of it.
 */
import { createHmac, hash } from 'node:crypto';
import { instant } from '#src/domain/instant.ts';
import type { PeopleStore, Session, User } from '#src/ports/people-store.ts';
import type { Clock, Random } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const SESSION_ID_CHARACTERS = 16;
const ADDRESS_CHARACTERS_MAX = 64;
const AGENT_CHARACTERS_MAX = 200;
export const IDLE_MS_MAX = 8 * 3_600_000;
export const SESSION_MS_MAX = 7 * 86_400_000;
/** When it was last used is written no more often than this. */
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
  /** The token itself: this is the only time it is known. */
  readonly token: string;
  readonly session: Session;
}

/** `presented`: the token that came along, which is over from now on. */
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
  const replaced = presented !== null && TOKEN.test(presented) ? hashToken(presented) : null;
  // Their password may have been changed since it was shown.
  if ((await store.people.addSession(session, user.passwordHash, replaced)) === 'stale') {
    throw new ControlRefusal('wrong_login', '');
  }
  return { token, session };
}

/** `isUsed`: somebody asks, rather than a page that was left open. Only then does the session go on for longer. */
export async function findSession(
  { store, clock }: Pick<SessionDependencies, 'store' | 'clock'>,
  token: string,
  isUsed: boolean,
): Promise<FoundSession | null> {
  if (!TOKEN.test(token)) return null;
  const found = await findSessionByHash({ store, clock }, hashToken(token));
  if (found === null || !isUsed) return found;
  const now = clock.now();
  if (now - found.session.seenAt >= TOUCH_EVERY_MS) {
    // Nobody waits for it; should it fail, the next request does it.
    void store.people.touchSession(found.session.hash, now).catch(() => {});
  }
  return found;
}

/** By its hash, without counting as a use of it. */
export async function findSessionByHash(
  { store, clock }: Pick<SessionDependencies, 'store' | 'clock'>,
  hash: string,
): Promise<FoundSession | null> {
  const found = await store.people.findSession(hash);
  return found !== null && isOpen(found.session, clock.now()) ? found : null;
}

/** Newest use first. */
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

/** What people see of a session: enough to tell them apart. */
export function sessionIdOf({ hash }: Session): string {
  return hash.slice(0, SESSION_ID_CHARACTERS);
}

/** The session's token against forgery. It follows from the session's token, which does not follow from it. */
export function csrfToken(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}
