/**
 * Renews the lease of this node, and reads the state of the cluster and the clock, on a connection of its own. No
 * payload, long statement or queue of writes can delay a renewal.
 *
 * A renewal is one transaction that is sent at once, and the query for the state follows it directly. Nothing can
 * come between the statements of the transaction. The number of the writer makes sure that a delayed renewal does
 * not undo a later one. A renewal whose answer was lost is sent again.
 */

import type { ClusterState, NodeLease } from '#src/ports/cluster-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { renewLease } from '#src/store/sql/cluster.ts';
import { readCluster } from '#src/store/sql/reads.ts';
import { SHARED_STATEMENTS } from '#src/store/sql/statements.ts';
import { awaitAll, isTemporary, unavailableInstead } from './errors.ts';
import { ReadPool } from './read-pool.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';
import { numberOfWriter } from './transaction-numbers.ts';

/** A second attempt needs the connection back within this time. A lease does not leave time for more. */
const RECONNECT_MS_MAX = 500;

/** A numeric, which comes as text. A floating-point number would be rounded by `extra_float_digits`. */
const CLOCK = 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now';

export interface LeaseConnectionDependencies {
  readonly client: ReconnectingClient;
  readonly clock: Clock;
  /** The name of this connection among all that write. */
  readonly writer: string;
}

export class LeaseConnection {
  readonly #dependencies: LeaseConnectionDependencies;
  readonly #reader: ReadPool;
  #number = 0;

  constructor(dependencies: LeaseConnectionDependencies) {
    this.#dependencies = dependencies;
    this.#reader = new ReadPool([dependencies.client]);
  }

  async readClock(): Promise<number> {
    const [row] = await this.#reader.query<{ readonly now: string }>(CLOCK);
    return Number(row?.now);
  }

  async renewLease(lease: NodeLease): Promise<ClusterState> {
    try {
      return await this.#renew(lease).catch(async (error: unknown) => {
        if (isTemporary(error) && (await this.#dependencies.client.waitUntilConnected(RECONNECT_MS_MAX))) {
          return this.#renew(lease);
        }
        throw error;
      });
    } catch (error) {
      throw unavailableInstead(error);
    }
  }

  async #renew(lease: NodeLease): Promise<ClusterState> {
    const { client, clock, writer } = this.#dependencies;
    this.#number++;
    const { storeOrFail, parameters: row } = numberOfWriter(writer);
    const [name, , ...parameters] = renewLease(lease);
    const renewed = client.transaction([
      { sql: storeOrFail, parameters: [...row, this.#number, clock.now()], isPrepared: true },
      { sql: SHARED_STATEMENTS[name].sql, parameters, isPrepared: true },
    ]);
    const state = readCluster(this.#reader);
    await awaitAll([renewed, state]);
    return state;
  }
}
