/**
 * The store of the services in tests. `SCHED_TEST_STORE` is `sqlite` (the default), `postgres` or `citus`. With the
 * last two, `SCHED_TEST_NODES` nodes share it. Citus needs `SCHED_TEST_CITUS_URL` (`test/postgres/citus.ts`).
 *
 * Tests identify a store by its data directory. With PostgreSQL each directory stands for its own database on the
 * server of the run, which is created at its first use.
 */
import type { TestDatabase } from '#test/postgres/databases.ts';

/** Any key works. All processes share it, so that each can open what another sealed. */
const MASTER_KEY = Buffer.alloc(32, 'a master key for tests').toString('base64');

export const IS_CITUS = process.env.SCHED_TEST_STORE === 'citus';
export const IS_POSTGRES = IS_CITUS || process.env.SCHED_TEST_STORE === 'postgres';
/** Nodes measure the time of the database, with an error of up to half a round trip, which may wait for a processor. */
export const CLOCK_OFF_MS_MAX = IS_POSTGRES ? 50 : 0;
export const NODES = IS_POSTGRES ? Number(process.env.SCHED_TEST_NODES ?? 1) : 1;
export const NODES_ARE_PROCESSES = process.env.SCHED_TEST_PROCESSES === 'true';

const databases = new Map<string, Promise<TestDatabase>>();

/** The settings of a process that uses the store of this directory. */
export async function storeSettings(dataDir: string): Promise<Readonly<Record<string, string>>> {
  if (!IS_POSTGRES) return { SCHED_DATA_DIR: dataDir };
  const SCHED_DATABASE_URL = await databaseUrlOf(dataDir);
  return { SCHED_DATA_DIR: dataDir, SCHED_DATABASE_URL, SCHED_MASTER_KEY: MASTER_KEY };
}

/** This works only with PostgreSQL. */
export async function databaseUrlOf(dataDir: string): Promise<string> {
  const database = databases.get(dataDir) ?? newDatabase();
  databases.set(dataDir, database);
  return (await database).url;
}

/** Drops the databases of this test file. */
export async function dropDatabases(): Promise<void> {
  const all = [...databases.values()];
  databases.clear();
  for (const database of await Promise.all(all)) await database.drop();
}

/** This is loaded here, because scripts without vitest do not need it. */
async function newDatabase(): Promise<TestDatabase> {
  if (IS_CITUS) return (await import('#test/postgres/distributed-database.ts')).createDistributedDatabase();
  const [{ createDatabase }, { sharedPostgres }] = await Promise.all([
    import('#test/postgres/databases.ts'),
    import('#test/postgres/shared.ts'),
  ]);
  return createDatabase(await sharedPostgres());
}
