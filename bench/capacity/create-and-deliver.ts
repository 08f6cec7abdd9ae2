/**
 * Creates schedules and lets them be delivered. The first one is due only after the last one is created, so that the
 * cost of a create and the cost of a delivery can be told apart.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../contender.ts';
import type { Receiver } from '../receiver.ts';
import type { UnusualAnswers } from '../receiver-process.ts';
import { type CostPoint, combine, scaled, type Usage } from './costs.ts';
import type { Counters } from './counters.ts';
import { type CreateTarget, createAll } from './paced-creates.ts';

/** A service that is warm. */
export interface MeasuredNode {
  readonly target: CreateTarget;
  readonly counters: Pick<Counters, 'read'>;
  readonly receiver: Receiver;
  /** What the service uses in a second while it has nothing to do. */
  readonly idle: Usage;
  /** The last creates took this long. */
  createMsEach: number;
}

export interface DeliveryPlan {
  readonly count: number;
  readonly bodyBytes: number;
  /** Creates in a second, and deliveries in a second. Null is a burst. */
  readonly pace: number | null;
  readonly answers?: UnusualAnswers;
}

const MS_PER_SECOND = 1_000;
/** Few deliveries to each endpoint, so that no breaker opens when all of them fail once. */
const DELIVERIES_PER_ENDPOINT = 3;
const CREATE_MARGIN = 2;
/** The first delivery is due this long after the last create, so that nothing is prefetched while creating. */
const GAP_MS = 3_000;
const GAP_MS_MIN = 2_200;
/** Sched accepts no schedule that is due within a second. */
const SOONEST_MS = 1_500;
const ATTEMPTS_MAX = 4;
/** After creates that took too long, the next are expected to take longer by this factor. */
const SLOWER = 2;
/** What was created too late has arrived after this time. */
const LATE_MS_MAX = 8_000;
const ARRIVE_MS_MAX = 60_000;
/** Outcomes are written after the last arrival. */
const SETTLE_MS = 1_000;

/** Returns the costs of a create and of a delivery. */
export async function createAndDeliver(
  node: MeasuredNode,
  plan: DeliveryPlan,
): Promise<readonly [CostPoint, CostPoint]> {
  for (let attempt = 1; ; attempt++) {
    const measured = await attemptTo(node, plan);
    if (measured !== null) return measured;
    if (attempt === ATTEMPTS_MAX) throw new Error('Creating takes longer each time: nothing was measured.');
  }
}

/** Returns null if the creates took so long that the first delivery was due too soon after them. */
async function attemptTo(
  node: MeasuredNode,
  plan: DeliveryPlan,
): Promise<readonly [CostPoint, CostPoint] | null> {
  const { receiver, counters, target, idle } = node;
  const { count, bodyBytes, pace, answers } = plan;
  const path = uniquePath();
  const createMs = pace === null ? count * node.createMsEach * CREATE_MARGIN : (count / pace) * MS_PER_SECOND;
  const first = Math.round(Date.now() + createMs + GAP_MS);
  const jobs = jobsFrom(first, receiver.url + path, plan);
  receiver.expect({ path, count, ...(answers === undefined ? {} : { answers }) });

  const before = await counters.read();
  const createdInMs = await createdInTime(createAll(target, jobs, { bodyBytes, pace }), first);
  const created = await counters.read();
  const createdAt = performance.now();
  const isInTime = createdInMs !== null && Date.now() < first - GAP_MS_MIN;
  if (pace === null) node.createMsEach = isInTime ? createdInMs / count : node.createMsEach * SLOWER;
  const last = jobs.at(-1)?.due ?? first;
  const isComplete = await receiver.complete(
    path,
    last - Date.now() + (isInTime ? ARRIVE_MS_MAX : LATE_MS_MAX),
  );
  await sleep(SETTLE_MS);
  if (!isInTime) return null;
  if (!isComplete) throw new Error('Some deliveries did not arrive.');
  const delivered = await counters.read();
  const deliverySeconds = (performance.now() - createdAt) / MS_PER_SECOND;
  const { lastAt } = await receiver.arrivalsAt(path);
  const createSeconds = createdInMs / MS_PER_SECOND;
  const sentSeconds = Math.max((lastAt ?? last) - first, 1) / MS_PER_SECOND;
  const create = netOf({ before, after: created, idle, seconds: createSeconds, count });
  const delivery = netOf({ before: created, after: delivered, idle, seconds: deliverySeconds, count });
  return [
    { work: 'create', bodyBytes, count, perSecond: pace ?? count / createSeconds, each: create },
    { work: 'delivery', bodyBytes, count, perSecond: pace ?? count / sentSeconds, each: delivery },
  ];
}

/** Returns null if the service refused creates because their instant was too near. */
async function createdInTime(creates: Promise<number>, firstDue: number): Promise<number | null> {
  try {
    return await creates;
  } catch (error) {
    if (Date.now() < firstDue - SOONEST_MS) throw error;
    return null;
  }
}

function jobsFrom(first: number, url: string, { count, pace }: DeliveryPlan): readonly Job[] {
  const endpoints = Math.ceil(count / DELIVERIES_PER_ENDPOINT);
  return Array.from({ length: count }, (_, number) => ({
    number,
    due: pace === null ? first : Math.round(first + (number * MS_PER_SECOND) / pace),
    url: `${url}${number % endpoints}`,
  }));
}

/** What each piece of work used, without what the service uses anyway. */
export function netOf(window: {
  readonly before: Usage;
  readonly after: Usage;
  readonly idle: Usage;
  readonly seconds: number;
  readonly count: number;
}): Usage {
  const { before, after, idle, seconds, count } = window;
  const used = combine(after, before, (end, start) => end - start);
  const net = combine(used, scaled(idle, seconds), (all, unused) => Math.max(0, all - unused));
  return scaled(net, 1 / count);
}

let paths = 0;

/** Late arrivals must not count for the next measurement. */
function uniquePath(): string {
  paths++;
  return `/costs-${paths}/`;
}
