/**
 * The lifeline keeps a node alive: its lease, the state of the cluster and the clock, on a connection that carries nothing
 * else. No body, no long statement and no queue of writes can delay a renewal.
 *
 * A renewal is one transaction, written at once, and the question for the state is written right behind it. No
 * question can come between the parts of a transaction. The writer's number makes sure that a renewal which was held
 * up on its way does not undo a later one. A renewal whose answer was lost is simply made again.
 */

import type { ClusterState, NodeLease } from '#src/ports/cluster-store.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import { ClusterReads } from './cluster-reads.ts';
import { MARK } from './executor.ts';
import { awaitAll, faultOf, unavailableInstead } from './faults.ts';
import { ReadPool } from './read-pool.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';
import type { Statements } from './stages.ts';

/** A second attempt is made when the connection is back within this time: a lease has hardly more to spare. */
const UP_MS_MAX = 500;

export interface LeaseConnectionOptions {
  readonly client: ReconnectingClient;
  readonly clock: Clock;
  readonly statements: Statements;
  /** The name of this connection among those of all nodes that write. */
  readonly writer: string;
}

export class LeaseConnection {
  readonly #client: ReconnectingClient;
  readonly #clock: Clock;
  readonly #renewal: readonly string[];
  readonly #writer: string;
  readonly #reads: ClusterReads;
  #number = 0;

  constructor({ client, clock, statements, writer }: LeaseConnectionOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#renewal = statements.renewLease.sql;
    this.#writer = writer;
    this.#reads = new ClusterReads(new ReadPool([client]));
  }

  readClock(): Promise<number> {
    return this.#reads.clock();
  }

  async renewLease(lease: NodeLease): Promise<ClusterState> {
    try {
      return await this.#renew(lease);
    } catch (error) {
      if (faultOf(error) === 'broken' || !(await this.#client.waitUntilConnected(UP_MS_MAX)))
        throw unavailableInstead(error);
    }
    try {
      return await this.#renew(lease);
    } catch (error) {
      throw unavailableInstead(error);
    }
  }

  async #renew({ node, leaseUntil, isStopping }: NodeLease): Promise<ClusterState> {
    if (!this.#client.isConnected) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    this.#number++;
    const renewed = this.#client.transaction([
      { sql: MARK, parameters: [this.#writer, this.#number, this.#clock.now()], isPrepared: true },
      ...this.#renewal.map((sql) => ({
        sql,
        parameters: [[node], [leaseUntil], [isStopping ? 1 : 0]],
        isPrepared: true,
      })),
    ]);
    const state = this.#reads.state();
    await awaitAll([renewed, state]);
    return state;
  }
}
