/**
 * Asks what nobody who fires waits for, on connections of its own, which are opened when the first question comes: a
 * node that nobody looks at has none. No question may change anything or take long: a transaction of its own says so,
 * since a session behind a pooler is anybody's.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './faults.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { Reader, Values } from './read-pool.ts';
import type { QueryOptions, ReconnectingClient } from './reconnecting-client.ts';

const QUESTION_MS_MAX = 2_000;
const BEGIN_READING = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
  SET LOCAL statement_timeout = ${QUESTION_MS_MAX}`;
/** More than this unanswered means that nobody is waiting for the answers any more. */
const IN_FLIGHT_MAX = 64;

export class OnDemandReadPool implements Reader {
  readonly #make: () => readonly ReconnectingClient[];
  #made: readonly ReconnectingClient[] = [];
  #clients: Promise<readonly ReconnectingClient[]> | null = null;
  #inFlight = 0;
  #isClosed = false;

  /** `make`: clients that are not open yet. */
  constructor(make: () => readonly ReconnectingClient[]) {
    this.#make = make;
  }

  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#ask(sql, parameters, { isPrepared: false });
  }

  /** There are too few of them for a plan to be worth keeping. */
  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.query(sql, ...parameters);
  }

  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#ask(sql, parameters, { isPrepared: false, rowMode: 'array' });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#made.map((client) => client.close()));
  }

  async #ask<Row>(
    sql: string,
    parameters: readonly SqlValue[],
    manner: QueryOptions,
  ): Promise<readonly Row[]> {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (this.#inFlight >= IN_FLIGHT_MAX) {
      throw new StoreUnavailable('Too many questions are waiting for the database.');
    }
    this.#inFlight++;
    try {
      const client = leastBusy(await this.#opened());
      const [begun, asked, ended] = [
        client.send(BEGIN_READING),
        client.send(sql, parameters, manner),
        client.send('COMMIT'),
      ];
      const [, answer] = await Promise.allSettled([begun, asked, ended]);
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value.rows as readonly Row[];
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#inFlight--;
    }
  }

  async #opened(): Promise<readonly ReconnectingClient[]> {
    if (this.#clients === null) {
      this.#made = this.#make();
      this.#clients = openAll(this.#made);
    }
    try {
      return await this.#clients;
    } catch (error) {
      // The next question tries again.
      this.#clients = null;
      throw error;
    }
  }
}

/** None stays open when one cannot be had: each further attempt would take a connection more from a server short of them. */
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
