/** To sign in, and to show one's password again: whatever is guessed is counted first (`throttle.ts`). */
import type { User } from '#src/ports/people-store.ts';
import type { PeopleDependencies } from './dependencies.ts';
import type { Verdict } from './passwords.ts';
import { ControlRefusal } from './refusal.ts';
import { normalisePassword, parseName } from './user-rules.ts';

export interface Login {
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** The address that is connected, which may be a proxy's. */
  readonly peer: string;
}

/** A name that nobody can have is counted under one that nobody has. */
const NO_NAME = '';

/** Who it is. That a name is unknown cannot be told from a wrong password, nor by how long it takes. */
export async function login(dependencies: PeopleDependencies, given: Login): Promise<User> {
  const name = parseName(given.name);
  const user = name === null ? null : await dependencies.store.people.findUserByName(name);
  const verdict = await guess(dependencies, name ?? NO_NAME, given, user);
  if (user === null || verdict === 'wrong') throw new ControlRefusal('wrong_login', '');
  return verdict === 'right' ? user : renewed(dependencies, user, given.password);
}

/** That somebody who is signed in knows their password. */
export async function confirmPassword(
  dependencies: PeopleDependencies,
  user: User,
  given: Omit<Login, 'name'>,
): Promise<void> {
  if ((await guess(dependencies, user.name, given, user)) === 'wrong')
    throw new ControlRefusal('wrong_password', '');
}

async function guess(
  dependencies: PeopleDependencies,
  name: string,
  { password, address, peer }: Omit<Login, 'name'>,
  user: User | null,
): Promise<Verdict> {
  const { passwords, throttle, failedLogins: loginTrace } = dependencies;
  // What cannot be checked is not written down either: anybody can ask for it, as often as they like.
  passwords.requireCapacity();
  const counted = await throttle.count(name, address);
  const text = normalisePassword(password);
  let verdict: Verdict = 'wrong';
  try {
    if (text !== null) verdict = await passwords.check(text, user?.passwordHash ?? null);
  } catch (error) {
    await throttle.uncount(counted);
    throw error;
  }
  if (verdict === 'wrong')
    await loginTrace.record({ name, address, peer, user, throttlesStarted: counted.throttlesStarted });
  else await throttle.recordSuccess(counted);
  return verdict;
}

/** The cost was raised since the password was set. */
async function renewed(
  { store, passwords }: PeopleDependencies,
  user: User,
  password: string,
): Promise<User> {
  const passwordHash = await passwords.hash(normalisePassword(password) ?? password);
  await store.people.renewPasswordHash(user.id, user.passwordHash, passwordHash);
  return { ...user, passwordHash };
}
