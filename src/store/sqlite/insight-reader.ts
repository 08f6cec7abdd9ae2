/**
 * Sends queries to the reading thread, one at a time; others wait here, up to a limit. The first query starts the
 * thread, so a service without a dashboard user has none. When the thread dies, its query fails, and the next query
 * starts another thread.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlReader } from '#src/store/sql/dialect.ts';
import type { Query, QueryParameter } from '#src/store/sql/query.ts';
import { errorOf, type Failure } from './errors.ts';
import { Thread } from './thread.ts';

export type InsightResult = { readonly rows: readonly unknown[] } | Failure;

interface Waiting {
  readonly query: Query;
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/** When more than this are waiting, their callers no longer wait. */
const WAITING_MAX = 64;
/** A query that needs more memory than this ends the thread, but not the service. */
const THREAD_HEAP_MB_MAX = 256;
const CLOSED = 'The store is closed.';

export class InsightReader implements SqlReader {
  readonly #thread: Thread<Query, InsightResult>;
  #inFlight: Waiting | null = null;
  #waiting: Waiting[] = [];
  #isClosed = false;

  constructor(path: string) {
    this.#thread = new Thread({
      file: new URL('./insight-thread.ts', import.meta.url),
      workerData: { path },
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB_MAX },
      onAnswer: (result) => this.#settle(result),
      onEnd: (cause) => this.#settle(new StoreUnavailable('The reading thread ended.', { cause })),
    });
  }

  lookUp<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]> {
    return this.query(sql, ...parameters);
  }

  query<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreUnavailable(CLOSED));
      if (this.#waiting.length >= WAITING_MAX) {
        return reject(new StoreUnavailable('Too many queries are waiting for the reading thread.'));
      }
      this.#waiting.push({ query: { sql, parameters }, resolve: resolve as Waiting['resolve'], reject });
      this.#sendNext();
    });
  }

  #sendNext(): void {
    if (this.#inFlight !== null) return;
    this.#inFlight = this.#waiting.shift() ?? null;
    if (this.#inFlight !== null) this.#thread.post(this.#inFlight.query);
  }

  #settle(result: InsightResult | Error): void {
    const sent = this.#inFlight;
    this.#inFlight = null;
    if ('rows' in result) sent?.resolve(result.rows);
    else sent?.reject(result instanceof Error ? result : errorOf(result, 'A dashboard query'));
    this.#sendNext();
  }

  /** Queries that wait fail at once. The thread ends after its current query. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new StoreUnavailable(CLOSED));
    this.#inFlight?.reject(new StoreUnavailable(CLOSED));
    this.#inFlight = null;
    await this.#thread.close();
  }
}
