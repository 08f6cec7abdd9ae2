/** What Sched costs: the figures that `npm run bench -- --work costs` writes, and that the model of capacity reads. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../results.ts';

export const COSTS_FORMAT = 1;
/** The file is committed, so that the model works without a run. */
export const COSTS_FILE = join(import.meta.dirname, '../../docs/benchmarks/costs.json');

/** Significant digits in the file. */
const DIGITS = 4;

export const COST_STORES = ['sqlite', 'postgres', 'citus'] as const;
export type CostStore = (typeof COST_STORES)[number];

/** The resources that are counted, for one piece of work or for one second. */
export const RESOURCES = [
  'mainMicros',
  'writerMicros',
  'nodeMicros',
  'databaseMicros',
  'workerMicros',
  'writtenBytes',
  'commits',
  'statements',
  'roundTrips',
  'networkBytes',
  'diskBytes',
] as const;
export type Resource = (typeof RESOURCES)[number];

/**
 * - `mainMicros`: processor time of the node's main thread. It is a part of `nodeMicros`.
 * - `writerMicros`: that of its busiest other thread. With SQLite this is the thread that writes.
 * - `nodeMicros`: that of all threads of the node.
 * - `databaseMicros`: that of all processes of PostgreSQL. With Citus, those of the coordinator.
 * - `workerMicros`: that of all workers of Citus together.
 * - `writtenBytes`: write-ahead log of PostgreSQL, or what a node with SQLite wrote to its disk.
 * - `commits`: transactions that wrote.
 * - `statements`, `roundTrips`, `networkBytes`: between the node and the database, counted by a proxy.
 * - `diskBytes`: growth of the tables and their indexes.
 *
 * Null means that the figure does not exist for the store, or could not be counted.
 */
export type Usage = Readonly<Record<Resource, number | null>>;

export const NO_USAGE: Usage = {
  mainMicros: 0,
  writerMicros: 0,
  nodeMicros: 0,
  databaseMicros: 0,
  workerMicros: 0,
  writtenBytes: 0,
  commits: 0,
  statements: 0,
  roundTrips: 0,
  networkBytes: 0,
  diskBytes: 0,
};

/**
 * `delivery` is a first attempt that is answered with 2xx. `retry` is what a delivery costs more if its first attempt
 * fails. `connection` is what it costs more if it needs a new connection. `vacuum` removes the row versions that a
 * create and a delivery left behind. `removal` removes a delivery and its schedule after their retention.
 */
export const WORKS = ['create', 'delivery', 'retry', 'connection', 'vacuum', 'removal'] as const;
export type Work = (typeof WORKS)[number];

export interface CostPoint {
  readonly work: Work;
  readonly bodyBytes: number;
  /** Pieces of work in a second, on one node. */
  readonly perSecond: number;
  /** How many were measured. */
  readonly count: number;
  /** For each piece of work, without what an idle node uses. */
  readonly each: Usage;
}

export interface StoreCosts {
  /** What an idle node uses in a second. */
  readonly idle: Usage;
  readonly points: readonly CostPoint[];
  /** Processor time of the receiver for each delivery of a burst. Null if it is not known. */
  readonly receiverMicros: number | null;
}

/** A load that differs from all that was measured for the costs, so that it can test the model. */
export interface Check {
  readonly store: CostStore;
  readonly nodes: number;
  /** Creates in a second, and as many deliveries. */
  readonly rate: number;
  readonly bodyBytes: number;
  /** In a second, by all nodes and the database. */
  readonly used: Usage;
}

export interface Costs {
  readonly format: typeof COSTS_FORMAT;
  readonly command: string;
  /** ISO 8601. */
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly stores: Readonly<Record<CostStore, StoreCosts | null>>;
  readonly checks: readonly Check[];
}

export function readCosts(file: string = COSTS_FILE): Costs {
  const costs = JSON.parse(readFileSync(file, 'utf8')) as Costs;
  if (costs.format !== COSTS_FORMAT) {
    throw new Error(`${file} has another format. Measure again: npm run bench -- --work costs`);
  }
  return costs;
}

/** Applies a function to each resource. The result is null where one of the figures is. */
export function usageOf(of: (resource: Resource) => number | null): Usage {
  return Object.fromEntries(RESOURCES.map((resource) => [resource, of(resource)])) as Usage;
}

export function combine(a: Usage, b: Usage, how: (a: number, b: number) => number): Usage {
  return usageOf((resource) => {
    const [one, other] = [a[resource], b[resource]];
    return one === null || other === null ? null : how(one, other);
  });
}

export function scaled(usage: Usage, by: number): Usage {
  return usageOf((resource) => {
    const value = usage[resource];
    return value === null ? null : value * by;
  });
}

export function writeCosts(costs: Costs, file: string = COSTS_FILE): void {
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value;
  writeFileSync(file, `${JSON.stringify(costs, rounded, 2)}\n`);
}

/** The processor times, as lines for the terminal. */
export function costsSummary({ stores }: Costs): string {
  return COST_STORES.flatMap((store) =>
    (stores[store]?.points ?? []).map(({ work, bodyBytes, perSecond, each }) => {
      const micros = (resource: Resource) => Math.round(each[resource] ?? 0);
      return (
        `${store} ${work}, ${bodyBytes} bytes, ${Math.round(perSecond)} a second: ` +
        `main thread ${micros('mainMicros')} µs, node ${micros('nodeMicros')} µs, ` +
        `database ${micros('databaseMicros')} µs, written ${micros('writtenBytes')} bytes`
      );
    }),
  ).join('\n');
}
