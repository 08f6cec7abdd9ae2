/** What becomes of people who are there. Each change ends their sessions: what they may is asked anew. */
import { parseId } from '#src/domain/id.ts';
import type { User } from '#src/ports/people-store.ts';
import type { Standing } from './invitations.ts';
import { confirmPassword } from './logins.ts';
import { type Actor, requireReach, requireRole, requireStrong, requireWholeReach } from './person-rules.ts';
import { ControlRefusal } from './refusal.ts';
import type { ControlWorld, PeopleWorld } from './world.ts';

type StoreWorld = Pick<ControlWorld, 'store'>;

const SUBJECT_CHARACTERS_MAX = 64;

/** By id or by name. */
async function requireUser({ store }: StoreWorld, who: string): Promise<User> {
  const id = parseId('usr', who);
  const user = await (id === null
    ? store.people.findUserByName(who.toLowerCase())
    : store.people.findUser(id));
  if (user === null) throw new ControlRefusal('unknown_user', who.slice(0, SUBJECT_CHARACTERS_MAX));
  return user;
}

export async function changeUser(
  world: StoreWorld,
  who: string,
  { role, projects }: Standing,
  by: Actor,
): Promise<User> {
  requireWholeReach(by);
  const user = await requireUser(world, who);
  const changed: User = {
    ...user,
    role: requireRole(role),
    projects: await requireReach(world.store, projects),
    revision: user.revision + 1,
  };
  await replace(world, changed, null);
  return changed;
}

export async function removeUser(world: StoreWorld, who: string, by: Actor): Promise<User> {
  requireWholeReach(by);
  const user = await requireUser(world, who);
  switch (await world.store.people.removeUser(user)) {
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
  /** The one that goes on, by its hash; all others of theirs end. */
  readonly keptSession: string;
}

export async function changePassword(
  world: PeopleWorld,
  user: User,
  { current, password, address, peer, keptSession }: PasswordChange,
): Promise<void> {
  const strong = requireStrong(password, user.name);
  await confirmPassword(world, user, { password: current, address, peer });
  const passwordHash = await world.passwords.hash(strong);
  const passwordChangedAt = world.clock.now();
  await replace(
    world,
    { ...user, passwordHash, passwordChangedAt, revision: user.revision + 1 },
    keptSession,
  );
}

async function replace({ store }: StoreWorld, user: User, keptSession: string | null): Promise<void> {
  switch (await store.people.replaceUser(user, keptSession)) {
    case 'stale':
      throw new ControlRefusal('changed_meanwhile', user.name);
    case 'last_admin':
      throw new ControlRefusal('last_admin', user.name);
    case 'done':
      return;
  }
}
