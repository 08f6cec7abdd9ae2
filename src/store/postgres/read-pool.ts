/** A fixed number of connections for queries. Each takes several queries at a time, and answers them in order. */
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './errors.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { QueryOptions, ReconnectingClient } from './reconnecting-client.ts';

/** The values of one row, in the order of the columns. */
export type Values = readonly unknown[];

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
const IN_FLIGHT_MAX = 5_000;

export class ReadPool implements Reader {
  readonly #clients: readonly ReconnectingClient[];
  #isClosed = false;

  constructor(clients: readonly ReconnectingClient[]) {
    this.#clients = clients;
  }

  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#send(sql, parameters, { isPrepared: false });
  }

  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#send(sql, parameters, { isPrepared: true });
  }

  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#send(sql, parameters, { isPrepared: true, rowMode: 'array' });
  }

  async #send<Row>(
    sql: string,
    parameters: readonly SqlValue[],
    options: QueryOptions,
  ): Promise<readonly Row[]> {
    try {
      const { rows } = await this.#leastBusy().send(sql, parameters, options);
      return rows as readonly Row[];
    } catch (error) {
      throw unavailableInstead(error);
    }
  }

  #leastBusy(): ReconnectingClient {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    let chosen: ReconnectingClient | null = null;
    for (const client of this.#clients) {
      if (client.isConnected && (chosen === null || client.inFlight < chosen.inFlight)) chosen = client;
    }
    if (chosen === null) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    if (chosen.inFlight >= IN_FLIGHT_MAX) {
      throw new StoreUnavailable('Too many queries are waiting for the database.');
    }
    return chosen;
  }

  close(): void {
    this.#isClosed = true;
  }
}
