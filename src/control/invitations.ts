/**
 * Invitations. An admin invites a person with a link, and the person chooses a name and a password. So nobody ever
 * types the password of another person, or any password on a command line.
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
/** The first admin's link is printed in the output of the first start, which others may read later. */
const FIRST_INVITATION_MS = DAY_MS;
const FIRST_START = 'first start';
const FIRST_REVISION = 1;

/** The role of a user, and the names of the projects they see. Null stands for every project. */
export interface AccessGrant {
  readonly role: string;
  readonly projects: readonly string[] | null;
}

export interface NewInvitation {
  readonly invitation: Invitation;
  /** The token is known only now. The store has its hash. */
  readonly token: string;
}

/** The token is in the fragment, which browsers send to no server and which no log keeps. */
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

/** Invites the first admin. Returns null if there is a user, or an open invitation for an admin of every project. */
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
    throw new ControlRefusal('invitation_gone');
  }
  return invitation;
}

/**
 * A user who loses the right to invite also loses their invitations. One that they made at that very moment may remain,
 * so the right is checked again when an invitation is used. Invitations that no user made are always valid.
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
  // This check saves the cost of a hash. The store decides whether the name is free.
  if ((await people.findUserByName(name)) !== null) throw new ControlRefusal('name_taken', name);
  const passwordHash = await dependencies.passwords.hash(strong);
  const user = newUser(dependencies, { name, role, projects, passwordHash });
  switch (await people.acceptInvitation(hash, user)) {
    case 'missing':
      throw new ControlRefusal('invitation_gone');
    case 'taken':
      throw new ControlRefusal('name_taken', name);
    case 'done':
      return user;
  }
}

export function newUser(
  { clock, ids }: Pick<ControlDependencies, 'clock' | 'ids'>,
  given: Pick<User, 'name' | 'role' | 'projects' | 'passwordHash'>,
): User {
  const now = clock.now();
  return {
    id: ids.mint('usr', now),
    ...given,
    createdAt: now,
    passwordChangedAt: now,
    revision: FIRST_REVISION,
  };
}

export async function removeInvitation(
  { store }: Pick<ControlDependencies, 'store'>,
  idText: string,
  by: Actor,
): Promise<void> {
  requireGlobalAdmin(by);
  const id = parseId('inv', idText);
  const answer = id === null ? 'missing' : await store.people.removeInvitation(id);
  if (answer === 'missing') throw new ControlRefusal('invitation_gone');
}
