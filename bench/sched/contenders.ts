/** The contenders that are Sched. Each start uses an empty store, which is removed afterwards. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCitusStore } from '../citus/cluster.ts';
import type { Ability, Contender, ContenderId, Resources } from '../contender.ts';
import { ROOT } from './process.ts';
import { type SchedStore, startSched } from './service.ts';

const CAN: readonly Ability[] = ['jobs', 'creates', 'recurring'];

type Nodes = 1 | 2 | 3;

const PROCESSES: Readonly<Record<Nodes, string>> = {
  1: 'one process',
  2: 'two processes',
  3: 'three processes',
};

/** The checkout that is measured, and its name in the report. */
interface Checkout {
  readonly root: string;
  readonly idPrefix: 'sched' | 'baseline';
  readonly suffix: string;
}

const THIS: Checkout = { root: ROOT, idPrefix: 'sched', suffix: '' };

export const schedOnSqlite: Contender = onSqlite(THIS);

export function schedOnPostgres(nodes: Nodes): Contender {
  return onPostgres(THIS, nodes);
}

export const schedOnCitus: Contender = onCitus(THIS);

/** Adds a twin from the checkout in `root` after each contender that is Sched. The two alternate in every round. */
export function withBaseline(contenders: readonly Contender[], root: string): readonly Contender[] {
  const checkout: Checkout = { root, idPrefix: 'baseline', suffix: ', baseline' };
  const twins = new Map<ContenderId, Contender>([
    ['sched-sqlite', onSqlite(checkout)],
    ['sched-postgres', onPostgres(checkout, 1)],
    ['sched-postgres-2', onPostgres(checkout, 2)],
    ['sched-postgres-3', onPostgres(checkout, 3)],
    ['sched-citus', onCitus(checkout)],
  ]);
  return contenders.flatMap((contender) => {
    const twin = twins.get(contender.id);
    return twin === undefined ? [contender] : [contender, twin];
  });
}

function onSqlite({ root, idPrefix, suffix }: Checkout): Contender {
  return {
    id: `${idPrefix}-sqlite`,
    name: `Sched on SQLite${suffix}`,
    version: versionIn(root),
    settings: 'one process, default settings, over HTTP',
    durability: 'on disk (fsync) before the answer',
    can: CAN,
    start: async (resources) => startOn(await directory(), resources, { root, nodes: 1 }),
  };
}

function onPostgres({ root, idPrefix, suffix }: Checkout, nodes: Nodes): Contender {
  return {
    id: nodes === 1 ? `${idPrefix}-postgres` : `${idPrefix}-postgres-${nodes}`,
    name: `Sched on PostgreSQL${nodes === 1 ? '' : `, ${nodes} nodes`}${suffix}`,
    version: versionIn(root),
    settings: `${PROCESSES[nodes]}, default settings, over HTTP`,
    durability: 'on disk (fsync) before the answer',
    can: CAN,
    start: async (resources) => startOn(await database(resources), resources, { root, nodes }),
  };
}

function onCitus({ root, idPrefix, suffix }: Checkout): Contender {
  return {
    id: `${idPrefix}-citus`,
    name: `Sched on Citus${suffix}`,
    version: versionIn(root),
    settings: 'one process, default settings, over HTTP; one project, which lives on one worker',
    durability: 'as the cluster is set up',
    can: CAN,
    start: async (resources) =>
      startOn(await createCitusStore(resources.citusUrl, root), resources, { root, nodes: 1 }),
  };
}

function versionIn(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

interface TemporaryStore extends AsyncDisposable {
  readonly store: SchedStore;
}

async function startOn(
  temporary: TemporaryStore,
  { profileDir }: Resources,
  { root, nodes }: { readonly root: string; readonly nodes: number },
) {
  await using made = new AsyncDisposableStack();
  made.use(temporary);
  const running = made.use(await startSched({ store: temporary.store, nodes, root, profileDir }));
  const all = made.move();
  return { ...running, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function directory(): Promise<TemporaryStore> {
  const directory = mkdtempSync(join(tmpdir(), 'sched-bench-'));
  return {
    store: { kind: 'sqlite', directory },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function database({ postgres, postgresCpuMs: cpuMs }: Resources): Promise<TemporaryStore> {
  const database = await postgres.createDatabase();
  return {
    store: { kind: 'postgres', url: database.url, cpuMs },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
