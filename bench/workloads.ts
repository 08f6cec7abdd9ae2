/**
 * The workloads of one running contender. A small burst warms it up: its connections are open afterwards, and the time
 * that storing takes is known. The workloads follow one after the other. Every job is stored before the first one is
 * due, so that only sending is measured.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CreateLoad, Job, Resources, RunningContender } from './contender.ts';
import { type CpuTime, latenessRound } from './lateness.ts';
import type { Progress } from './progress.ts';
import type { Receiver } from './receiver.ts';
import type { Arrivals } from './receiver-process.ts';
import type { CreatesRound, LatenessRound, Scale } from './results.ts';

/** The resources, the scale and the progress that every measurement of a run shares. */
export interface BenchContext {
  readonly resources: Resources;
  readonly receiver: Receiver;
  readonly scale: Scale;
  readonly progress: Progress;
}

/** A contender that is warm, and the receiver of its requests. */
export interface WarmContender {
  readonly running: RunningContender;
  readonly receiver: Receiver;
  /** The last workload measured this time for each job. */
  storeMsEach: number;
}

const MS_PER_SECOND = 1_000;
const MICROS_PER_MS = 1_000;
const MINUTE_MS = 60_000;
/** The number of endpoints. Every node owns some of them. */
const PATHS = 200;
const WARM_UP_JOBS = 500;
const WARM_UP_SECONDS = 1;
/** The estimate before anything was stored. */
const STORE_MS_EACH_COLD = 0.8;
/** The first job is due this long after the estimated end of storing. */
const LEAD_MS = 1_300;
const STORE_MARGIN = 1.3;
/** Storing must end this long before the first job is due. Otherwise storing would be measured too. */
const QUIET_MS = 300;
/** Sched accepts no job that is due within a second. */
const SOONEST_MS = 1_100;
/** A workload is planned this many times, each time with more time to store, before the run fails. */
const PLANS_MAX = 3;
/** Jobs that were stored too late have arrived after this time. */
const STORED_LATE_WAIT_MS = 5_000;
const ESTIMATE_FACTOR = 2;
const ARRIVE_MS_MAX = 30_000;
/** After the last arrival, outcomes are written and requests that are sent again arrive. */
const SETTLE_MS = 500;

export async function warmUp(running: RunningContender, receiver: Receiver): Promise<WarmContender> {
  const warm = { running, receiver, storeMsEach: STORE_MS_EACH_COLD };
  await runWorkload(warm, {
    name: 'warm',
    duesFrom: (start) => atOneInstant(WARM_UP_JOBS, start),
    count: WARM_UP_JOBS,
    arriveMsMax: ARRIVE_MS_MAX,
  });
  return warm;
}

/** The jobs are due evenly spaced. */
export async function paced(
  warm: WarmContender,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<LatenessRound> {
  const count = rate * seconds;
  return runWorkload(warm, {
    name: 'paced',
    duesFrom: (start) =>
      Array.from({ length: count }, (_, n) => Math.round(start + (n * MS_PER_SECOND) / rate)),
    count,
    arriveMsMax: ARRIVE_MS_MAX,
  });
}

/** All jobs are due at one instant. */
export async function burst(
  warm: WarmContender,
  { count, secondsMax }: { readonly count: number; readonly secondsMax: number },
): Promise<LatenessRound> {
  return runWorkload(warm, {
    name: 'burst',
    duesFrom: (start) => atOneInstant(count, start),
    count,
    arriveMsMax: secondsMax * MS_PER_SECOND,
  });
}

/** All schedules fire at the next full minute for which they can be stored. */
export async function recurring(
  warm: WarmContender,
  { schedules, secondsMax }: { readonly schedules: number; readonly secondsMax: number },
): Promise<LatenessRound> {
  return runWorkload(warm, {
    name: 'recurring',
    duesFrom: (start) => atOneInstant(schedules, Math.ceil(start / MINUTE_MS) * MINUTE_MS),
    count: schedules,
    arriveMsMax: secondsMax * MS_PER_SECOND,
    isRecurring: true,
  });
}

/** Recurring schedules are stored within one minute. Those stored before a full minute would already fire at it. */
export function waitBeforeStoringMs(leadMs: number, now: number): number {
  const leftMs = MINUTE_MS - (now % MINUTE_MS);
  return leadMs < leftMs ? 0 : leftMs;
}

/** Creates as fast as the contender can, after a warm-up with the same load. */
export async function creates(running: RunningContender, load: CreateLoad): Promise<CreatesRound> {
  await running.create({ ...load, seconds: WARM_UP_SECONDS });
  const cpuTime = startCpuTimer(running);
  const { created, failed, seconds, p50Ms, p99Ms } = await running.create(load);
  const { ownMs, databaseMs } = cpuTime();
  const each = (ms: number | null) => (ms === null || created === 0 ? null : (ms * MICROS_PER_MS) / created);
  return {
    perSecond: created / seconds,
    failed,
    p50Ms,
    p99Ms,
    cpuMicrosEach: each(ownMs),
    databaseCpuMicrosEach: each(databaseMs),
  };
}

interface Workload {
  /** The path of every request begins with this name. */
  readonly name: string;
  readonly count: number;
  /** Returns the instants in ascending order. No instant is before the start. */
  readonly duesFrom: (start: number) => readonly number[];
  /** The longest wait for arrivals after the last instant. */
  readonly arriveMsMax: number;
  readonly isRecurring?: boolean;
}

async function runWorkload(warm: WarmContender, workload: Workload): Promise<LatenessRound> {
  const { receiver } = warm;
  for (let plans = 1; ; plans++) {
    const leadMs = LEAD_MS + STORE_MARGIN * workload.count * warm.storeMsEach;
    if (workload.isRecurring === true) await sleep(waitBeforeStoringMs(leadMs, Date.now()));
    const start = Date.now() + leadMs;
    const path = uniquePath(workload.name);
    const jobs = jobsOf(receiver.url + path, workload.duesFrom(start));
    const [first = 0, last = 0] = [jobs[0]?.due, jobs.at(-1)?.due];
    receiver.expect({ path, count: workload.count });
    const estimateMsEach = warm.storeMsEach;
    if (await isStoredInTime(warm, workload, jobs, first)) {
      await sleep(first - QUIET_MS - Date.now());
      return measure(warm, path, workload, last);
    }
    if (plans === PLANS_MAX) throw new Error('Storing takes longer each time: nothing was measured.');
    warm.storeMsEach = Math.max(warm.storeMsEach, estimateMsEach) * ESTIMATE_FACTOR;
    await receiver.complete(path, last - Date.now() + STORED_LATE_WAIT_MS);
  }
}

/** A contender may refuse the remaining jobs when time runs out. This counts as stored too late. */
async function isStoredInTime(
  warm: WarmContender,
  { count, isRecurring }: Workload,
  jobs: readonly Job[],
  firstDue: number,
): Promise<boolean> {
  const { running } = warm;
  const start = performance.now();
  try {
    await (isRecurring ? running.storeRecurring(jobs) : running.store(jobs));
  } catch (error) {
    if (Date.now() < firstDue - SOONEST_MS) throw error;
    return false;
  }
  warm.storeMsEach = (performance.now() - start) / count;
  return Date.now() <= firstDue - QUIET_MS;
}

let paths = 0;

/** Late arrivals of an earlier workload must not count for the next one. */
function uniquePath(name: string): string {
  paths++;
  return `/${name}-${paths}/`;
}

async function measure(
  { running, receiver }: WarmContender,
  path: string,
  { count, arriveMsMax }: Workload,
  lastDue: number,
): Promise<LatenessRound> {
  const cpu = startCpuTimer(running);
  await receiver.complete(path, lastDue - Date.now() + arriveMsMax);
  await sleep(SETTLE_MS);
  return roundOf(count, await receiver.arrivalsAt(path), cpu());
}

export function roundOf(expected: number, arrivals: Arrivals, cpu: CpuTime): LatenessRound {
  if (arrivals.latenessMs.length === 0) throw new Error('Nothing arrived.');
  return latenessRound({ expected, latenessMs: arrivals.latenessMs, repeated: arrivals.repeated, cpu });
}

/** Returns a function that tells the processor time since this call. */
export function startCpuTimer(running: RunningContender): () => CpuTime {
  const [own, database] = [running.cpuMs(), running.databaseCpuMs()];
  const workers = running.workersCpuMs?.() ?? null;
  return () => ({
    ownMs: since(own, running.cpuMs()),
    databaseMs: since(database, running.databaseCpuMs()),
    ...(running.workersCpuMs === undefined ? {} : { workersMs: since(workers, running.workersCpuMs()) }),
  });
}

/** Null if one of the two is not known. */
export function since(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}

function atOneInstant(count: number, at: number): readonly number[] {
  return Array.from({ length: count }, () => Math.round(at));
}

/** Jobs are numbered in the order of their instants. The endpoints are used in round robin. */
export function jobsOf(url: string, dues: readonly number[]): readonly Job[] {
  return dues.map((due, number) => ({ number, due, url: url + (number % PATHS) }));
}
