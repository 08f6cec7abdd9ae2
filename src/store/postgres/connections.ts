/**
 * The connections of a store. Each serves one kind of work, so that no kind waits for another.
 *
 * Four connections write: API writes; claims and settlements; sweeps, bulk replays, stats, uses of keys and removals;
 * and slots. A sweep may wait for a locked row, and a bulk replay writes hundreds of rows, so nothing that is urgent
 * shares their connection. Another connection only renews the lease of this node. Small and large payloads are read on connections of their own. So are API reads, searches, reads of the
 * engine and dashboard queries.
 */
import type { Client } from 'pg';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { DatabaseAddress } from './address.ts';
import { connector } from './connect.ts';
import { unavailableInstead } from './errors.ts';
import { Executor } from './executor.ts';
import { LargePayloads } from './large-payloads.ts';
import { LeaseConnection } from './lease-connection.ts';
import { decodeText } from './parameter-encoding.ts';
import { PayloadReads } from './payload-reads.ts';
import type { Placement } from './placement.ts';
import { prepareSchema } from './prepare-schema.ts';
import { ReadPool } from './read-pool.ts';
import { ReconnectingClient } from './reconnecting-client.ts';
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
  /** Searches by several labels. The server ends a scan that takes too long. */
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
  const connect = connector(address, { timers, decodeText });
  const placement = await prepareSchema(options, connect);
  const cachesPlans = placement.cachesPlans && !address.isPooled;
  const connectCaching = connector(address, { timers, decodeText, cachesPlans });
  const connectWriting = cachesPlans
    ? connector(address, { timers, decodeText, cachesPlans, prepare: allowPipelining })
    : connect;
  const clients: ReconnectingClient[] = [];
  const makeClient = (connectBy: () => Promise<Client>) =>
    new ReconnectingClient({
      connect: connectBy,
      timers,
      prepares: !address.isPooled,
      cachesPlans: cachesPlans && connectBy !== connect,
    });
  const openClient = async (connectBy: () => Promise<Client>) => {
    const made = makeClient(connectBy);
    clients.push(made);
    await made.open();
    return made;
  };
  const open = (count: number, connectBy: () => Promise<Client>) =>
    Promise.all(Array.from({ length: count }, () => openClient(connectBy)));
  const allStatements = statements(placement);
  const writeQueue = async (name: string) => {
    const writer = `${node} ${name}`;
    return new WriteQueue(
      new Executor({
        client: await openClient(connectWriting),
        clock,
        timers,
        writer,
        statements: allStatements,
        checksAtOnce: placement.checksAtOnce,
      }),
    );
  };
  try {
    const shared = isSmall ? await openClient(connectCaching) : null;
    const [api, firing, maintenance, membership, apiReaders, firingReaders, leaseClient, small, large] =
      await Promise.all([
        writeQueue('api'),
        writeQueue('firing'),
        isSmall ? null : writeQueue('maintenance'),
        writeQueue('membership'),
        open(isSmall ? 1 : API_READERS, connect),
        shared === null ? open(FIRING_READERS, connectCaching) : [shared],
        shared ?? openClient(connectWriting),
        shared ?? openClient(connectCaching),
        shared ?? openClient(connect),
      ]);
    const makeOnDemand = () => Array.from({ length: ON_DEMAND_READERS }, () => makeClient(connect));
    const writers = { api, firing, maintenance: maintenance ?? api, membership };
    const pools = {
      api: new ReadPool(apiReaders),
      firing: new ReadPool(firingReaders),
      insight: new ReadPool(makeOnDemand),
      search: new ReadPool(makeOnDemand),
    };
    return {
      writers,
      pools,
      payloads: new PayloadReads(new ReadPool([small]), new LargePayloads(large, address.isPooled)),
      lease: new LeaseConnection({
        client: leaseClient,
        clock,
        writer: `${node} lease`,
      }),
      placement,
      close: async () => {
        await Promise.all(Object.values(writers).map((one) => one.close()));
        await Promise.all(Object.values(pools).map((one) => one.close()));
        await Promise.all(clients.map((one) => one.close()));
      },
    };
  } catch (error) {
    await Promise.all(clients.map((one) => one.close()));
    throw unavailableInstead(error);
  }
}
