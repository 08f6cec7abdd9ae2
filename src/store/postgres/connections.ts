/**
 * The connections of a store, each for one kind of work, so that none of them waits behind another.
 *
 * Five lanes write: what the API stores, what is claimed or deferred, what is settled or cleared
 * away, the pieces of sweeps, and the slots that change hands. A piece locks many rows, in the order of their ids, so
 * nothing else shares its transaction. The lifeline carries what keeps this node alive, and nothing else. Small payloads
 * and large payloads are read apart from each other and from everything else. What is read for the API, its searches,
 * what is read on the way to a request and what people look at have connections of their own as well.
 */
import type { Client } from 'pg';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { SqlRunner } from '#src/store/sql/steps.ts';
import type { DatabaseAddress } from './address.ts';
import { connector } from './connect.ts';
import { Executor } from './executor.ts';
import { unavailableInstead } from './faults.ts';
import { LabelSearcher } from './label-searcher.ts';
import { LargePayloads } from './large-payloads.ts';
import { LeaseConnection } from './lease-connection.ts';
import { OnDemandReadPool } from './on-demand-read-pool.ts';
import { decodeText } from './parameter-encoding.ts';
import { PayloadReads } from './payload-reads.ts';
import { prepareSchema } from './prepare-schema.ts';
import { type Reader, ReadPool } from './read-pool.ts';
import { ReconnectingClient } from './reconnecting-client.ts';
import { statements } from './statements.ts';
import { allowPipelining } from './transaction.ts';
import { WriteQueue } from './write-queue.ts';

export interface PostgresOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** Of this process, among all that write to this database. */
  readonly node: string;
  /** Whether to makeClient the schema or bring it up to date; else it must be. */
  readonly migrate: boolean;
  /** For a command, which asks little and one thing after the other. */
  readonly isSmall?: boolean;
}

const API_READERS = 4;
const FIRING_READERS = 2;
const ON_DEMAND_READERS = 2;

interface Writers {
  readonly api: WriteQueue;
  readonly claiming: WriteQueue;
  readonly settling: WriteQueue;
  readonly maintenance: WriteQueue;
  readonly membership: WriteQueue;
}

interface Pools {
  readonly api: ReadPool;
  readonly firing: ReadPool;
  readonly insight: OnDemandReadPool;
  readonly search: LabelSearcher;
}

export interface Connections {
  readonly writers: Writers;
  readonly pools: Pools;
  readonly payloads: PayloadReads;
  readonly lease: LeaseConnection;
  /** Whether the tables are spread over several servers. */
  readonly distributed: boolean;
  close(): Promise<void>;
}

export async function openConnections(options: PostgresOptions): Promise<Connections> {
  const { address, clock, timers, node, isSmall = false } = options;
  const connect = connector(address, { timers, decodeText });
  const distributed = await prepareSchema(options, connect);
  const cachesPlans = !distributed && !address.isPooled;
  const keeping = connector(address, { timers, decodeText, cachesPlans });
  const writing = cachesPlans
    ? connector(address, { timers, decodeText, cachesPlans, prepare: allowPipelining })
    : connect;
  const clients: ReconnectingClient[] = [];
  const makeClient = (by: () => Promise<Client>) =>
    new ReconnectingClient({
      connect: by,
      timers,
      prepares: !address.isPooled,
      cachesPlans: cachesPlans && by !== connect,
    });
  const openClient = async (by: () => Promise<Client>) => {
    const made = makeClient(by);
    clients.push(made);
    await made.open();
    return made;
  };
  const open = (count: number, by: () => Promise<Client>) =>
    Promise.all(Array.from({ length: count }, () => openClient(by)));
  const known = statements(distributed);
  const writeQueue = async (name: string) => {
    const writer = `${node} ${name}`;
    return new WriteQueue(
      new Executor({
        client: await openClient(writing),
        clock,
        timers,
        writer,
        statements: known,
        distributed,
      }),
    );
  };
  try {
    const shared = isSmall ? await openClient(keeping) : null;
    const [
      api,
      claiming,
      settling,
      maintenance,
      membership,
      apiReaders,
      firingReaders,
      living,
      small,
      large,
    ] = await Promise.all([
      writeQueue('api'),
      writeQueue('claiming'),
      writeQueue('settling'),
      isSmall ? null : writeQueue('maintenance'),
      writeQueue('membership'),
      open(isSmall ? 1 : API_READERS, connect),
      shared === null ? open(FIRING_READERS, keeping) : [shared],
      shared ?? openClient(writing),
      shared ?? openClient(keeping),
      shared ?? openClient(connect),
    ]);
    const onDemand = () => Array.from({ length: ON_DEMAND_READERS }, () => makeClient(connect));
    const writers = { api, claiming, settling, maintenance: maintenance ?? api, membership };
    const pools = {
      api: new ReadPool(apiReaders),
      firing: new ReadPool(firingReaders),
      insight: new OnDemandReadPool(onDemand),
      search: new LabelSearcher(onDemand, timers),
    };
    const smallPayloads = new ReadPool([small]);
    return {
      writers,
      pools,
      payloads: new PayloadReads(smallPayloads, new LargePayloads(large)),
      lease: new LeaseConnection({ client: living, clock, statements: known, writer: `${node} lease` }),
      distributed,
      close: async () => {
        await Promise.all(Object.values(writers).map((one) => one.close()));
        for (const pool of [pools.api, pools.firing, smallPayloads]) pool.close();
        await Promise.all([pools.insight.close(), pools.search.close()]);
        await Promise.all(clients.map((one) => one.close()));
      },
    };
  } catch (error) {
    await Promise.all(clients.map((one) => one.close()));
    throw unavailableInstead(error);
  }
}

/** The queries of a family go to `reader`, its verbs to `writer`. */
export function sqlRunner(reader: Reader, writer: WriteQueue): SqlRunner {
  return {
    query: (sql, ...values) => reader.query(sql, ...values),
    lookUp: (sql, ...values) => reader.lookUp(sql, ...values),
    run: (steps) => writer.run(steps),
  };
}
