/** The embedded store: one SQLite file. The engine's thread reads it, and a thread of its own writes it. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Instant } from '#src/domain/instant.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { renewLease } from '#src/store/sql/cluster.ts';
import type { Dialect, PlannedReads } from '#src/store/sql/dialect.ts';
import { readCluster } from '#src/store/sql/reads.ts';
import { makeSqlStore, type SqlStore } from '#src/store/sql/sql-store.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import { type Db, migrate, openForReading, openForWriting, requireCurrent } from './connection.ts';
import { FiringReads } from './firing-reads.ts';
import { InsightReader } from './insight-reader.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { SqliteReader } from './prepared-queries.ts';
import { indexedBy } from './statement-builders.ts';
import { SYNTAX } from './syntax.ts';
import { verbs } from './verbs.ts';
import { type OpenWriter, type WriteQueue, Writer } from './writer.ts';

export interface SqliteOptions {
  readonly directory: string;
  readonly now: Instant;
  /** Whether to lock the directory. A service does; the command line works beside it. */
  readonly exclusive: boolean;
  /** Whether to create the database or migrate it. If false, it must be up to date. The default is true. */
  readonly migrate?: boolean;
  /** A limit on the size of the file, in pages. */
  readonly maxPages?: number;
  /** Whether a write must survive a crash of the machine. False in a simulation. The default is true. */
  readonly durable?: boolean;
  /** They pause a long search and end it. Without timers only the number of rows ends it. */
  readonly timers?: Timers & Stopwatch;
  /** How many deliveries of one status a batch of a sweep changes. A simulation uses a small number. */
  readonly sweepBatchMax?: number;
  /** Opens the writer. The default is a thread of its own. */
  readonly openWriter?: OpenWriter;
}

export const DATABASE_FILE = 'sched.db';
const STOPPED_TIMERS: Timers & Stopwatch = {
  elapsed: () => 0,
  after: (_, act) => {
    queueMicrotask(act);
    return () => {};
  },
};

export async function openSqlite(options: SqliteOptions): Promise<SqlStore> {
  if (options.migrate !== false) ensureDirectory(options.directory);
  const path = join(options.directory, DATABASE_FILE);
  const lock = options.exclusive ? lockDirectory(options.directory) : null;
  try {
    prepareFile(path, options);
    const { maxPages = null, durable = true, openWriter = Writer.open } = options;
    const writer = await openWriter({ path, maxPages, durable });
    return makeSqlStore(sqliteDialect(path, writer, lock, options));
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function sqliteDialect(
  path: string,
  writer: WriteQueue,
  lock: DirectoryLock | null,
  { timers = STOPPED_TIMERS, sweepBatchMax }: SqliteOptions,
): Dialect {
  const db = openForReading(path);
  const reader = new SqliteReader(db);
  const insight = new InsightReader(path);
  return {
    verbs,
    readers: { api: reader, engine: reader, insight, search: insight },
    writers: { api: writer, firing: writer, membership: writer, maintenance: writer },
    reads: plannedReads(db, reader),
    syntax: SYNTAX,
    dueRowsMax: Number.MAX_SAFE_INTEGER - 1,
    oldestStats: oldestStats(indexedBy),
    timers,
    ...(sweepBatchMax === undefined ? {} : { sweepBatchMax }),
    readClock: async () => (await reader.query<{ readonly now: number }>(CLOCK))[0]?.now ?? 0,
    renewLease: async (lease) => {
      await writer.run([renewLease(lease)]);
      return readCluster(reader);
    },
    // An older program refuses every file with a newer schema.
    refuseOlderPrograms: async () => {},
    // After a failed write the disk must also take a write of ordinary size: see `statements.ts`.
    check: async (now) => {
      if (writer.isFailing) {
        await writer.run([['writeProbe', null]]);
        await writer.run([['removeProbe', null]]);
      }
      await writer.run([['writeHeartbeat', null, now]]);
    },
    close: async () => {
      await insight.close();
      await writer.close();
      db.close();
      lock?.release();
    },
  };
}

const CLOCK = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now";

function plannedReads(db: Db, reader: SqliteReader): PlannedReads {
  const firing = new FiringReads(db);
  return {
    findPayload: (...key) => reader.read(() => firing.payload(...key)),
    listDue: (...page) => reader.read(() => firing.due(...page)),
    worksByCustomer: false,
    listWaitingCustomers: (after, _until, limit) => reader.read(() => firing.customers(after, limit)),
    listDueOfCustomers: (...page) => reader.read(() => firing.dueOfCustomers(...page)),
    loadDeliveries: (deliveries) => reader.read(() => firing.load(deliveries)),
    loadPayloads: (deliveries) => reader.read(() => firing.payloads(deliveries)),
    listLostClaims: (...claims) => reader.read(() => firing.lostClaims(...claims)),
  };
}

function ensureDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreUnavailable(`The data directory ${directory} cannot be created.`, { cause: error });
  }
}

function prepareFile(path: string, { now, migrate: mayMigrate = true, durable }: SqliteOptions): void {
  const isNew = !existsSync(path);
  if (isNew && !mayMigrate) throw new StoreUnavailable(`There is no database ${path}.`);
  const db = openForWriting(path, durable);
  try {
    if (isNew) chmodSync(path, 0o600);
    if (mayMigrate) migrate(db, now);
    else requireCurrent(db);
  } finally {
    db.close();
  }
}
