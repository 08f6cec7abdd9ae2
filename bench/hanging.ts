/** Measures healthy endpoints alone and beside endpoints that never answer. The healthy ones must not wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, RunningContender } from './contender.ts';
import type { HangingResults, LatenessRound, Scale } from './results.ts';
import { schedOnSqlite } from './sched/contenders.ts';
import { type BenchContext, jobsOf, roundOf, startCpuTimer, warmUp } from './workloads.ts';

const HANGING = 100;
/** This is more than the number of requests that one endpoint may have in flight. */
const HANGING_EACH = 8;
const LEAD_MS = 6_000;
/** The requests that hang begin this long before the measured ones. */
const HANG_AHEAD_MS = 1_000;
const ARRIVE_MS_MAX = 30_000;
const MS_PER_SECOND = 1_000;
const PATH = '/healthy/';

export function hangingSteps({ rounds }: Scale): number {
  return rounds * 2;
}

/** The measurement uses SQLite only. */
export async function measureHanging(context: BenchContext): Promise<HangingResults> {
  const alone: LatenessRound[] = [];
  const beside: LatenessRound[] = [];
  for (let round = 1; round <= context.scale.rounds; round++) {
    context.progress.step(`round ${round}, healthy endpoints alone`);
    alone.push(await measure(context, 0));
    context.progress.step(`round ${round}, healthy endpoints beside ${HANGING} hanging ones`);
    beside.push(await measure(context, HANGING));
  }
  return { hanging: HANGING, alone, beside };
}

async function measure(
  { resources, receiver, scale }: BenchContext,
  hanging: number,
): Promise<LatenessRound> {
  await using running: RunningContender = await schedOnSqlite.start(resources);
  await warmUp(running, receiver);
  const { rate, seconds } = scale.paced;
  const start = Date.now() + LEAD_MS;
  const dues = Array.from({ length: rate * seconds }, (_, n) =>
    Math.round(start + (n * MS_PER_SECOND) / rate),
  );
  const hangs: readonly Job[] = Array.from({ length: hanging * HANGING_EACH }, (_, number) => ({
    number,
    due: start - HANG_AHEAD_MS,
    url: `${receiver.url}/hang/${number % hanging}`,
  }));
  receiver.expect({ path: PATH, count: dues.length });
  await running.store([...hangs, ...jobsOf(receiver.url + PATH, dues)]);
  if (Date.now() > start - HANG_AHEAD_MS) throw new Error('Storing took too long: nothing was measured.');
  await sleep(start - Date.now());
  const cpu = startCpuTimer(running);
  await receiver.complete(PATH, (dues.at(-1) ?? 0) - Date.now() + ARRIVE_MS_MAX);
  return roundOf(dues.length, await receiver.arrivalsAt(PATH), cpu());
}
