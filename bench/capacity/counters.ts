/**
 * Reads how much a running Sched and its database have used so far. Processor time comes from `/proc`, so it is only
 * known for servers of this machine. The rest comes from the database itself.
 */
import { readdirSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { workerUrls } from '../../test/postgres/citus.ts';
import { postgresCpuMeter } from '../postgres-process.ts';
import { runMsOf } from '../process-figures.ts';
import type { SchedStore } from '../sched/service.ts';
import { fileOf } from '../stored/filled-stores.ts';
import type { Usage } from './costs.ts';
import type { CountingProxy } from './counting-proxy.ts';

const MICROS_PER_MS = 1_000;

export interface Counters extends AsyncDisposable {
  /** All figures count from an unknown start, so only differences mean something. */
  read(): Promise<Usage>;
}

export interface Counted {
  readonly store: SchedStore;
  /** The processes of the nodes. */
  readonly pids: readonly number[];
  /** Counts the traffic between nodes and database, if it is there. */
  readonly proxy: Pick<CountingProxy, 'traffic'> | null;
}

export async function countersOf(counted: Counted): Promise<Counters> {
  return counted.store.kind === 'sqlite'
    ? onSqlite(counted.store.directory, counted.pids)
    : onPostgres(counted.store, counted);
}

function onSqlite(directory: string, pids: readonly number[]): Counters {
  const db = new Database(fileOf(directory), { fileMustExist: true, readonly: true });
  return {
    read: async () => ({
      ...nodesUse(pids),
      databaseMicros: null,
      workerMicros: null,
      writtenBytes: sum(pids.map(bytesWritten)),
      commits: null,
      statements: null,
      roundTrips: null,
      networkBytes: null,
      diskBytes: bytesUsed(db),
    }),
    [Symbol.asyncDispose]: async () => {
      db.close();
    },
  };
}

/** Pages in use, including those that are only in the write-ahead log yet. */
function bytesUsed(db: Database.Database): number {
  const pragma = (name: string) => Number(db.pragma(name, { simple: true }));
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

const COUNTS = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS wal,
  pg_snapshot_xmax(pg_current_snapshot())::text AS transactions,
  pg_database_size(current_database())::text AS bytes`;

type PostgresStore = SchedStore & { readonly kind: 'postgres' };

interface CountsRow {
  readonly wal: string;
  readonly transactions: string;
  readonly bytes: string;
}

async function onPostgres(store: PostgresStore, { pids, proxy }: Counted): Promise<Counters> {
  const { url, workersCpuMs } = store;
  const cpuMs = store.cpuMs ?? (await postgresCpuMeter(url));
  await using opened = new AsyncDisposableStack();
  const clients: Client[] = [];
  for (const server of [url, ...(workersCpuMs === undefined ? [] : await workerUrls(url))]) {
    const client = new Client({ connectionString: server });
    // An error of the connection fails the next query. Without a listener it would end the process.
    client.on('error', () => undefined);
    await client.connect();
    opened.defer(() => client.end());
    clients.push(client);
  }
  const servers = opened.move();
  return {
    read: async () => {
      const counts = await Promise.all(clients.map(countsOf));
      const [all, workers] = [micros(cpuMs()), micros(workersCpuMs?.() ?? null)];
      const traffic = proxy?.traffic();
      return {
        ...nodesUse(pids),
        databaseMicros: all === null ? null : all - (workers ?? 0),
        workerMicros: workers,
        writtenBytes: sum(counts.map(({ wal }) => Number(wal))),
        commits: sum(counts.map(({ transactions }) => Number(transactions))),
        statements: traffic?.statements ?? null,
        roundTrips: traffic?.roundTrips ?? null,
        networkBytes: traffic?.bytes ?? null,
        diskBytes: sum(counts.map(({ bytes }) => Number(bytes))),
      };
    },
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

async function countsOf(client: Client): Promise<CountsRow> {
  const { rows } = await client.query<CountsRow>(COUNTS);
  const [row] = rows;
  if (row === undefined) throw new Error('The database does not answer.');
  return row;
}

function micros(ms: number | null): number | null {
  return ms === null ? null : ms * MICROS_PER_MS;
}

type NodeUsage = Pick<Usage, 'mainMicros' | 'writerMicros' | 'nodeMicros'>;

/** Threads of a node that ended are not counted. A node ends none while it works. */
function nodesUse(pids: readonly number[]): NodeUsage {
  const nodes = pids.map((pid) => {
    const others = numbersIn(`/proc/${pid}/task`).filter((thread) => thread !== pid);
    const otherMicros = others.map((thread) => threadMicros(pid, thread));
    const main = threadMicros(pid, pid);
    return { main, writer: Math.max(0, ...otherMicros), all: main + sum(otherMicros) };
  });
  return {
    mainMicros: sum(nodes.map(({ main }) => main)),
    writerMicros: sum(nodes.map(({ writer }) => writer)),
    nodeMicros: sum(nodes.map(({ all }) => all)),
  };
}

function threadMicros(pid: number, thread: number): number {
  return (runMsOf(`/proc/${pid}/task/${thread}`) ?? 0) * MICROS_PER_MS;
}

function bytesWritten(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(read(`/proc/${pid}/io`) ?? '')?.[1] ?? 0);
}

function numbersIn(folder: string): readonly number[] {
  return readdirSync(folder).map(Number);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
