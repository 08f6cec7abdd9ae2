/**
 * Stores that hold many schedules, all due in a year. Filling millions takes minutes, so every round and workload of
 * the run shares the store of its size. All stores are removed at the end. Each round leaves some thousand sent
 * deliveries in its store, and this is the same for every store.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../src/store/sqlite/open-sqlite.ts';
import { endWithProcess, removeFolder, temporaryFolder } from '../../test/postgres/cleanup.ts';
import type { PostgresServer } from '../../test/postgres/server.ts';
import { Unavailable } from '../contender.ts';
import type { SchedStoreKind } from '../results.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import type { Multiplication } from './multiply.ts';
import { multiplyPostgres } from './multiply-postgres.ts';
import { createTemplates, TEMPLATES } from './templates.ts';

const BYTES_PER_GB = 1e9;
/** The disk space for one schedule while a store is filled: rows, indexes, sort files and PostgreSQL's log. */
const BYTES_EACH_MAX: Readonly<Record<SchedStoreKind, number>> = { sqlite: 2_500, postgres: 5_000 };

export class FilledStores implements AsyncDisposable {
  readonly #postgres: PostgresServer;
  readonly #made = new AsyncDisposableStack();
  readonly #stores = new Map<string, Promise<SchedStore>>();

  constructor(postgres: PostgresServer) {
    this.#postgres = postgres;
  }

  /** Rejects with `Unavailable` if the disk has too little space. */
  with(kind: SchedStoreKind, count: number): Promise<SchedStore> {
    const name = `${kind} ${count}`;
    const store = this.#stores.get(name) ?? this.#fill(kind, count);
    this.#stores.set(name, store);
    return store;
  }

  /** Returns a store that is not shared, so it may be changed. */
  fresh(kind: SchedStoreKind, count: number): Promise<SchedStore> {
    return this.#fill(kind, count);
  }

  /** Returns a store without a schema. */
  async empty(kind: SchedStoreKind): Promise<SchedStore> {
    return kind === 'sqlite' ? this.#directory() : this.#database();
  }

  async #fill(kind: SchedStoreKind, count: number): Promise<SchedStore> {
    if (count % TEMPLATES !== 0) throw new Error(`Sizes are multiples of ${TEMPLATES}.`);
    requireDiskSpace(kind, count);
    const store = await this.empty(kind);
    {
      await using service = await startSched({ store, env: { SCHED_ROLE: 'api' } });
      if (count > 0) await createTemplates(service.urls[0] ?? '');
    }
    if (count > 0) await multiply(store, { kind: 'apart', copies: count / TEMPLATES, partition: null });
    return store;
  }

  #directory(): SchedStore {
    const directory = temporaryFolder();
    this.#made.defer(() => removeFolder(directory));
    return { kind: 'sqlite', directory };
  }

  async #database(): Promise<SchedStore> {
    const { url } = this.#made.use(await this.#postgres.createDatabase());
    return { kind: 'postgres', url };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#stores.values());
    await this.#made.disposeAsync();
  }
}

export function fileOf(directory: string): string {
  return join(directory, DATABASE_FILE);
}

export async function multiply(store: SchedStore, multiplication: Multiplication): Promise<void> {
  if (store.kind === 'sqlite') await multiplySqlite(fileOf(store.directory), multiplication);
  else await multiplyPostgres(store.url, multiplication);
}

export function requireDiskSpace(kind: SchedStoreKind, count: number): void {
  const { bavail, bsize } = statfsSync(tmpdir());
  const [free, needed] = [bavail * bsize, count * BYTES_EACH_MAX[kind]];
  if (needed <= free) return;
  const gigabytes = (bytes: number) => `${(bytes / BYTES_PER_GB).toFixed(1)} GB`;
  throw new Unavailable(`the disk has ${gigabytes(free)} free, filling may need ${gigabytes(needed)}`);
}

async function multiplySqlite(file: string, multiplication: Multiplication): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'multiply-sqlite.ts'), file, JSON.stringify(multiplication)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  endWithProcess(child);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The database could not be filled: exit code ${code}.`);
  flushFile(file);
}

/** Otherwise the system would write its cache to disk during a measurement. */
export function flushFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
