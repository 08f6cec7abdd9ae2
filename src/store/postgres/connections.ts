/**
 * The connections of a store. Each serves one kind of work, so that no kind waits for another.
 *
 * Four kinds of work write: API writes; claims and settlements; sweeps, bulk replays, stats, uses of keys and removals;
 * and slots. Each has one connection, and on Citus the first three have more (`citus.ts`). A sweep may wait for a
 * locked row, and a bulk replay writes hundreds of rows, so nothing that is urgent shares their connections. Another
 * connection only renews the lease of this node. Small and large payloads are read on connections of their own. So are
 * API reads, searches, reads of the engine and dashboard queries.
 */
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { DatabaseAddress } from './address.ts';
import { type ConnectOptions, connector } from './connect.ts';
import { unavailableInstead } from './errors.ts';
import { Executor } from './executor.ts';
import { LargePayloads } from './large-payloads.ts';
import { LeaseConnection } from './lease-connection.ts';
import { PayloadReads } from './payload-reads.ts';
import { ONE_SERVER, type Placement } from './placement.ts';
import { ReadPool } from './read-pool.ts';
import { ReconnectingClient } from './reconnecting-client.ts';
import { prepareSchema } from './schema-version.ts';
import { partitionOf } from './stages.ts';
import { statements } from './statements.ts';
import { allowPipelining } from './transaction.ts';
import { WriteQueue } from './write-queue.ts';

export interface PostgresOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** Identifies this process among all that write to this database. */
  readonly node: string;
  /** Whether to create or migrate the schema. If false, it must be up to date. */
  readonly migrate: boolean;
  /** Whether a command uses the store. A command needs few connections. */
  readonly isSmall?: boolean;
}

const API_READERS = 4;
const FIRING_READERS = 2;
const ON_DEMAND_READERS = 2;
/** The statements of a claim. */
const CLAIM = ['slotHeld', 'claimDelivery'] as const;

interface Writers {
  readonly api: WriteQueue;
  readonly firing: WriteQueue;
  readonly maintenance: WriteQueue;
  readonly membership: WriteQueue;
}

interface Pools {
  readonly api: ReadPool;
  readonly firing: ReadPool;
  readonly insight: ReadPool;
  /** Searches without an index. The server ends a scan that takes too long. */
  readonly search: ReadPool;
}

export interface Connections {
  readonly writers: Writers;
  readonly pools: Pools;
  readonly payloads: PayloadReads;
  readonly lease: LeaseConnection;
  readonly placement: Placement;
  close(): Promise<void>;
}

export async function openConnections(options: PostgresOptions): Promise<Connections> {
  const { address, clock, timers, node, isSmall = false } = options;
  const placement = await prepareSchema(options, connector(address, { timers }));
  const clients: ReconnectingClient[] = [];
  /** Returns a function that makes clients of one kind. */
  const clientsOf = (kind: Pick<ConnectOptions, 'cachesPlans' | 'prepare'> = {}) => {
    const connect = connector(address, { timers, settings: placement.settings, ...kind });
    const { cachesPlans = false } = kind;
    return () => {
      const client = new ReconnectingClient({ connect, timers, prepares: !address.isPooled, cachesPlans });
      clients.push(client);
      return client;
    };
  };
  const cachesPlans = placement.cachesPlans && !address.isPooled;
  const planning = clientsOf();
  const caching = cachesPlans ? clientsOf({ cachesPlans }) : planning;
  const writing = cachesPlans ? clientsOf({ cachesPlans, prepare: allowPipelining }) : planning;
  const allStatements = statements(placement);
  const executors = (name: string, connections = 1) => {
    const writer = `${node} ${name}`;
    let number = 0;
    return Array.from(
      { length: connections },
      () =>
        new Executor({
          client: writing(),
          clock,
          timers,
          numberRow: (partition) => placement.numberRow(writer, partition),
          nextNumber: () => {
            number += 2;
            return number;
          },
          statements: allStatements,
          checksAtOnce: placement.checksAtOnce,
        }),
    );
  };
  const queueOf = (all: readonly Executor[]) =>
    new WriteQueue(all, (verb) => partitionOf(verb, allStatements));
  const shared = isSmall ? caching() : null;
  const connections = isSmall ? ONE_SERVER.writers : placement.writers;
  const api = queueOf(executors('api', connections.api));
  const claimers = executors('firing', connections.firing);
  const writers = {
    api,
    firing: queueOf(claimers),
    maintenance: isSmall ? api : queueOf(executors('maintenance', connections.maintenance)),
    membership: queueOf(executors('membership')),
  };
  const lease = new LeaseConnection({
    client: shared ?? writing(),
    clock,
    writer: `${node} lease`,
  });
  const payloads = new PayloadReads(
    new ReadPool([shared ?? caching()]),
    new LargePayloads(shared ?? planning(), address.isPooled),
    placement,
  );
  const atOnce = {
    api: new ReadPool(Array.from({ length: isSmall ? 1 : API_READERS }, planning)),
    firing: new ReadPool(shared === null ? Array.from({ length: FIRING_READERS }, caching) : [shared]),
  };
  try {
    await Promise.all(clients.map((client) => client.open()));
  } catch (error) {
    await Promise.all(clients.map((client) => client.close()));
    throw unavailableInstead(error);
  }
  // This is not awaited, and nothing depends on it.
  if (!isSmall && cachesPlans) for (const claimer of claimers) claimer.warmUp(CLAIM).catch(() => {});
  const onDemand = () => new ReadPool(Array.from({ length: ON_DEMAND_READERS }, planning), true);
  return {
    writers,
    pools: { ...atOnce, insight: onDemand(), search: onDemand() },
    payloads,
    lease,
    placement,
    close: async () => {
      await Promise.all(Object.values(writers).map((writer) => writer.close()));
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
