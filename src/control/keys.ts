import { API_KEY_RANDOM_CHARACTERS, apiKeyPrefix, hashKey, keyHint } from '#src/domain/api-key.ts';
import { parseId } from '#src/domain/id.ts';
import { MODES, type Mode } from '#src/domain/project.ts';
import type { ApiKey, Project } from '#src/ports/control-store.ts';
import type { Random } from '#src/ports/system.ts';
import type { ControlDependencies } from './dependencies.ts';
import { requireProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte. Larger bytes are drawn again, or the first 8 digits would be more likely. */
const UNBIASED_BELOW = 256 - (256 % BASE62.length);

export function randomBase62(random: Random, count: number): string {
  let text = '';
  while (text.length < count) {
    for (const byte of random.bytes(count - text.length)) {
      if (byte < UNBIASED_BELOW) text += BASE62.charAt(byte % BASE62.length);
    }
  }
  return text;
}

export function newApiKey(mode: Mode, random: Random): string {
  return apiKeyPrefix(mode) + randomBase62(random, API_KEY_RANDOM_CHARACTERS);
}

export interface NewKey {
  /** The key itself. It is known only now; the store has its hash. */
  readonly text: string;
  readonly key: ApiKey;
}

/** Stores the hash of a key that was generated or that the operator provided. `taken` means it is already stored. */
export async function addKey(
  dependencies: ControlDependencies,
  project: Project,
  mode: Mode,
  text: string,
): Promise<ApiKey | 'taken'> {
  const now = dependencies.clock.now();
  const key: ApiKey = {
    id: dependencies.ids.mint('key', now),
    partition: project.partitions[mode],
    mode,
    hash: hashKey(text),
    hint: keyHint(text),
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
  };
  return (await dependencies.store.addKey(key)) === 'done' ? key : 'taken';
}

export async function makeKey(
  dependencies: ControlDependencies,
  project: Project,
  mode: Mode,
): Promise<NewKey> {
  const text = newApiKey(mode, dependencies.random);
  const key = await addKey(dependencies, project, mode, text);
  if (key === 'taken')
    throw new Error('A new random key already exists. The random number generator is broken.');
  return { text, key };
}

export async function createKey(
  dependencies: ControlDependencies,
  projectName: string,
  mode: Mode,
): Promise<NewKey> {
  return makeKey(dependencies, await requireProject(dependencies.store, projectName), mode);
}

/** Lists all keys of a project in the order of their creation, including revoked ones. */
export async function listKeys(
  dependencies: ControlDependencies,
  projectName: string,
): Promise<readonly ApiKey[]> {
  const { partitions } = await requireProject(dependencies.store, projectName);
  const keys = await Promise.all(MODES.map((mode) => dependencies.store.listKeys(partitions[mode])));
  return keys.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
}

export async function revokeKey(dependencies: ControlDependencies, idText: string): Promise<void> {
  const id = parseId('key', idText);
  const isRevoked = id !== null && (await dependencies.store.revokeKey(id, dependencies.clock.now()));
  if (!isRevoked) throw new ControlRefusal('unknown_key', idText);
}
