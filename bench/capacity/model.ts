/**
 * The model of capacity: what a load needs, by what each piece of work was measured to cost. All functions are pure.
 *
 * Costs fall with the rate, because work is done in batches. Each cost was measured at a low rate and in a burst. The
 * use of a resource by one node is a line through these points: nothing at rate 0, then the paced use, then the use in
 * a burst. Above the burst, each piece of work costs as much as in the burst, and at no rate does it cost less. The use
 * therefore never falls when the rate rises or when more nodes share the work. Between the two sizes of bodies that were measured, and above them, the cost is a straight line.
 */
import { SLOTS } from '../../src/domain/slot.ts';
import {
  type CostPoint,
  type CostStore,
  type Resource,
  type StoreCosts,
  type Usage,
  usageOf,
  type Work,
} from './costs.ts';

export interface Load {
  /** Deliveries in a second. */
  readonly rate: number;
  readonly bodyBytes: number;
  /** Retries for each delivery: 0.05 is one retry in twenty deliveries. */
  readonly retries: number;
  /** Creates for each delivery. A recurring schedule is created once for many deliveries. */
  readonly creates: number;
  /** The share of requests that need a new connection to their host. */
  readonly newConnections: number;
  /** How long receivers take to answer. */
  readonly answerSeconds: number;
  /** How long history is kept. */
  readonly retentionSeconds: number;
}

/** The machines. The figures come from the reader, and defaults are assumptions. */
export interface Machines {
  /** Cores of the database, or of each server of a Citus cluster. */
  readonly databaseCores: number;
  /** Workers of a Citus cluster. */
  readonly workers: number;
  /** The share of a core that may be busy. The rest is for peaks. */
  readonly load: number;
  /** The speed of a core, compared with the machine of the measurement. */
  readonly coreSpeed: number;
}

/** What a load needs of everything, while it lasts. */
export interface Needs {
  /** Null if no number of nodes is enough: the slots cannot be shared more finely. */
  readonly nodes: number | null;
  /** The work of this many nodes. A fraction shows how full they are. */
  readonly nodesOfWork: number;
  readonly nodeCores: number;
  /** Null on SQLite, which has no server. */
  readonly databaseCores: number | null;
  /** Cores of all workers of a Citus cluster together. Null elsewhere. */
  readonly workerCores: number | null;
  /** The share of one core that SQLite's writing thread uses. */
  readonly writerCores: number;
  readonly writtenBytesPerSecond: number;
  readonly commitsPerSecond: number | null;
  readonly statementsPerSecond: number | null;
  readonly roundTripsPerSecond: number | null;
  readonly networkBytesPerSecond: number | null;
  readonly connections: number;
  readonly diskBytes: number;
  /** Requests that wait for their answers. */
  readonly inFlight: number;
}

/** Documented in docs/operations.md. */
export const CONNECTIONS_PER_NODE: Readonly<Record<CostStore, number>> = {
  sqlite: 0,
  postgres: 14,
  citus: 39,
};
export const PERMITS_PER_NODE = 2_048;
const PERMIT_BYTES = 65_536;
const MICROS_PER_SECOND = 1e6;

/** The works that happen with each delivery, and how often. Upkeep is added apart: not every node does it. */
function ratesOf({ creates, retries, newConnections }: Load): readonly (readonly [Work, number])[] {
  return [
    ['create', creates],
    ['delivery', 1],
    ['retry', retries],
    ['connection', newConnections * (1 + retries)],
  ];
}

/** Interpolates between the body sizes of two points. Nothing costs less than 0. */
function atBody(points: readonly CostPoint[], bodyBytes: number, resource: Resource): number {
  const [small, large] = points.toSorted((a, b) => a.bodyBytes - b.bodyBytes);
  const low = small?.each[resource] ?? 0;
  if (small === undefined || large === undefined) return low;
  const slope = ((large.each[resource] ?? 0) - low) / (large.bodyBytes - small.bodyBytes);
  return Math.max(0, low + Math.max(0, slope) * (bodyBytes - small.bodyBytes));
}

/** The use of a resource by one node that does this much of one work in a second. */
export function useOf(
  { points }: StoreCosts,
  work: Work,
  perSecond: number,
  bodyBytes: number,
  resource: Resource,
): number {
  const ofWork = points.filter((point) => point.work === work);
  if (ofWork.length === 0) return 0;
  const pacedRate = Math.min(...ofWork.map((point) => point.perSecond));
  const burst = ofWork.filter((point) => point.perSecond !== pacedRate);
  const burstEach = atBody(burst, bodyBytes, resource);
  const paced = ofWork.filter((point) => point.perSecond === pacedRate);
  const pacedUse = Math.max(atBody(paced, bodyBytes, resource), burstEach) * pacedRate;
  if (burst.length === 0 || perSecond <= pacedRate) return (pacedUse * perSecond) / pacedRate;
  const burstRate = Math.min(...burst.map((point) => point.perSecond));
  const burstUse = Math.max(pacedUse, burstEach * burstRate);
  if (perSecond >= burstRate) return (burstUse * perSecond) / burstRate;
  return pacedUse + ((burstUse - pacedUse) * (perSecond - pacedRate)) / (burstRate - pacedRate);
}

/** What one node uses of a resource in a second, with this share of the load. */
function nodeUse(costs: StoreCosts, load: Load, share: number, resource: Resource): number {
  const works = ratesOf(load).map(([work, each]) =>
    useOf(costs, work, load.rate * share * each, load.bodyBytes, resource),
  );
  return works.reduce((sum, use) => sum + use, costs.idle[resource] ?? 0);
}

/** What all nodes, and the database for them, use in a second if they share the load evenly. */
export function nodesUse(costs: StoreCosts, load: Load, nodes: number): Usage {
  return usageOf((resource) =>
    costs.points.every(({ each }) => each[resource] === null)
      ? null
      : nodes * nodeUse(costs, load, 1 / nodes, resource),
  );
}

/** What is used in a second to remove dead row versions, and history after its retention. */
function upkeepUse(costs: StoreCosts, { rate, bodyBytes }: Load, resource: Resource): number {
  return (
    useOf(costs, 'vacuum', rate, bodyBytes, resource) + useOf(costs, 'removal', rate, bodyBytes, resource)
  );
}

function everythingUse(costs: StoreCosts, load: Load, nodes: number): Usage {
  const use = nodesUse(costs, load, nodes);
  return usageOf((resource) => {
    const value = use[resource];
    return value === null ? null : value + upkeepUse(costs, load, resource);
  });
}

/** The rate of a burst of small bodies on the machine that was measured, which all processes share. */
export function burstRateOn(cores: number, { points, receiverMicros }: StoreCosts): number | null {
  const burst = burstOf(points);
  if (burst === undefined || receiverMicros === null) return null;
  const { mainMicros, nodeMicros, databaseMicros } = burst.each;
  const allMicros = (nodeMicros ?? 0) + (databaseMicros ?? 0) + receiverMicros;
  return MICROS_PER_SECOND / Math.max(mainMicros ?? 0, allMicros / cores);
}

/** The burst of small bodies. */
export function burstOf(points: readonly CostPoint[]): CostPoint | undefined {
  const deliveries = points.filter(({ work }) => work === 'delivery');
  return deliveries.toSorted((a, b) => a.bodyBytes - b.bodyBytes || b.perSecond - a.perSecond)[0];
}

function permitsOf({ rate, retries, answerSeconds, bodyBytes }: Load): number {
  return rate * (1 + retries) * answerSeconds * Math.max(1, Math.ceil(bodyBytes / PERMIT_BYTES));
}

/** Whether one node carries this share of the load. */
function isNodeEnough(
  costs: StoreCosts,
  load: Load,
  share: number,
  { load: most, coreSpeed }: Machines,
): boolean {
  const micros = most * coreSpeed * MICROS_PER_SECOND;
  return (
    nodeUse(costs, load, share, 'mainMicros') <= micros &&
    nodeUse(costs, load, share, 'writerMicros') <= micros &&
    permitsOf(load) * share <= PERMITS_PER_NODE
  );
}

/** Slots are whole, so the busiest of many nodes has more than an even share. */
function busiestShare(nodes: number): number {
  return Math.ceil(SLOTS / nodes) / SLOTS;
}

export function nodesFor(costs: StoreCosts, load: Load, machines: Machines): number | null {
  for (let nodes = 1; nodes <= SLOTS; nodes++) {
    if (isNodeEnough(costs, load, busiestShare(nodes), machines)) return nodes;
  }
  return null;
}

/** The highest rate at which a condition holds that does not hold for any higher one. 0 if it never holds. */
export function highestRate(load: Load, holds: (load: Load) => boolean): number {
  const RATE_MIN = 0.01;
  const RATE_MAX = 1e9;
  const at = (rate: number) => holds({ ...load, rate });
  if (!at(RATE_MIN)) return 0;
  if (at(RATE_MAX)) return Number.POSITIVE_INFINITY;
  let [low, high] = [RATE_MIN, RATE_MAX];
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (at(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The highest rate of one node. */
export function nodeRate(costs: StoreCosts, load: Load, machines: Machines): number {
  return highestRate(load, (each) => isNodeEnough(costs, each, 1, machines));
}

export function needsOf(store: CostStore, costs: StoreCosts, load: Load, machines: Machines): Needs {
  const nodes = store === 'sqlite' ? 1 : nodesFor(costs, load, machines);
  const nodesOfWork = load.rate / nodeRate(costs, load, machines);
  // If one node carries nothing, no number does.
  const sharing = nodes ?? (Number.isFinite(nodesOfWork) ? Math.ceil(nodesOfWork) : SLOTS);
  const use = everythingUse(costs, load, sharing);
  const cores = (micros: number | null) =>
    micros === null ? null : micros / (MICROS_PER_SECOND * machines.coreSpeed);
  const seconds = load.retentionSeconds;
  return {
    nodes: store === 'sqlite' && !isNodeEnough(costs, load, 1, machines) ? null : nodes,
    nodesOfWork,
    nodeCores: cores(use.nodeMicros) ?? 0,
    databaseCores: cores(use.databaseMicros),
    workerCores: cores(use.workerMicros),
    writerCores: store === 'sqlite' ? (cores(use.writerMicros) ?? 0) : 0,
    writtenBytesPerSecond: use.writtenBytes ?? 0,
    commitsPerSecond: use.commits,
    statementsPerSecond: use.statements,
    roundTripsPerSecond: use.roundTrips,
    networkBytesPerSecond: use.networkBytes,
    connections: CONNECTIONS_PER_NODE[store] * sharing,
    diskBytes: (use.diskBytes ?? 0) * seconds,
    inFlight: load.rate * (1 + load.retries) * load.answerSeconds,
  };
}
