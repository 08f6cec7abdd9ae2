/** Sched, each time on an empty store that is removed afterwards. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ability, Contender, Ground } from '../contender.ts';
import { type SchedStore, startSched } from './service.ts';

const CAN: readonly Ability[] = ['orders', 'creates', 'recurring'];
const MANIFEST = join(import.meta.dirname, '../../package.json');
const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string };

export const schedOnSqlite: Contender = {
  id: 'sched-sqlite',
  name: 'Sched on SQLite',
  version,
  settings: 'one process, default settings, over HTTP',
  durability: 'on disk (fsync) before the answer',
  can: CAN,
  start: async (ground) => startOn(await directory(), ground, 1),
};

export function schedOnPostgres(nodes: 1 | 2): Contender {
  return {
    id: nodes === 1 ? 'sched-postgres' : 'sched-postgres-2',
    name: nodes === 1 ? 'Sched on PostgreSQL' : 'Sched on PostgreSQL, 2 nodes',
    version,
    settings: `${nodes === 1 ? 'one process' : 'two processes'}, default settings, over HTTP`,
    durability: 'on disk (fsync) before the answer',
    can: CAN,
    start: async (ground) => startOn(await database(ground), ground, nodes),
  };
}

interface Place extends AsyncDisposable {
  readonly store: SchedStore;
}

async function startOn(place: Place, { profileDir }: Ground, nodes: number) {
  await using made = new AsyncDisposableStack();
  made.use(place);
  const running = made.use(await startSched({ store: place.store, nodes, profileDir }));
  const all = made.move();
  return { ...running, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function directory(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'sched-bench-'));
  return {
    store: { kind: 'sqlite', directory },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function database({ postgres }: Ground): Promise<Place> {
  const database = await postgres.createDatabase();
  return {
    store: { kind: 'postgres', url: database.url },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
