/** Checks passwords, at sign-in and when a user confirms theirs. Every guess is counted first (`login-throttle.ts`). */
import type { User } from '#src/ports/people-store.ts';
import type { PeopleDependencies } from './dependencies.ts';
import type { Verdict } from './passwords.ts';
import { ControlRefusal } from './refusal.ts';
import { normalisePassword, parseName } from './user-rules.ts';

export interface Login {
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** The address at the other end of the connection, which may be a proxy's. */
  readonly peer: string;
}

/** Guesses with invalid names are all counted under this name, which no user has. */
const NO_NAME = '';

/** Returns the user. An unknown name gets the same answer as a wrong password, and takes as long. */
export async function login(dependencies: PeopleDependencies, given: Login): Promise<User> {
  const name = parseName(given.name);
  const user = name === null ? null : await dependencies.store.people.findUserByName(name);
  const verdict = await guess(dependencies, name ?? NO_NAME, given, user);
  if (user === null || verdict === 'wrong') throw new ControlRefusal('wrong_login');
  return verdict === 'right' ? user : rehash(dependencies, user, given.password);
}

/** Checks that a user who is signed in knows their password. */
export async function confirmPassword(
  dependencies: PeopleDependencies,
  user: User,
  given: Omit<Login, 'name'>,
): Promise<void> {
  if ((await guess(dependencies, user.name, given, user)) === 'wrong')
    throw new ControlRefusal('wrong_password');
}

async function guess(
  dependencies: PeopleDependencies,
  name: string,
  { password, address, peer }: Omit<Login, 'name'>,
  user: User | null,
): Promise<Verdict> {
  const { passwords, throttle, failedLogins } = dependencies;
  // A guess that cannot be checked must not be counted, since anybody can send any number of them.
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
    await failedLogins.record({ name, address, peer, user, throttlesStarted: counted.throttlesStarted });
  else await throttle.recordSuccess(counted);
  return verdict;
}

/** Hashes the password again, because the cost was raised since it was set. */
async function rehash({ store, passwords }: PeopleDependencies, user: User, password: string): Promise<User> {
  const passwordHash = await passwords.hash(normalisePassword(password) ?? password);
  await store.people.renewPasswordHash(user.id, user.passwordHash, passwordHash);
  return { ...user, passwordHash };
}
