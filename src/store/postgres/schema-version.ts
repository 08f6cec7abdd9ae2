/**
 * Checks the schema version of the database, and migrates it.
 *
 * Nodes may start together, beside others that run. A migrating node holds an advisory lock and does everything in
 * one transaction; the others wait and find it done. A statement that needs an exclusive table lock waits only a
 * moment, because all later statements would wait behind it. Then the migration is rolled back and tried again a
 * little later.
 *
 * All state belongs to one transaction or one statement, because a pooler may use another connection for each.
 */
import type { Client } from 'pg';
import { type Instant, MS_PER_DAY } from '#src/domain/instant.ts';
import { isOlder } from '#src/domain/program-version.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type Clock, pause, type Timers } from '#src/ports/system.ts';
import type { SqlReader } from '#src/store/sql/dialect.ts';
import {
  MADE_BY_EARLIER_VERSION,
  newerVersion,
  newestVersion,
  requireVersion,
  sqlOf,
} from '#src/store/sql/migration.ts';
import { distribute, isToBeDistributed, placementOf } from './citus.ts';
import type { Queryable } from './connect.ts';
import { isTemporary, meaningOf, unavailableInstead } from './errors.ts';
import { buildIndexes, createIndexes, indexesOf } from './large-indexes.ts';
import { MIGRATIONS, type PostgresMigration } from './migrations.ts';
import type { Placement } from './placement.ts';

/** The schema that this version of the program works with. */
export const SCHEMA_VERSION = newestVersion(MIGRATIONS);

/** 'SCHD': the number of our advisory lock. */
const MIGRATION_LOCK = 0x53434844;
const LOCK_TIMEOUT_MS = 1_000;
/** Each statement of a schema ends with its line. */
const STATEMENT_END = /;\s*\n/;
const LOCK_ATTEMPTS_MAX = 30;
const LOCK_PAUSE_MS = 1_000;

/** Rows of processes that have ended are removed after this time. A running process adds its row again. */
const WRITER_RETENTION_MS = 7 * MS_PER_DAY;
/** The clock of the database decides. A node whose clock is ahead must not remove rows of others. */
const OLD_BEFORE = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - $1::bigint AS before`;
const TABLES_OF_WRITERS = ['writers', 'partition_writers'];

const EARLIER = `${MADE_BY_EARLIER_VERSION} Give Sched an empty database or schema, or run the earlier version.`;
const FOREIGN = 'The database has tables of another program. Give Sched a database or a schema of its own.';

const SERVER_VERSION_MIN = 14;
/** The server reports version 15.4 as 150004. */
const SERVER_VERSION_UNIT = 10_000;

interface SchemaOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly migrate: boolean;
}

/** Checks or migrates the schema. Returns where its rows are stored. */
export async function prepareSchema(
  { clock, timers, migrate: mayMigrate }: SchemaOptions,
  connect: () => Promise<Client>,
): Promise<Placement> {
  try {
    const client = await connect();
    try {
      if (mayMigrate) {
        await migrate(client, clock.now(), (ms) => pause(timers, ms));
        // A worker of Citus may be away, and a later start removes them.
        await removeOldWriters(client).catch((error: unknown) => {
          if (!isTemporary(error)) throw error;
        });
      } else await requireCurrent(client);
      return await placementOf(client);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw unavailableInstead(error);
  }
}

/**
 * Migrates the schema. A database that this program cannot use is refused, and one that is up to date is not
 * changed.
 */
export async function migrate(
  client: Queryable,
  now: Instant,
  pause: (ms: number) => Promise<void>,
  migrations = MIGRATIONS,
): Promise<void> {
  await refuseUnfit(client);
  const needed = newestVersion(migrations);
  for (let attempts = 1; (await versionOf(client, needed)) < needed; attempts++) {
    try {
      await applyMissing(client, now, migrations);
      break;
    } catch (error) {
      const meaning = meaningOf(error);
      if (meaning === 'foreign') throw new StoreUnavailable(FOREIGN, { cause: error });
      if (meaning !== 'locked') throw error;
      if (attempts === LOCK_ATTEMPTS_MAX) {
        throw new StoreUnavailable(
          'The schema could not be migrated, because its tables were in use all the time. Try again.',
          { cause: error },
        );
      }
      await pause(LOCK_PAUSE_MS);
    }
  }
  await buildIndexes(client, indexesOf(migrations), pause);
}

/** Citus cannot run some changes of a table if they are sent together with other statements. */
function statementsOf(migration: PostgresMigration): readonly string[] {
  return sqlOf(migration)
    .split(STATEMENT_END)
    .filter((statement) => statement.trim() !== '');
}

async function applyMissing(
  client: Queryable,
  now: Instant,
  migrations: readonly PostgresMigration[],
): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
  try {
    // Another node may migrate for a long time. This one has to wait for it.
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const current = await versionOf(client, newestVersion(migrations));
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_versions (
         version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL, works_with integer NOT NULL
       )`,
    );
    const isSpread = await isToBeDistributed(client);
    for (const migration of migrations.filter(({ version }) => version > current)) {
      for (const statement of statementsOf(migration)) await client.query(statement);
      await client.query(
        `INSERT INTO schema_versions (version, name, applied_at, works_with)
         SELECT $1, $2, $3, greatest($4, max(works_with)) FROM schema_versions`,
        [migration.version, migration.name, now, migration.worksWith],
      );
    }
    // A new database has no rows yet.
    if (current === 0) await createIndexes(client, indexesOf(migrations));
    if (isSpread) await distribute(client);
    await client.query('COMMIT');
  } catch (error) {
    // A lost connection is rolled back by the server.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

export async function requireCurrent(client: Queryable): Promise<void> {
  await refuseUnfit(client);
  requireVersion(SCHEMA_VERSION, await versionOf(client, SCHEMA_VERSION));
}

interface Server {
  readonly version: number;
  readonly encoding: string;
  readonly schema: string | null;
}

async function refuseUnfit(client: Queryable): Promise<void> {
  const { version, encoding, schema } = await only<Server>(
    client,
    `SELECT current_setting('server_version_num')::integer AS version,
       current_setting('server_encoding') AS encoding, current_schema()::text AS schema`,
  );
  if (version < SERVER_VERSION_MIN * SERVER_VERSION_UNIT) {
    const major = Math.floor(version / SERVER_VERSION_UNIT);
    throw new StoreUnavailable(
      `The server is PostgreSQL ${major}, Sched needs ${SERVER_VERSION_MIN} or newer.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new StoreUnavailable(`The database has the encoding ${encoding}, Sched needs UTF8.`);
  }
  if (schema === null) {
    throw new StoreUnavailable("No schema on the connection's search path exists: create it first.");
  }
}

async function removeOldWriters(client: Queryable): Promise<void> {
  const { rows } = await client.query(OLD_BEFORE, [WRITER_RETENTION_MS]);
  const [{ before }] = rows as readonly [{ readonly before: number }];
  for (const table of TABLES_OF_WRITERS) {
    await client.query(`DELETE FROM ${table} WHERE at < $1`, [before]);
  }
}

interface Tables {
  readonly exists: boolean;
  readonly is_ours: boolean;
  /** Earlier versions of Sched had another name for the table. Another schema of the search path may have it. */
  readonly is_earlier: boolean;
}

/** The schema version; 0 if there is none yet. Refuses a schema that a program with version `known` cannot use. */
async function versionOf(client: Queryable, known: number): Promise<number> {
  const found = await only<Tables>(
    client,
    `SELECT to_regclass('schema_versions') IS NOT NULL AS exists, ${hasVersions("'schema_versions'")} AS is_ours,
       ${hasVersions("format('%I.migrations', current_schema())")} AS is_earlier`,
  );
  if (found.exists && !found.is_ours) throw new StoreUnavailable(FOREIGN);
  if (!found.exists && found.is_earlier) throw new StoreUnavailable(EARLIER);
  if (!found.exists) return 0;
  const { rows } = await client.query(
    'SELECT version, works_with FROM schema_versions ORDER BY version DESC LIMIT 1',
  );
  const [newest] = rows as readonly { readonly version: number; readonly works_with: number }[];
  if (newest === undefined) return 0;
  if (newest.works_with > known) throw newerVersion(known, newest.version);
  return newest.version;
}

function hasVersions(table: string): string {
  return `EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(${table}) AND attname = 'works_with'
  )`;
}

/** Programs whose schema is older than that of the version `since` refuse to start from now on. */
export async function refuseOlderPrograms(database: SqlReader, since: string): Promise<void> {
  const needed = newestVersion(MIGRATIONS.filter((migration) => !isOlder(since, migration.since)));
  await database.query(
    'UPDATE schema_versions SET works_with = $1 WHERE version >= $2 AND works_with < $3',
    needed,
    needed,
    needed,
  );
}

async function only<Row>(client: Queryable, sql: string): Promise<Row> {
  const [row] = (await client.query(sql)).rows;
  return row as Row;
}
