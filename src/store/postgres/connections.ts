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
import type { Clock } from '#src/ports/clock.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import type { DatabaseAddress } from './address.ts';
import { AsideReader } from './aside-reader.ts';
import { connector } from './connect.ts';
import { Executor } from './executor.ts';
import { unavailableInstead } from './faults.ts';
import { LabelWalker } from './label-walker.ts';
import { LargePayloads } from './large-payloads.ts';
import { Lifeline } from './lifeline.ts';
import { Link } from './link.ts';
import { PayloadReads } from './payload-reads.ts';
import { prepareSchema } from './prepare-schema.ts';
import { ReadPool } from './read-pool.ts';
import { statements } from './statements.ts';
import { decodeText } from './text.ts';
import { allowPieces } from './transaction.ts';
import { WriteLane } from './write-lane.ts';

export interface PostgresOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** Of this process, among all that write to this database. */
  readonly node: string;
  /** Whether to make the schema or bring it up to date; else it must be. */
  readonly migrate: boolean;
  /** For a command, which asks little and one thing after the other. */
  readonly isSmall?: boolean;
}

const API_READERS = 4;
const FIRING_READERS = 2;
const ASIDE_READERS = 2;

interface Lanes {
  readonly api: WriteLane;
  readonly claiming: WriteLane;
  readonly settling: WriteLane;
  readonly upkeep: WriteLane;
  readonly membership: WriteLane;
}

interface Pools {
  readonly api: ReadPool;
  readonly firing: ReadPool;
  readonly aside: AsideReader;
  readonly walking: LabelWalker;
}

export interface Connections {
  readonly lanes: Lanes;
  readonly pools: Pools;
  readonly payloads: PayloadReads;
  readonly lifeline: Lifeline;
  /** Whether the tables are spread over several servers. */
  readonly distributed: boolean;
  close(): Promise<void>;
}

export async function openConnections(options: PostgresOptions): Promise<Connections> {
  const { address, clock, timers, node, isSmall = false } = options;
  const connect = connector(address, { timers, decodeText });
  const distributed = await prepareSchema(options, connect);
  const keepsPlans = !distributed && !address.isPooled;
  const keeping = connector(address, { timers, decodeText, keepsPlans });
  const writing = keepsPlans
    ? connector(address, { timers, decodeText, keepsPlans, prepare: allowPieces })
    : connect;
  const links: Link[] = [];
  const make = (by: () => Promise<Client>) =>
    new Link({
      connect: by,
      timers,
      prepares: !address.isPooled,
      keepsPlans: keepsPlans && by !== connect,
    });
  const link = async (by: () => Promise<Client>) => {
    const made = make(by);
    links.push(made);
    await made.open();
    return made;
  };
  const open = (count: number, by: () => Promise<Client>) =>
    Promise.all(Array.from({ length: count }, () => link(by)));
  const known = statements(distributed);
  const lane = async (name: string) => {
    const writer = `${node} ${name}`;
    return new WriteLane(
      new Executor({ link: await link(writing), clock, timers, writer, statements: known, distributed }),
    );
  };
  try {
    const shared = isSmall ? await link(keeping) : null;
    const [api, claiming, settling, upkeep, membership, apiReaders, firingReaders, living, small, large] =
      await Promise.all([
        lane('api'),
        lane('claiming'),
        lane('settling'),
        isSmall ? null : lane('upkeep'),
        lane('membership'),
        open(isSmall ? 1 : API_READERS, connect),
        shared === null ? open(FIRING_READERS, keeping) : [shared],
        shared ?? link(writing),
        shared ?? link(keeping),
        shared ?? link(connect),
      ]);
    const few = () => Array.from({ length: ASIDE_READERS }, () => make(connect));
    const lanes = { api, claiming, settling, upkeep: upkeep ?? api, membership };
    const pools = {
      api: new ReadPool(apiReaders),
      firing: new ReadPool(firingReaders),
      aside: new AsideReader(few),
      walking: new LabelWalker(few, timers),
    };
    const smallPayloads = new ReadPool([small]);
    return {
      lanes,
      pools,
      payloads: new PayloadReads(smallPayloads, new LargePayloads(large)),
      lifeline: new Lifeline({ link: living, clock, statements: known, writer: `${node} lease` }),
      distributed,
      close: async () => {
        await Promise.all(Object.values(lanes).map((one) => one.close()));
        for (const pool of [pools.api, pools.firing, smallPayloads]) pool.close();
        await Promise.all([pools.aside.close(), pools.walking.close()]);
        await Promise.all(links.map((one) => one.close()));
      },
    };
  } catch (error) {
    await Promise.all(links.map((one) => one.close()));
    throw unavailableInstead(error);
  }
}
