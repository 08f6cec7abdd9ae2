import { hashKey, keyHint } from '#src/domain/api-key.ts';
import { parseId } from '#src/domain/id.ts';
import { MODES, type Mode } from '#src/domain/partition.ts';
import type { ApiKey, Project } from '#src/ports/control-store.ts';
import { newApiKey } from './key-text.ts';
import { requireProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';
import type { ControlWorld } from './world.ts';

export interface NewKey {
  /** The key itself: this is the only time it is known. */
  readonly text: string;
  readonly key: ApiKey;
}

/** Keeps the hash of a key that was made here or brought by the operator. `taken`: it is stored already. */
export async function addKey(
  world: ControlWorld,
  project: Project,
  mode: Mode,
  text: string,
): Promise<ApiKey | 'taken'> {
  const now = world.clock.now();
  const key: ApiKey = {
    id: world.ids.mint('key', now),
    partition: project.partitions[mode],
    mode,
    hash: hashKey(text),
    hint: keyHint(text),
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
  };
  return (await world.store.addKey(key)) === 'done' ? key : 'taken';
}

export async function makeKey(world: ControlWorld, project: Project, mode: Mode): Promise<NewKey> {
  const text = newApiKey(mode, world.random);
  const key = await addKey(world, project, mode, text);
  if (key === 'taken') throw new Error('A fresh random key was there already: the randomness is broken.');
  return { text, key };
}

export async function createKey(world: ControlWorld, projectName: string, mode: Mode): Promise<NewKey> {
  return makeKey(world, await requireProject(world.store, projectName), mode);
}

/** All keys of a project, revoked ones too, in the order they were made. */
export async function listKeys(world: ControlWorld, projectName: string): Promise<readonly ApiKey[]> {
  const { partitions } = await requireProject(world.store, projectName);
  const keys = await Promise.all(MODES.map((mode) => world.store.listKeys(partitions[mode])));
  return keys.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
}

export async function revokeKey(world: ControlWorld, idText: string): Promise<void> {
  const id = parseId('key', idText);
  const revoked = id !== null && (await world.store.revokeKey(id, world.clock.now()));
  if (!revoked) throw new ControlRefusal('unknown_key', idText);
}
