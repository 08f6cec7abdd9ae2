/**
 * Connections for queries. Each takes several queries at a time, and answers them in order.
 *
 * The engine never waits for some queries, such as those of the dashboard. They have a pool that is opened on demand,
 * by the first query, so a node without dashboard users has no connections for it. There each query runs in a
 * read-only transaction with a time limit. The limit belongs to the transaction, because a session behind a pooler is
 * shared.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Values } from '#src/store/sql/joined-rows.ts';
import { unavailableInstead } from './errors.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { QueryOptions, ReconnectingClient } from './reconnecting-client.ts';

/** Runs single statements. Everything in one answer is of one moment. */
export interface Reader {
  /** The server plans the query each time, because the best plan may depend on what the tables hold by now. */
  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Every row is named by its whole key. There is only one good plan, so the server keeps it. */
  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]>;
  /** A look-up of many wide rows, where column names would cost more than the values. */
  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]>;
}

/** When more than this are waiting, the database is too slow. New queries are refused, so memory does not grow. */
const IN_FLIGHT_MAX = 20_000;
/** When more than this are waiting, their callers no longer wait. */
const ON_DEMAND_IN_FLIGHT_MAX = 64;
const ON_DEMAND_MS_MAX = 2_000;
const BEGIN_ON_DEMAND = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
  SET LOCAL statement_timeout = ${ON_DEMAND_MS_MAX}`;

export class ReadPool implements Reader {
  /** Makes clients that are not connected yet; null if the pool was given clients. */
  readonly #makeClients: (() => readonly ReconnectingClient[]) | null;
  #clients: readonly ReconnectingClient[];
  #opening: Promise<void> | null = null;
  #inFlight = 0;
  #isClosed = false;

  /** `clients`: connected clients, or a function that makes some on demand. */
  constructor(clients: readonly ReconnectingClient[] | (() => readonly ReconnectingClient[])) {
    this.#makeClients = typeof clients === 'function' ? clients : null;
    this.#clients = typeof clients === 'function' ? [] : clients;
  }

  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#run(sql, parameters, { isPrepared: false });
  }

  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#run(sql, parameters, { isPrepared: this.#keepsPlans });
  }

  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#run(sql, parameters, { isPrepared: this.#keepsPlans, rowMode: 'array' });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Queries on demand are too rare for a cached plan. */
  get #keepsPlans(): boolean {
    return this.#makeClients === null;
  }

  async #run<Row>(
    sql: string,
    parameters: readonly SqlValue[],
    options: QueryOptions,
  ): Promise<readonly Row[]> {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (this.#inFlight >= (this.#makeClients === null ? IN_FLIGHT_MAX : ON_DEMAND_IN_FLIGHT_MAX)) {
      throw new StoreUnavailable('Too many queries are waiting for the database.');
    }
    this.#inFlight++;
    try {
      if (this.#makeClients === null) {
        const { rows } = await leastBusy(this.#clients).send(sql, parameters, options);
        return rows as readonly Row[];
      }
      await this.#open(this.#makeClients);
      const client = leastBusy(this.#clients);
      const [, answer] = await Promise.allSettled([
        client.send(BEGIN_ON_DEMAND),
        client.send(sql, parameters, options),
        client.send('COMMIT'),
      ]);
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value.rows as readonly Row[];
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#inFlight--;
    }
  }

  async #open(makeClients: () => readonly ReconnectingClient[]): Promise<void> {
    if (this.#opening === null) {
      this.#clients = makeClients();
      this.#opening = openAll(this.#clients);
    }
    try {
      await this.#opening;
    } catch (error) {
      // The next query tries again.
      this.#opening = null;
      throw error;
    }
  }
}

/**
 * If one client cannot connect, all are closed. Otherwise each attempt would take more connections from a server
 * that has few.
 */
async function openAll(clients: readonly ReconnectingClient[]): Promise<void> {
  try {
    await Promise.all(clients.map((client) => client.open()));
  } catch (error) {
    await Promise.all(clients.map((client) => client.close()));
    throw error;
  }
}

function leastBusy(clients: readonly ReconnectingClient[]): ReconnectingClient {
  let chosen: ReconnectingClient | null = null;
  for (const client of clients) {
    if (client.isConnected && (chosen === null || client.inFlight < chosen.inFlight)) chosen = client;
  }
  if (chosen === null) throw new StoreUnavailable('PostgreSQL cannot be reached.');
  return chosen;
}
