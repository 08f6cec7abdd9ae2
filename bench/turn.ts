/**
 * One turn of a contender: warmed up by a small burst, by which its connections are open and it is known how
 * long storing takes; then what was asked for, one after the other. Everything is stored before the first is
 * due: what is measured is the sending, not the storing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrivals } from './arrivals.ts';
import type { CreateLoad, Order, RunningContender } from './contender.ts';
import type { Notes } from './receiver.ts';
import { type CreatesRound, type LatenessRound, latenessRound } from './results.ts';

/** A contender that is warm, and where its requests arrive. */
export interface Stage {
  readonly running: RunningContender;
  readonly arrivals: Arrivals;
  /** As the last that were stored have shown. */
  storeMsEach: number;
}

const MS_PER_SECOND = 1_000;
const MICROS_PER_MS = 1_000;
const MINUTE_MS = 60_000;
/** Endpoints, so that every node has its part of them. */
const PATHS = 200;
const WARM_UP_ORDERS = 500;
const WARM_UP_SECONDS = 1;
/** Until it is known. */
const STORE_MS_EACH_COLD = 0.8;
/** Beside somewhat more than what storing should take. */
const LEAD_MS = 1_300;
const STORE_MARGIN = 1.3;
/** Storing has ended by then; before, it would be measured too. */
const QUIET_MS = 300;
/** Sched takes nothing that is due within a second. */
const SOONEST_MS = 1_100;
/** How often the work is planned anew, with more time to store, before it is given up. */
const ATTEMPTS_MAX = 3;
/** What was stored in a hurry is over by then. */
const HASTE_MS = 5_000;
const HASTE_FACTOR = 2;
const ARRIVE_MS_MAX = 30_000;
/** After the last arrival: outcomes are written, and what is sent again arrives. */
const SETTLE_MS = 500;

export async function warmUp(running: RunningContender, arrivals: Arrivals): Promise<Stage> {
  const stage = { running, arrivals, storeMsEach: STORE_MS_EACH_COLD };
  await runOrders(stage, {
    name: 'warm',
    duesFrom: (start) => together(WARM_UP_ORDERS, start),
    count: WARM_UP_ORDERS,
    arriveMsMax: ARRIVE_MS_MAX,
  });
  return stage;
}

/** Evenly spaced. */
export async function paced(
  stage: Stage,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<LatenessRound> {
  const count = rate * seconds;
  return runOrders(stage, {
    name: 'paced',
    duesFrom: (start) =>
      Array.from({ length: count }, (_, n) => Math.round(start + (n * MS_PER_SECOND) / rate)),
    count,
    arriveMsMax: ARRIVE_MS_MAX,
  });
}

/** All at one instant. */
export async function burst(
  stage: Stage,
  { count, secondsMax }: { readonly count: number; readonly secondsMax: number },
): Promise<LatenessRound> {
  return runOrders(stage, {
    name: 'burst',
    duesFrom: (start) => together(count, start),
    count,
    arriveMsMax: secondsMax * MS_PER_SECOND,
  });
}

/** Schedules that all fire at the next full minute for which they can be stored. */
export async function recurring(
  stage: Stage,
  { schedules, secondsMax }: { readonly schedules: number; readonly secondsMax: number },
): Promise<LatenessRound> {
  return runOrders(stage, {
    name: 'recurring',
    duesFrom: (start) => together(schedules, Math.ceil(start / MINUTE_MS) * MINUTE_MS),
    count: schedules,
    arriveMsMax: secondsMax * MS_PER_SECOND,
    isRecurring: true,
  });
}

/** What recurs is stored within one minute: what were stored before a full minute would fire at that one already. */
export function beforeStoringMs(leadMs: number, now: number): number {
  const leftMs = MINUTE_MS - (now % MINUTE_MS);
  return leadMs < leftMs ? 0 : leftMs;
}

/** As fast as it can, warmed up by the same. */
export async function creates(running: RunningContender, load: CreateLoad): Promise<CreatesRound> {
  await running.create({ ...load, seconds: WARM_UP_SECONDS });
  const cpu = cpuWatch(running);
  const { created, failed, seconds, p50Ms, p99Ms } = await running.create(load);
  const cpuMs = cpu();
  return {
    perSecond: created / seconds,
    failed,
    p50Ms,
    p99Ms,
    cpuMicrosEach: cpuMs === null || created === 0 ? null : (cpuMs * MICROS_PER_MS) / created,
  };
}

interface Plan {
  /** In the path of every request. */
  readonly name: string;
  readonly count: number;
  /** In the order of their instants, none before the start. */
  readonly duesFrom: (start: number) => readonly number[];
  /** After the last instant. */
  readonly arriveMsMax: number;
  readonly isRecurring?: boolean;
}

async function runOrders(stage: Stage, plan: Plan): Promise<LatenessRound> {
  const { arrivals } = stage;
  for (let attempts = 1; ; attempts++) {
    const leadMs = LEAD_MS + STORE_MARGIN * plan.count * stage.storeMsEach;
    if (plan.isRecurring === true) await sleep(beforeStoringMs(leadMs, Date.now()));
    const start = Date.now() + leadMs;
    const path = freshPath(plan.name);
    const orders = ordersOf(arrivals.url + path, plan.duesFrom(start));
    const [first = 0, last = 0] = [orders[0]?.due, orders.at(-1)?.due];
    arrivals.expect({ path, count: plan.count });
    const estimateMsEach = stage.storeMsEach;
    if (await isStoredInTime(stage, plan, orders, first)) {
      await sleep(first - QUIET_MS - Date.now());
      return measure(stage, path, plan, last);
    }
    if (attempts === ATTEMPTS_MAX) throw new Error('Storing takes longer each time: nothing was measured.');
    stage.storeMsEach = Math.max(stage.storeMsEach, estimateMsEach) * HASTE_FACTOR;
    await arrivals.complete(path, last - Date.now() + HASTE_MS);
  }
}

/** Where time runs out a contender may refuse what is left: that is the same. */
async function isStoredInTime(
  stage: Stage,
  { count, isRecurring }: Plan,
  orders: readonly Order[],
  firstDue: number,
): Promise<boolean> {
  const { running } = stage;
  const start = performance.now();
  try {
    await (isRecurring ? running.storeRecurring(orders) : running.store(orders));
  } catch (error) {
    if (Date.now() < firstDue - SOONEST_MS) throw error;
    return false;
  }
  stage.storeMsEach = (performance.now() - start) / count;
  return Date.now() <= firstDue - QUIET_MS;
}

let paths = 0;

/** What comes late, or was stored in a hurry, does not count in what follows. */
function freshPath(name: string): string {
  paths++;
  return `/${name}-${paths}/`;
}

async function measure(
  { running, arrivals }: Stage,
  path: string,
  { count, arriveMsMax }: Plan,
  lastDue: number,
): Promise<LatenessRound> {
  const cpu = cpuWatch(running);
  await arrivals.complete(path, lastDue - Date.now() + arriveMsMax);
  await sleep(SETTLE_MS);
  return roundOf(count, await arrivals.notes(path), cpu());
}

export function roundOf(expected: number, notes: Notes, cpuMs: number | null): LatenessRound {
  if (notes.latenessMs.length === 0) throw new Error('Nothing arrived.');
  return latenessRound({ expected, latenessMs: notes.latenessMs, repeated: notes.repeated, cpuMs });
}

/** Processor time since then. */
export function cpuWatch(running: RunningContender): () => number | null {
  const before = running.cpuMs();
  return () => {
    const after = running.cpuMs();
    return before === null || after === null ? null : after - before;
  };
}

function together(count: number, at: number): readonly number[] {
  return Array.from({ length: count }, () => Math.round(at));
}

/** Numbered in the order of their instants, for so many endpoints in turn. */
export function ordersOf(url: string, dues: readonly number[]): readonly Order[] {
  return dues.map((due, number) => ({ number, due, url: url + (number % PATHS) }));
}
