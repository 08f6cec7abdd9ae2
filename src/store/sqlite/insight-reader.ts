/**
 * Sends queries to the reading thread, one at a time; others wait here, up to a limit. The first query starts the
 * thread, so a service without a dashboard user has none. When the thread dies, its query fails, and the next query
 * starts another thread.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Query, QueryParameter, SqlReader } from '#src/store/sql/dialect.ts';

/** `unavailable`: the disk or the file is at fault. */
export type InsightResult =
  | { readonly rows: readonly unknown[] }
  | { readonly failed: string; readonly unavailable: boolean };

interface Waiting {
  readonly query: Query;
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/** When more than this are waiting, their callers no longer wait. */
const WAITING_MAX = 64;
/** A query that needs more memory than this ends the thread, but not the service. */
const THREAD_HEAP_MB_MAX = 256;

export class InsightReader implements SqlReader {
  readonly #path: string;
  #worker: Worker | null = null;
  #inFlight: Waiting | null = null;
  #waiting: Waiting[] = [];
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  lookUp<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]> {
    return this.query(sql, ...parameters);
  }

  query<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed());
      if (this.#waiting.length >= WAITING_MAX) {
        return reject(new StoreUnavailable('Too many queries are waiting for the reading thread.'));
      }
      this.#waiting.push({ query: { sql, parameters }, resolve: resolve as Waiting['resolve'], reject });
      this.#sendNext();
    });
  }

  #sendNext(): void {
    if (this.#inFlight !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#inFlight = next;
    this.#worker ??= this.#open();
    this.#worker.postMessage(next.query);
  }

  #open(): Worker {
    const worker = new Worker(new URL('./insight-thread.ts', import.meta.url), {
      workerData: { path: this.#path },
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB_MAX },
    });
    worker.on('message', (answer: InsightResult) => {
      if (worker === this.#worker) this.#settle(answer);
    });
    worker.on('error', (error) => this.#ended(worker, error));
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  #settle(answer: InsightResult): void {
    const sent = this.#inFlight;
    this.#inFlight = null;
    if (sent !== null) {
      if ('rows' in answer) sent.resolve(answer.rows);
      else sent.reject(errorOf(answer));
    }
    this.#sendNext();
  }

  #ended(worker: Worker, error?: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    const sent = this.#inFlight;
    this.#inFlight = null;
    sent?.reject(new StoreUnavailable('The reading thread ended.', { cause: error }));
    this.#sendNext();
  }

  /** Queries that wait fail at once. The thread ends after its current query. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = null;
    for (const { reject } of [this.#inFlight, ...this.#waiting.splice(0)].filter((one) => one !== null)) {
      reject(closed());
    }
    if (worker === null) return;
    const exited = once(worker, 'exit');
    worker.postMessage('close');
    await exited;
  }
}

function closed(): StoreUnavailable {
  return new StoreUnavailable('The store is closed.');
}

function errorOf({
  failed,
  unavailable,
}: Exclude<InsightResult, { readonly rows: readonly unknown[] }>): Error {
  return unavailable
    ? new StoreUnavailable(`SQLite: ${failed}.`)
    : new Error(`A dashboard query failed: ${failed}.`);
}
