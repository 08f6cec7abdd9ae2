/**
 * One connection that mends itself. Queries are written one behind the other without waiting for the answers
 * in between, and answered in that order. When the connection goes, whatever had no answer yet is rejected,
 * whether it was carried out or not; then it is opened again, with longer and longer pauses, for as long as it
 * takes. While it is down nothing waits here: whoever asks is told at once.
 *
 * A server that stays silent for too long counts as gone.
 */
import type { Client, QueryResult } from 'pg';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { copyOut } from './copy-out.ts';
import { isUnavailable } from './faults.ts';
import { type ArrayTypes, arrayTypesOf, encodeParameters, type SqlValue } from './parameter-encoding.ts';
import { runTransaction } from './transaction.ts';

export interface TransactionQuery {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the server plans it once, for all times; else anew each time. */
  readonly isPrepared: boolean;
}

/** How a single question is asked. */
export interface QueryOptions {
  /** As of a part of a transaction. */
  readonly isPrepared: boolean;
  /** Rows as the values of their columns. Default: by their names. */
  readonly rowMode?: 'array';
}

export interface ReconnectingClientDependencies {
  /** Opens a connection to a server that takes writes. */
  readonly connect: () => Promise<Client>;
  readonly timers: Timers & Stopwatch;
  /** Whether statements may be kept by the server, under a name. */
  readonly prepares: boolean;
  /** Whether their plans are kept with them. */
  readonly cachesPlans?: boolean;
}

/**
 * Of an empty table the planner believes that every index is as good as any, and a plan that was made then would
 * walk through the table when it has grown: plans are made again before that hurts.
 */
const PLANS_KEPT_MS = 1_000;
const FORGET_PLANS = 'DISCARD PLANS';
const KEPT: QueryOptions = { isPrepared: true };
const AGAIN_AFTER_MS = 50;
const AGAIN_AFTER_MS_MAX = 1_000;
const SILENCE_MS_MAX = 10_000;
const SILENCE_CHECK_MS = 1_000;
const GOODBYE_MS_MAX = 1_000;

interface Known {
  /** The same on every connection. */
  readonly name: string;
  readonly arrays: ArrayTypes;
}

/** Of every statement of the program that has parameters. */
const statements = new Map<string, Known>();

function known(sql: string): Known {
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
  /** Since when the oldest question, or the last answer, has been followed by silence. */
  #silentSince = 0;
  #plannedAt = 0;
  #pauseMs = AGAIN_AFTER_MS;
  #isClosed = false;
  readonly #silenceCheck: PeriodicTask;
  #waitingForUp: (() => void)[] = [];

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

  /** The first connection: fails if there is none to be had. */
  async open(): Promise<void> {
    const client = await this.#dependencies.connect();
    // Others of the same store could not be opened, and it was given up.
    if (this.#isClosed) client.connection.stream.destroy();
    else {
      this.#attend(client);
      this.#silenceCheck.runWithin(SILENCE_CHECK_MS);
    }
  }

  /** A text without parameters is sent as it is: it may hold several statements. */
  send(sql: string, parameters: readonly SqlValue[] = [], manner: QueryOptions = KEPT): Promise<QueryResult> {
    return this.#use((client) => {
      if (parameters.length === 0) return client.query(sql);
      const { name, arrays } = known(sql);
      const { isPrepared, ...shape } = manner;
      const question = { text: sql, values: encodeParameters(parameters, arrays), ...shape };
      return client.query(this.#dependencies.prepares && isPrepared ? { name, ...question } : question);
    });
  }

  /** The bytes that a statement without parameters selects. */
  copyOut(sql: string): Promise<Buffer | null> {
    return this.#use((client) => copyOut(client, sql));
  }

  /** All of it or nothing, in one round trip. */
  transaction(questions: readonly TransactionQuery[]): Promise<void> {
    const parts = questions.map(({ sql, parameters, isPrepared }) => {
      const { name, arrays } = known(sql);
      return {
        sql,
        name: this.#dependencies.prepares && isPrepared ? name : '',
        values: encodeParameters(parameters, arrays),
      };
    });
    return this.#use((client) => runTransaction(client, parts));
  }

  async #use<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === null) throw new StoreUnavailable('The database cannot be reached.');
    if (this.#inFlight === 0) this.#silentSince = this.#dependencies.timers.elapsed();
    this.#inFlight++;
    try {
      this.#replan(client);
      return await ask(client);
    } catch (error) {
      if (this.#client === client && isUnavailable(error)) this.#lose(client);
      throw error;
    } finally {
      this.#inFlight--;
      this.#silentSince = this.#dependencies.timers.elapsed();
    }
  }

  /** Goes ahead of what is asked; if it fails, so does that. */
  #replan(client: Client): void {
    const now = this.#dependencies.timers.elapsed();
    if (this.#dependencies.cachesPlans !== true || now - this.#plannedAt < PLANS_KEPT_MS) return;
    this.#plannedAt = now;
    client.query(FORGET_PLANS).catch(() => {});
  }

  /** When it is up again; false if that takes longer. */
  async waitUntilConnected(withinMs: number): Promise<boolean> {
    if (this.isConnected || this.#isClosed) return this.isConnected;
    await new Promise<void>((resolve) => {
      const callOff = this.#dependencies.timers.after(withinMs, resolve);
      this.#waitingForUp.push(() => {
        callOff();
        resolve();
      });
    });
    return this.isConnected;
  }

  #attend(client: Client): void {
    this.#client = client;
    this.#pauseMs = AGAIN_AFTER_MS;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    for (const tell of this.#waitingForUp.splice(0)) tell();
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.connection.stream.destroy();
    this.#again();
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#dependencies.timers.after(this.#pauseMs, () => void this.#reconnect());
    this.#pauseMs = Math.min(2 * this.#pauseMs, AGAIN_AFTER_MS_MAX);
  }

  async #reconnect(): Promise<void> {
    try {
      const client = await this.#dependencies.connect();
      if (this.#isClosed) client.connection.stream.destroy();
      else this.#attend(client);
    } catch {
      this.#again();
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
    for (const tell of this.#waitingForUp.splice(0)) tell();
    const client = this.#client;
    this.#client = null;
    if (client !== null) await this.#end(client);
  }

  /** Says goodbye, and does not wait long for a server that does not hear it. */
  async #end(client: Client): Promise<void> {
    const tooLong = Promise.withResolvers<void>();
    const callOff = this.#dependencies.timers.after(GOODBYE_MS_MAX, tooLong.resolve);
    await Promise.race([client.end().catch(() => {}), tooLong.promise]);
    callOff();
    client.connection.stream.destroy();
  }
}
