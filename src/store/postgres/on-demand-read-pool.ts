/**
 * Runs queries that the engine never waits for, on connections of its own. The first query opens them, so a node
 * without dashboard users has none. Each query runs in a read-only transaction with a time limit. The limit belongs
 * to the transaction, because a session behind a pooler is shared.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './errors.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { Reader, Values } from './read-pool.ts';
import type { QueryOptions, ReconnectingClient } from './reconnecting-client.ts';

const QUESTION_MS_MAX = 2_000;
const BEGIN_READING = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
  SET LOCAL statement_timeout = ${QUESTION_MS_MAX}`;
/** When more than this are waiting, their callers have given up. */
const IN_FLIGHT_MAX = 64;

export class OnDemandReadPool implements Reader {
  readonly #makeClients: () => readonly ReconnectingClient[];
  #clients: readonly ReconnectingClient[] = [];
  #opening: Promise<readonly ReconnectingClient[]> | null = null;
  #inFlight = 0;
  #isClosed = false;

  /** `makeClients`: makes clients that are not connected yet. */
  constructor(makeClients: () => readonly ReconnectingClient[]) {
    this.#makeClients = makeClients;
  }

  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#run(sql, parameters, { isPrepared: false });
  }

  /** These queries are too rare for a cached plan. */
  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.query(sql, ...parameters);
  }

  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#run(sql, parameters, { isPrepared: false, rowMode: 'array' });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #run<Row>(
    sql: string,
    parameters: readonly SqlValue[],
    options: QueryOptions,
  ): Promise<readonly Row[]> {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (this.#inFlight >= IN_FLIGHT_MAX) {
      throw new StoreUnavailable('Too many queries are waiting for the database.');
    }
    this.#inFlight++;
    try {
      const client = leastBusy(await this.#opened());
      const [begin, result, commit] = [
        client.send(BEGIN_READING),
        client.send(sql, parameters, options),
        client.send('COMMIT'),
      ];
      const [, answer] = await Promise.allSettled([begin, result, commit]);
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value.rows as readonly Row[];
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#inFlight--;
    }
  }

  async #opened(): Promise<readonly ReconnectingClient[]> {
    if (this.#opening === null) {
      this.#clients = this.#makeClients();
      this.#opening = openAll(this.#clients);
    }
    try {
      return await this.#opening;
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
async function openAll(clients: readonly ReconnectingClient[]): Promise<readonly ReconnectingClient[]> {
  try {
    await Promise.all(clients.map((client) => client.open()));
    return clients;
  } catch (error) {
    await Promise.all(clients.map((client) => client.close()));
    throw error;
  }
}

function leastBusy(clients: readonly ReconnectingClient[]): ReconnectingClient {
  const [chosen] = clients
    .filter(({ isConnected: isUp }) => isUp)
    .toSorted((one, other) => one.inFlight - other.inFlight);
  if (chosen === undefined) throw new StoreUnavailable('PostgreSQL cannot be reached.');
  return chosen;
}
