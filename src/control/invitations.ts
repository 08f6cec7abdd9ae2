/**
 * How people come: somebody who may lets them in by a link, and they choose their name and password themselves.
 * Nobody ever types another one's password, nor one's own on a command line.
 */
import { parseId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Invitation, PeopleStore, User } from '#src/ports/people-store.ts';
import type { ControlDependencies, PeopleDependencies } from './dependencies.ts';
import { ControlRefusal } from './refusal.ts';
import { hashToken, newToken } from './sessions.ts';
import {
  type Actor,
  canInvite,
  parseName,
  requireGlobalAdmin,
  requireName,
  requireProjectScope,
  requireRole,
  requireStrongPassword,
} from './user-rules.ts';

const DAY_MS = 86_400_000;
const INVITATION_MS = 7 * DAY_MS;
/** The link of the first admin stands in the output of the first start, which others may read later. */
const FIRST_INVITATION_MS = DAY_MS;
const FIRST_START = 'first start';
const FIRST_REVISION = 1;

/** What somebody is to be: their role, and the names of the projects they see, null for all of them. */
export interface AccessGrant {
  readonly role: string;
  readonly projects: readonly string[] | null;
}

export interface NewInvitation {
  readonly invitation: Invitation;
  /** This is the only time it is known. */
  readonly token: string;
}

/** Behind `#`, where it is sent to no server and kept in no log. */
export function invitationPath(token: string): string {
  return `/dashboard/invite#${token}`;
}

export async function invite(
  dependencies: ControlDependencies,
  { role, projects, by }: AccessGrant & { readonly by: Actor },
): Promise<NewInvitation> {
  requireGlobalAdmin(by);
  return add(dependencies, {
    role: requireRole(role),
    projects: await requireProjectScope(dependencies.store, projects),
    createdBy: by.name,
    validMs: INVITATION_MS,
  });
}

/** For whoever comes first: null where somebody is there, or is invited to be an admin of everything. */
export async function inviteFirstAdmin(dependencies: ControlDependencies): Promise<NewInvitation | null> {
  const { people } = dependencies.store;
  if ((await people.countUsers()) > 0) return null;
  const open = await people.listInvitations(dependencies.clock.now());
  if (open.some(({ role, projects }) => role === 'admin' && projects === null)) return null;
  return add(dependencies, {
    role: 'admin',
    projects: null,
    createdBy: FIRST_START,
    validMs: FIRST_INVITATION_MS,
  });
}

async function add(
  { store, clock, random, ids }: ControlDependencies,
  { validMs, ...given }: Pick<Invitation, 'role' | 'projects' | 'createdBy'> & { readonly validMs: number },
): Promise<NewInvitation> {
  const token = newToken(random);
  const now = clock.now();
  const invitation = {
    id: ids.mint('inv', now),
    hash: hashToken(token),
    createdAt: now,
    expiresAt: instant(now + validMs),
    ...given,
  };
  await store.people.addInvitation(invitation);
  return { invitation, token };
}

export async function requireInvitation(
  { store, clock }: ControlDependencies,
  token: string,
): Promise<Invitation> {
  const invitation = await store.people.findInvitation(hashToken(token), clock.now());
  if (invitation === null || !(await isInviterStillAllowed(store.people, invitation))) {
    throw new ControlRefusal('invitation_gone', '');
  }
  return invitation;
}

/**
 * Who lets nobody in any more has no invitations, but for one that they made at that very moment: so it is asked again
 * when it is used. Those that no person made are always meant.
 */
async function isInviterStillAllowed(people: PeopleStore, { createdBy }: Invitation): Promise<boolean> {
  if (parseName(createdBy) === null) return true;
  const by = await people.findUserByName(createdBy);
  return by !== null && canInvite(by);
}

export interface Acceptance {
  readonly token: string;
  readonly name: string;
  readonly password: string;
}

export async function acceptInvitation(
  dependencies: PeopleDependencies,
  { token, name: nameText, password }: Acceptance,
): Promise<User> {
  const { role, projects, hash } = await requireInvitation(dependencies, token);
  const name = requireName(nameText);
  const strong = requireStrongPassword(password, name);
  const { people } = dependencies.store;
  // It costs less to ask than to hash; what counts is what the store says in the end.
  if ((await people.findUserByName(name)) !== null) throw new ControlRefusal('name_taken', name);
  const passwordHash = await dependencies.passwords.hash(strong);
  const now = dependencies.clock.now();
  const user: User = {
    id: dependencies.ids.mint('usr', now),
    name,
    role,
    projects,
    passwordHash,
    createdAt: now,
    passwordChangedAt: now,
    revision: FIRST_REVISION,
  };
  switch (await people.acceptInvitation(hash, user)) {
    case 'missing':
      throw new ControlRefusal('invitation_gone', '');
    case 'taken':
      throw new ControlRefusal('name_taken', name);
    case 'done':
      return user;
  }
}

export async function removeInvitation(
  { store }: Pick<ControlDependencies, 'store'>,
  idText: string,
  by: Actor,
): Promise<void> {
  requireGlobalAdmin(by);
  const id = parseId('inv', idText);
  const answer = id === null ? 'missing' : await store.people.removeInvitation(id);
  if (answer === 'missing') throw new ControlRefusal('invitation_gone', '');
}
