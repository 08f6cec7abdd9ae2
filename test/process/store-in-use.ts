/**
 * Where the services of the tests keep their data: `SCHED_TEST_STORE` is `sqlite` (the default) or `postgres`,
 * and on PostgreSQL `SCHED_TEST_NODES` of them share it.
 *
 * Tests know a store by its data directory. On PostgreSQL each directory stands for a database of its own in
 * the server of the run, made when it is first asked for.
 */
import type { TestDatabase } from '#test/postgres/databases.ts';

/** Any: with it, what one process sealed another one opens. */
const MASTER_KEY = Buffer.alloc(32, 'a master key for tests').toString('base64');

export const IS_POSTGRES = process.env.SCHED_TEST_STORE === 'postgres';
/** What nodes take for the time of the database is measured: it may be off by half a round trip. */
export const CLOCK_OFF_MS_MAX = IS_POSTGRES ? 10 : 0;
export const NODES = IS_POSTGRES ? Number(process.env.SCHED_TEST_NODES ?? 1) : 1;

const databases = new Map<string, Promise<TestDatabase>>();

/** The settings that lead a process to the store of this directory. */
export async function storeSettings(dataDir: string): Promise<Readonly<Record<string, string>>> {
  if (!IS_POSTGRES) return { SCHED_DATA_DIR: dataDir };
  const SCHED_DATABASE_URL = await databaseUrlOf(dataDir);
  return { SCHED_DATA_DIR: dataDir, SCHED_DATABASE_URL, SCHED_MASTER_KEY: MASTER_KEY };
}

/** On PostgreSQL only. */
export async function databaseUrlOf(dataDir: string): Promise<string> {
  const database = databases.get(dataDir) ?? newDatabase();
  databases.set(dataDir, database);
  return (await database).url;
}

/** Those of this test file, with what is left in them. */
export async function dropDatabases(): Promise<void> {
  const all = [...databases.values()];
  databases.clear();
  for (const database of await Promise.all(all)) await database.drop();
}

/** Loaded only here: scripts that run without vitest need none of it. */
async function newDatabase(): Promise<TestDatabase> {
  const [{ createDatabase }, { sharedPostgres }] = await Promise.all([
    import('#test/postgres/databases.ts'),
    import('#test/postgres/shared.ts'),
  ]);
  return createDatabase(await sharedPostgres());
}
