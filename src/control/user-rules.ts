/** Rules for the name, password, role and project scope of a user. */
import { ROLES, type Role } from '#src/domain/role.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { ProjectScope, User } from '#src/ports/people-store.ts';
import { requireProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';

const NAME = /^[a-z0-9._@+-]{1,64}$/;
const PASSWORD_CHARACTERS_MIN = 12;
const PASSWORD_CHARACTERS_MAX = 256;
/** The limit before normalisation, which may join several characters into one. */
const PASSWORD_UNITS_MAX = 2_048;
const SCOPE_PROJECTS_MAX = 100;

/** Common passwords of at least the minimum length. They are compared by letters and digits alone. */
const COMMON: ReadonlySet<string> = new Set([
  '123456789012',
  '1234567890123',
  '12345678901234',
  '123456789123',
  '123456654321',
  '0123456789ab',
  '1q2w3e4r5t6y',
  '1qaz2wsx3edc',
  'qwertyuiop12',
  'qwertyuiop123',
  'qwertyuiopasdf',
  'qwerty123456',
  'abcdefghijkl',
  'abcdefg12345',
  'password1234',
  'password12345',
  'password123456',
  'passwordpassword',
  'administrator',
  'administrator1',
  'adminadminadmin',
  'changemeplease',
  'changeme1234',
  'iloveyou1234',
  'welcome12345',
  'letmein12345',
  'correcthorsebatterystaple',
]);

/** A user who acts on other users, or the command line. */
export type Actor = Pick<User, 'name' | 'role' | 'projects'>;

/** A person who may run commands on the machine may do everything. No user can have this name. */
export const COMMAND_LINE: Actor = { name: 'command line', role: 'admin', projects: null };

/** Returns the name in lower case, or null if it is not a valid name. */
export function parseName(text: string): string | null {
  const name = text.toLowerCase();
  return NAME.test(name) ? name : null;
}

export function requireName(text: string): string {
  const name = parseName(text);
  if (name === null) throw new ControlRefusal('invalid_name');
  return name;
}

/** Makes the same password equal on every keyboard. Returns null if it is too long. */
export function normalisePassword(password: string): string | null {
  return password.length > PASSWORD_UNITS_MAX ? null : password.normalize('NFKC');
}

/** Returns the password in the form that is hashed. */
export function requireStrongPassword(password: string, name: string): string {
  const text = normalisePassword(password);
  const characters = text === null ? Number.POSITIVE_INFINITY : Array.from(text).length;
  if (text === null || characters > PASSWORD_CHARACTERS_MAX) {
    throw weak(`it has more than ${PASSWORD_CHARACTERS_MAX} characters`);
  }
  if (characters < PASSWORD_CHARACTERS_MIN)
    throw weak(`it has fewer than ${PASSWORD_CHARACTERS_MIN} characters`);
  const lower = text.toLowerCase();
  if (lower === name) throw weak('it is the same as the name');
  if (new Set(lower).size === 1) throw weak('it repeats a single character');
  if (COMMON.has(lower.replaceAll(/[^a-z0-9]/g, ''))) throw weak('it is one of the most common passwords');
  return text;
}

function weak(why: string): ControlRefusal {
  return new ControlRefusal('weak_password', why);
}

export function requireRole(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role === undefined) throw new ControlRefusal('invalid_role', text.slice(0, 64));
  return role;
}

/** Takes names of projects. Null stands for every project. */
export async function requireProjectScope(
  store: ControlStore,
  names: readonly string[] | null,
): Promise<ProjectScope> {
  if (names === null) return null;
  if (names.length > SCOPE_PROJECTS_MAX)
    throw new ControlRefusal('too_many_projects', String(SCOPE_PROJECTS_MAX));
  const projects = await Promise.all([...new Set(names)].map((name) => requireProject(store, name)));
  return projects.map(({ id }) => id);
}

/** An admin of some projects must not invite: they could invite an admin of every project, and become that one. */
export function canInvite({ role, projects }: Pick<Actor, 'role' | 'projects'>): boolean {
  return role === 'admin' && projects === null;
}

export function requireGlobalAdmin(by: Actor): void {
  if (!canInvite(by))
    throw new ControlRefusal('not_allowed', 'Only an admin of every project may do this. Ask one.');
}
