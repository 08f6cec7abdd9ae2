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
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { copyOut } from './copy-out.ts';
import { awaitAll, isUnavailable } from './errors.ts';
import { type ArrayTypes, arrayTypesOf, encodeParameters, type SqlValue } from './parameter-encoding.ts';
import { runTransaction, type TransactionStatement } from './transaction.ts';

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
  /** Returns rows as lists of values. Default: as objects. */
  readonly rowMode?: 'array';
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
  readonly #silenceCheck: PeriodicTask;
  #connectWaiters: (() => void)[] = [];

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

  /** Opens the first connection, and fails if that is not possible. */
  async open(): Promise<void> {
    const client = await this.#dependencies.connect();
    // Another client of the same store could not connect, so the store gave up.
    if (this.#isClosed) client.connection.stream.destroy();
    else {
      this.#setClient(client);
      this.#silenceCheck.runWithin(SILENCE_CHECK_MS);
    }
  }

  /** A text without parameters may hold several statements. */
  send(
    sql: string,
    parameters: readonly SqlValue[] = [],
    { isPrepared, ...shape }: QueryOptions = PREPARED,
  ): Promise<QueryResult> {
    return this.#run((client) =>
      client.query(
        parameters.length === 0 ? sql : { ...this.#encoded({ sql, parameters, isPrepared }), ...shape },
      ),
    );
  }

  /** Runs a statement in a transaction of its own, which begins with `begin`. All is sent at once. */
  async sendIn(begin: string, ...query: Parameters<ReconnectingClient['send']>): Promise<QueryResult> {
    const [begun, result, ended] = [this.send(begin), this.send(...query), this.send('COMMIT')];
    await awaitAll([begun, result, ended]);
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
    if (client === null) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    if (this.#inFlight === 0) this.#silentSince = this.#dependencies.timers.elapsed();
    this.#inFlight++;
    try {
      this.#replan(client);
      return await act(client);
    } catch (error) {
      if (this.#client === client && isUnavailable(error)) this.#lose(client);
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
    if (this.isConnected || this.#isClosed) return this.isConnected;
    await new Promise<void>((resolve) => {
      const cancel = this.#dependencies.timers.after(withinMs, resolve);
      this.#connectWaiters.push(() => {
        cancel();
        resolve();
      });
    });
    return this.isConnected;
  }

  #setClient(client: Client): void {
    this.#client = client;
    this.#pauseMs = RECONNECT_PAUSE_MS;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    for (const notify of this.#connectWaiters.splice(0)) notify();
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.connection.stream.destroy();
    this.#scheduleReconnect();
  }

  #scheduleReconnect(): void {
    if (this.#isClosed) return;
    this.#dependencies.timers.after(this.#pauseMs, () => void this.#reconnect());
    this.#pauseMs = Math.min(2 * this.#pauseMs, RECONNECT_PAUSE_MS_MAX);
  }

  async #reconnect(): Promise<void> {
    try {
      const client = await this.#dependencies.connect();
      if (this.#isClosed) client.connection.stream.destroy();
      else this.#setClient(client);
    } catch {
      this.#scheduleReconnect();
    }
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
    for (const notify of this.#connectWaiters.splice(0)) notify();
    const client = this.#client;
    this.#client = null;
    if (client !== null) await this.#end(client);
  }

  /** Closes the connection, and does not wait long for a server that does not answer. */
  async #end(client: Client): Promise<void> {
    const tooLong = Promise.withResolvers<void>();
    const cancel = this.#dependencies.timers.after(CLOSE_MS_MAX, tooLong.resolve);
    await Promise.race([client.end().catch(() => {}), tooLong.promise]);
    cancel();
    client.connection.stream.destroy();
  }
}
