/** Changes to users. Each change ends the user's sessions, so that their rights are read again. */
import { parseId } from '#src/domain/id.ts';
import type { User } from '#src/ports/people-store.ts';
import type { ControlDependencies, PeopleDependencies } from './dependencies.ts';
import type { AccessGrant } from './invitations.ts';
import { confirmPassword } from './logins.ts';
import { ControlRefusal } from './refusal.ts';
import {
  type Actor,
  requireGlobalAdmin,
  requireProjectScope,
  requireRole,
  requireStrongPassword,
} from './user-rules.ts';

type StoreDependencies = Pick<ControlDependencies, 'store'>;

const SUBJECT_CHARACTERS_MAX = 64;

/** Finds a user by id or by name. */
async function requireUser({ store }: StoreDependencies, who: string): Promise<User> {
  const id = parseId('usr', who);
  const user = await (id === null
    ? store.people.findUserByName(who.toLowerCase())
    : store.people.findUser(id));
  if (user === null) throw new ControlRefusal('unknown_user', who.slice(0, SUBJECT_CHARACTERS_MAX));
  return user;
}

export async function changeUser(
  dependencies: StoreDependencies,
  who: string,
  { role, projects }: AccessGrant,
  by: Actor,
): Promise<User> {
  requireGlobalAdmin(by);
  const user = await requireUser(dependencies, who);
  const changed: User = {
    ...user,
    role: requireRole(role),
    projects: await requireProjectScope(dependencies.store, projects),
    revision: user.revision + 1,
  };
  await replace(dependencies, changed, null);
  return changed;
}

export async function removeUser(dependencies: StoreDependencies, who: string, by: Actor): Promise<User> {
  requireGlobalAdmin(by);
  const user = await requireUser(dependencies, who);
  switch (await dependencies.store.people.removeUser(user)) {
    case 'missing':
      throw new ControlRefusal('unknown_user', user.name);
    case 'last_admin':
      throw new ControlRefusal('last_admin', user.name);
    case 'done':
      return user;
  }
}

export interface PasswordChange {
  readonly current: string;
  readonly password: string;
  readonly address: string;
  readonly peer: string;
  /** The hash of the session that continues. The user's other sessions end. */
  readonly keptSession: string;
}

export async function changePassword(
  dependencies: PeopleDependencies,
  user: User,
  { current, password, address, peer, keptSession }: PasswordChange,
): Promise<void> {
  const strong = requireStrongPassword(password, user.name);
  await confirmPassword(dependencies, user, { password: current, address, peer });
  const passwordHash = await dependencies.passwords.hash(strong);
  const passwordChangedAt = dependencies.clock.now();
  await replace(
    dependencies,
    { ...user, passwordHash, passwordChangedAt, revision: user.revision + 1 },
    keptSession,
  );
}

async function replace({ store }: StoreDependencies, user: User, keptSession: string | null): Promise<void> {
  switch (await store.people.replaceUser(user, keptSession)) {
    case 'stale':
      throw new ControlRefusal('changed_meanwhile', user.name);
    case 'last_admin':
      throw new ControlRefusal('last_admin', user.name);
    case 'done':
      return;
  }
}
