/**
 * A connection that reconnects by itself. Queries are pipelined: they are sent without waiting for earlier answers,
 * and are answered in order. When the connection is lost, queries without an answer are rejected, whether they took
 * effect or not. Then it reconnects with growing pauses, for as long as it takes. While it is disconnected, new
 * queries are rejected at once.
 *
 * A server that is silent for too long counts as lost.
 */
import type { Client, QueryResult } from 'pg';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { pause, type Stopwatch, type Timers } from '#src/ports/system.ts';
import type { Values } from '#src/store/sql/mapping.ts';
import { within } from './connect.ts';
import { copyOut } from './copy-out.ts';
import { awaitAll, isAboutWorker, isUnavailable } from './errors.ts';
import { type ArrayTypes, arrayTypesOf, encodeParameters, type SqlValue } from './parameter-encoding.ts';
import { runTransaction, type TransactionStatement } from './transaction.ts';
import { lookUpValues } from './value-rows.ts';

export interface TransactionQuery {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the server keeps the statement. Otherwise it is parsed and planned each time. */
  readonly isPrepared: boolean;
}

/** Options of a single query. */
export interface QueryOptions {
  /** Whether the server keeps the statement. */
  readonly isPrepared: boolean;
}

export interface ReconnectingClientDependencies {
  /** Opens a connection to a server that accepts writes. */
  readonly connect: () => Promise<Client>;
  readonly timers: Timers & Stopwatch;
  /** Whether the server may keep statements under a name. */
  readonly prepares: boolean;
  /** Whether it also keeps their plans. */
  readonly cachesPlans?: boolean;
}

/**
 * For an empty table the planner rates all indexes the same. Such a plan would scan the whole table once it has
 * grown, so plans are discarded after this time.
 */
const PLANS_CACHED_MS = 1_000;
const DISCARD_PLANS = 'DISCARD PLANS';
const PREPARED: QueryOptions = { isPrepared: true };
const RECONNECT_PAUSE_MS = 50;
const RECONNECT_PAUSE_MS_MAX = 1_000;
const SILENCE_MS_MAX = 10_000;
const SILENCE_CHECK_MS = 1_000;
const CLOSE_MS_MAX = 1_000;
const CLOSED = 'The store is closed.';

interface KnownStatement {
  /** The name is the same on every connection. */
  readonly name: string;
  readonly arrays: ArrayTypes;
}

/** All statements with parameters that this process has sent. */
const statements = new Map<string, KnownStatement>();

function knownStatement(sql: string): KnownStatement {
  const found = statements.get(sql);
  if (found !== undefined) return found;
  const made = { name: `sched_${statements.size + 1}`, arrays: arrayTypesOf(sql) };
  statements.set(sql, made);
  return made;
}

export class ReconnectingClient {
  readonly #dependencies: ReconnectingClientDependencies;
  #client: Client | null = null;
  #inFlight = 0;
  /** When the oldest query was sent, or the last answer came. */
  #silentSince = 0;
  #plannedAt = 0;
  #pauseMs = RECONNECT_PAUSE_MS;
  #isClosed = false;
  /** The first connection; null before it was asked for, and after it failed. */
  #opening: Promise<void> | null = null;
  /** Aborted when a connection is there, or never will be. */
  #waiting = new AbortController();
  readonly #silenceCheck: PeriodicTask;

  constructor(dependencies: ReconnectingClientDependencies) {
    this.#dependencies = dependencies;
    this.#silenceCheck = new PeriodicTask(dependencies.timers, () => this.#checkSilence());
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Opens the first connection, once. Fails if that is not possible; another call may then succeed. */
  async open(): Promise<void> {
    if (this.#isClosed) throw new StoreUnavailable(CLOSED);
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    await this.#opening;
  }

  /** A text without parameters may hold several statements. */
  send(
    sql: string,
    parameters: readonly SqlValue[] = [],
    { isPrepared }: QueryOptions = PREPARED,
  ): Promise<QueryResult> {
    return this.#run((client) =>
      client.query(parameters.length === 0 ? sql : this.#encoded({ sql, parameters, isPrepared })),
    );
  }

  /** Returns rows as lists of values. */
  lookUpValues(sql: string, parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    const statement = this.#encoded({ sql, parameters, isPrepared: true });
    return this.#run((client) => lookUpValues(client, statement));
  }

  /**
   * A commit that failed may have taken effect, whatever the error is. If Citus loses a worker that has just committed,
   * it reports an internal error.
   */
  async commit(): Promise<void> {
    try {
      await this.send('COMMIT');
    } catch (cause) {
      throw new StoreUnavailable('PostgreSQL: the outcome of a commit is not known.', { cause });
    }
  }

  /** Runs a statement in a transaction of its own, which begins with `begin`. All is sent at once. */
  async sendIn(begin: string, ...query: Parameters<ReconnectingClient['send']>): Promise<QueryResult> {
    const [begun, result, ended] = [this.send(begin), this.send(...query), this.commit()];
    // The error of the query itself comes first: it may end the connection, and with it the other two.
    await Promise.allSettled([begun, result, ended]);
    await result;
    await awaitAll([begun, ended]);
    return result;
  }

  /** Returns the bytes that a statement without parameters selects. */
  copyOut(sql: string): Promise<Buffer | null> {
    return this.#run((client) => copyOut(client, sql));
  }

  /** Commits all statements or none, in one round trip. */
  transaction(queries: readonly TransactionQuery[]): Promise<void> {
    const statements = queries.map((query) => this.#encoded(query));
    return this.#run((client) => runTransaction(client, statements));
  }

  #encoded({ sql, parameters, isPrepared }: TransactionQuery): TransactionStatement {
    const { name, arrays } = knownStatement(sql);
    const values = encodeParameters(parameters, arrays);
    return this.#dependencies.prepares && isPrepared ? { name, text: sql, values } : { text: sql, values };
  }

  async #run<T>(act: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === null) {
      throw new StoreUnavailable(this.#isClosed ? CLOSED : 'PostgreSQL cannot be reached.');
    }
    if (this.#inFlight === 0) this.#silentSince = this.#dependencies.timers.elapsed();
    this.#inFlight++;
    try {
      this.#replan(client);
      return await act(client);
    } catch (error) {
      if (this.#client === client && isUnavailable(error) && !isAboutWorker(error)) this.#lose(client);
      throw error;
    } finally {
      this.#inFlight--;
      this.#silentSince = this.#dependencies.timers.elapsed();
    }
  }

  /** Discards cached plans before the next query. If this fails, so does the query. */
  #replan(client: Client): void {
    const now = this.#dependencies.timers.elapsed();
    if (this.#dependencies.cachesPlans !== true || now - this.#plannedAt < PLANS_CACHED_MS) return;
    this.#plannedAt = now;
    client.query(DISCARD_PLANS).catch(() => {});
  }

  /** Returns true as soon as the client is connected, and false if that takes longer. */
  async waitUntilConnected(withinMs: number): Promise<boolean> {
    if (!this.isConnected && !this.#isClosed) {
      await pause(this.#dependencies.timers, withinMs, this.#waiting.signal);
    }
    return this.isConnected;
  }

  #endWaiting(): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
  }

  async #connect(): Promise<void> {
    const client = await this.#dependencies.connect();
    if (this.#isClosed) {
      client.connection.stream.destroy();
      return;
    }
    this.#client = client;
    this.#pauseMs = RECONNECT_PAUSE_MS;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    this.#silenceCheck.runWithin(SILENCE_CHECK_MS);
    this.#endWaiting();
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.connection.stream.destroy();
    this.#reconnect();
  }

  #reconnect(): void {
    if (this.#isClosed) return;
    this.#dependencies.timers.after(this.#pauseMs, () => {
      this.#connect().catch(() => this.#reconnect());
    });
    this.#pauseMs = Math.min(2 * this.#pauseMs, RECONNECT_PAUSE_MS_MAX);
  }

  #checkSilence(): number {
    const silentMs = this.#dependencies.timers.elapsed() - this.#silentSince;
    if (this.#client !== null && this.#inFlight > 0 && silentMs > SILENCE_MS_MAX) this.#lose(this.#client);
    return SILENCE_CHECK_MS;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.#silenceCheck.stop();
    this.#endWaiting();
    const client = this.#client;
    this.#client = null;
    if (client === null) return;
    // A server that does not answer is not waited for.
    await within(this.#dependencies.timers, CLOSE_MS_MAX, client.end()).catch(() => {});
    client.connection.stream.destroy();
  }
}
