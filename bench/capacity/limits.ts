/**
 * What breaks, and at which rate. Each limit has an origin: it was measured, the docs state it, the reader gave it, or
 * it is an assumption with its reason. A limit also says what one does when it is reached.
 */
import { SLOTS } from '../../src/domain/slot.ts';
import type { CostStore, StoreCosts } from './costs.ts';
import { highestRate, type Load, type Machines, type Needs, needsOf } from './model.ts';

export type Origin = 'measured' | 'documented' | 'given' | 'assumed';

/** What servers and disks can do. These are assumptions that the reader can replace. */
export interface Capabilities {
  /** Write-ahead log that one server can write, in bytes a second. */
  readonly walBytesPerSecond: number;
  /** Data on one server, in bytes. */
  readonly diskBytes: number;
  /** Connections to one server. */
  readonly connections: number;
  /** Traffic of one server, in bytes a second. */
  readonly networkBytesPerSecond: number;
}

export const MB = 1e6;
export const TB = 1e12;

export const ASSUMED_CAPABILITIES: Capabilities = {
  walBytesPerSecond: 400 * MB,
  diskBytes: 16 * TB,
  connections: 2_000,
  networkBytesPerSecond: 1_250 * MB,
};

/** Why each assumption was made. */
export const REASONS: Readonly<Record<keyof Capabilities, string>> = {
  walBytesPerSecond:
    'a fast network disk or an NVMe disk writes two to five times as much, but checkpoints and a standby need their part',
  diskBytes: 'at 200 MB a second, a backup of this size takes a day to restore',
  connections: 'each takes about 10 MB of memory, so these take 20 GB',
  networkBytesPerSecond: '10 Gbit a second',
};

/** A checkpoint makes the next change of each page write the whole page to the log. */
export const FULL_PAGES_FACTOR = 2;

export interface Setting {
  readonly store: CostStore;
  readonly costs: StoreCosts;
  readonly machines: Machines;
  readonly capabilities: Capabilities;
  /** The capabilities and machine figures that the reader gave. The others are assumed. */
  readonly given: ReadonlySet<string>;
}

export type LimitName =
  | 'main thread'
  | 'writing thread'
  | 'slots'
  | 'database cores'
  | 'coordinator cores'
  | 'worker cores'
  | 'log'
  | 'disk'
  | 'connections'
  | 'network'
  | 'removal'
  | 'vacuum';

export interface Limit {
  readonly name: LimitName;
  /** For readers. Example: `cores of the database`. */
  readonly what: string;
  readonly need: (needs: Needs, load: Load) => number;
  readonly have: number;
  readonly origin: Origin;
  readonly remedy: string;
}

export interface BrokenLimit extends Limit {
  /** The highest rate that the limit allows. */
  readonly rate: number;
}

export function limitsOf({ store, costs, machines, capabilities, given }: Setting): readonly Limit[] {
  const upkeep = (name: 'removal' | 'vacuum', what: string): readonly Limit[] => {
    const point = costs.points.find(({ work }) => work === name);
    if (point === undefined) return [];
    const have = point.perSecond * machines.coreSpeed;
    return [{ name, what, need: (_, { rate }) => rate, have, origin: 'measured', remedy: REMEDIES[name] }];
  };
  const cores = machines.databaseCores * machines.load;
  const from = (name: string): Origin => (given.has(name) ? 'given' : 'assumed');
  const servers = store === 'citus' ? machines.workers : 1;
  const always: readonly Limit[] = [
    {
      name: 'log',
      what: store === 'sqlite' ? 'writes to the disk' : 'write-ahead log',
      need: ({ writtenBytesPerSecond }) =>
        writtenBytesPerSecond * (store === 'sqlite' ? 1 : FULL_PAGES_FACTOR),
      have: capabilities.walBytesPerSecond * servers,
      origin: from('walBytesPerSecond'),
      remedy: REMEDIES.log,
    },
    {
      name: 'disk',
      what: 'history on the disk',
      need: ({ diskBytes }) => diskBytes,
      have: capabilities.diskBytes * servers,
      origin: from('diskBytes'),
      remedy: REMEDIES.disk,
    },
    ...upkeep('removal', 'removal of old history, by one node'),
    ...upkeep('vacuum', 'vacuum of a table, by one process'),
  ];
  if (store === 'sqlite') {
    return [
      {
        name: 'main thread',
        what: 'the process, which has one main thread',
        need: ({ nodesOfWork }) => nodesOfWork,
        have: 1,
        origin: 'measured',
        remedy: REMEDIES['main thread'],
      },
      ...always,
    ];
  }
  return [
    {
      name: 'slots',
      what: `nodes: ${SLOTS} slots are shared out whole`,
      need: ({ nodes, nodesOfWork }) => (nodes === null ? Math.max(nodesOfWork, SLOTS + 1) : nodes),
      have: SLOTS,
      origin: 'documented',
      remedy: REMEDIES.slots,
    },
    {
      name: store === 'citus' ? 'coordinator cores' : 'database cores',
      what: store === 'citus' ? 'cores of the coordinator' : 'cores of the database',
      need: ({ databaseCores }) => databaseCores ?? 0,
      have: cores,
      origin: from('databaseCores'),
      remedy: store === 'citus' ? REMEDIES['coordinator cores'] : REMEDIES['database cores'],
    },
    ...(store === 'citus'
      ? [
          {
            name: 'worker cores',
            what: 'cores of the workers',
            need: ({ workerCores }: Needs) => workerCores ?? 0,
            have: cores * machines.workers,
            origin: from('workers'),
            remedy: REMEDIES['worker cores'],
          } as const,
        ]
      : []),
    {
      name: 'connections',
      what: 'connections of the database',
      need: ({ connections }) => connections,
      have: capabilities.connections,
      origin: from('connections'),
      remedy: REMEDIES.connections,
    },
    {
      name: 'network',
      what: 'network of the database',
      need: ({ networkBytesPerSecond }) => networkBytesPerSecond ?? 0,
      have: capabilities.networkBytesPerSecond,
      origin: from('networkBytesPerSecond'),
      remedy: REMEDIES.network,
    },
    ...always,
  ];
}

const REMEDIES: Readonly<Record<LimitName, string>> = {
  'main thread': 'Move to PostgreSQL with `sched move`, and run several nodes.',
  'writing thread': 'Move to PostgreSQL with `sched move`.',
  slots: 'Run a second installation, and divide the customers between the two.',
  'database cores': 'Take a larger server. Beyond the largest, run a second installation.',
  'coordinator cores': 'Take a larger coordinator. Beyond the largest, run a second installation.',
  'worker cores': 'Add workers and move shards to them.',
  log: 'Put the write-ahead log on a faster disk of its own, and raise `max_wal_size`. Then use Citus or a second installation.',
  disk: 'Shorten `SCHED_RETENTION`, or add disks. Keep large bodies elsewhere and send their address.',
  connections: 'Put PgBouncer in front, or give `max_connections` more memory.',
  network: 'Take a server with a faster network. Keep large bodies elsewhere and send their address.',
  vacuum:
    'Give autovacuum a higher `autovacuum_vacuum_cost_limit`. Then use Citus, where each worker vacuums its own part, or a second installation.',
  removal:
    'Old history stays longer than its retention, and the disk fills up. Divide the customers between installations.',
};

/** All limits, the one that breaks first in front. */
export function brokenInOrder(setting: Setting, load: Load): readonly BrokenLimit[] {
  const { store, costs, machines } = setting;
  return limitsOf(setting)
    .map((limit) => ({
      ...limit,
      rate: highestRate(
        load,
        (each) => limit.need(needsOf(store, costs, each, machines), each) <= limit.have,
      ),
    }))
    .toSorted((a, b) => a.rate - b.rate);
}
