/**
 * Connections for queries. Each takes several queries at a time, and answers them in order.
 *
 * The engine never waits for some queries, such as those of the dashboard. They have a pool that is opened on demand,
 * by the first query, so a node without dashboard users has no connections for it. There each query runs in a
 * read-only transaction with a time limit. The limit belongs to the transaction, because a session behind a pooler is
 * shared.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlReader } from '#src/store/sql/dialect.ts';
import type { Values } from '#src/store/sql/mapping.ts';
import { unavailableInstead } from './errors.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';

export interface Reader extends SqlReader {
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
  readonly #clients: readonly ReconnectingClient[];
  readonly #isOnDemand: boolean;
  #inFlight = 0;

  /** The clients are connected, unless they are opened on demand. */
  constructor(clients: readonly ReconnectingClient[], isOnDemand = false) {
    this.#clients = clients;
    this.#isOnDemand = isOnDemand;
  }

  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#rows(sql, parameters, { isPrepared: false });
  }

  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    // Queries on demand are too rare for a cached plan.
    return this.#rows(sql, parameters, { isPrepared: !this.#isOnDemand });
  }

  /** Only the engine asks for lists of values, so this has no time limit. */
  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#run((client) => client.lookUpValues(sql, parameters));
  }

  #rows<Row>(...query: Parameters<ReconnectingClient['send']>): Promise<readonly Row[]> {
    return this.#run(async (client) => {
      const { rows } = await (this.#isOnDemand
        ? client.sendIn(BEGIN_ON_DEMAND, ...query)
        : client.send(...query));
      return rows as readonly Row[];
    });
  }

  async #run<Row>(ask: (client: ReconnectingClient) => Promise<readonly Row[]>): Promise<readonly Row[]> {
    if (this.#inFlight >= (this.#isOnDemand ? ON_DEMAND_IN_FLIGHT_MAX : IN_FLIGHT_MAX)) {
      throw new StoreUnavailable('Too many queries are waiting for the database.');
    }
    this.#inFlight++;
    try {
      if (this.#isOnDemand) await this.#open();
      return await ask(leastBusy(this.#clients));
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#inFlight--;
    }
  }

  /** One connection is enough. A client that cannot connect is opened again by the next query. */
  async #open(): Promise<void> {
    await Promise.any(this.#clients.map((client) => client.open())).catch((error: AggregateError) => {
      throw error.errors[0];
    });
  }
}

/** If none is connected, the one that is returned says why. */
function leastBusy(clients: readonly ReconnectingClient[]): ReconnectingClient {
  return clients.reduce((one, other) =>
    other.isConnected && (!one.isConnected || other.inFlight < one.inFlight) ? other : one,
  );
}
