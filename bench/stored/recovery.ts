/**
 * The workload `recovery` starts Sched on a store that holds many schedules and some overdue jobs. All jobs are created
 * while Sched runs with the role `api` only. Overdue jobs become due while no process runs. Fresh jobs become due at a
 * steady rate from the start on. The fresh jobs count that are due after Sched is ready and before the last overdue job
 * has arrived.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../contender.ts';
import type { Arrivals } from '../receiver-process.ts';
import { whole } from '../report/figures.ts';
import { STORE_NAMES } from '../report/tables.ts';
import {
  type LatenessRound,
  type RecoveryLine,
  type RecoveryResults,
  type RecoveryRound,
  type Scale,
  STORE_KINDS,
  UNKNOWN_CPU,
} from '../results.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import { type BenchContext, jobsOf, roundOf } from '../workloads.ts';
import type { FilledStores } from './filled-stores.ts';
import { startReady } from './ready.ts';
import { messageOf } from './stored.ts';

const MS_PER_SECOND = 1_000;
const OVERDUE = '/overdue/';
const FRESH = '/fresh/';
const FRESH_APART_MS = 10;
const FRESH_MS = 8_000;
/** Fresh jobs are counted for at least this time after Sched is ready, even if the overdue jobs are sent faster. */
const FRESH_MS_MIN = 1_000;
/** The time for each create. Nothing may be due before the creating process has ended. */
const CREATE_MS_EACH = 1;
const LEAD_MS = 4_000;
/** The time from the instant of the overdue jobs to the start. */
const OVERDUE_MS = 2_000;
const DRAIN_MS_MAX = 60_000;
/** After the last arrival, outcomes are written. */
const SETTLE_MS = 1_000;

/** Each store has one step for filling and one for each round. */
export function recoverySteps({ recovery }: Scale): number {
  return STORE_KINDS.length * (1 + recovery.rounds);
}

export async function measureRecovery(context: BenchContext, stores: FilledStores): Promise<RecoveryResults> {
  const { stored, overdue, rounds } = context.scale.recovery;
  const remarks: string[] = [];
  const remark = (text: string) => {
    remarks.push(text);
    context.progress.note(text);
  };
  const lines: RecoveryLine[] = [];
  for (const kind of STORE_KINDS) {
    const name = `${STORE_NAMES[kind]} with ${whole(stored)} stored and ${whole(overdue)} overdue`;
    const taken: RecoveryRound[] = [];
    context.progress.step(`${name}: filling`);
    const filled = await stores.with(kind, stored).catch((error: unknown) => {
      remark(`${name} was left out: ${messageOf(error)}`);
      return null;
    });
    for (let round = 1; round <= rounds; round++) {
      context.progress.step(`${name}: restart, round ${round}`);
      if (filled === null) continue;
      try {
        taken.push(await takeRound(context, filled));
      } catch (error) {
        remark(`${name}, round ${round}: ${messageOf(error)}`);
      }
    }
    lines.push({ store: kind, stored, overdue, rounds: taken });
  }
  return { lines, remarks };
}

async function takeRound(
  { resources, receiver, scale }: BenchContext,
  store: SchedStore,
): Promise<RecoveryRound> {
  const { overdue } = scale.recovery;
  const startAt = Date.now() + LEAD_MS + overdue * CREATE_MS_EACH + OVERDUE_MS;
  const overdueJobs = jobsOf(
    receiver.url + OVERDUE,
    Array.from({ length: overdue }, () => startAt - OVERDUE_MS),
  );
  const freshJobs = jobsOf(
    receiver.url + FRESH,
    Array.from({ length: FRESH_MS / FRESH_APART_MS }, (_, n) => startAt + n * FRESH_APART_MS),
  );
  receiver.expect({ path: OVERDUE, count: overdue }, { path: FRESH, count: freshJobs.length });
  await create(store, [...overdueJobs, ...freshJobs]);
  if (Date.now() > startAt) throw new Error('Creating the overdue jobs took too long.');
  await sleep(startAt - Date.now());

  const arriving = [receiver.complete(OVERDUE, DRAIN_MS_MAX), receiver.complete(FRESH, DRAIN_MS_MAX)];
  await using running = await startReady({ store, profileDir: resources.profileDir });
  const readyAt = Date.now();
  const [isDrained = false] = await Promise.all(arriving);
  await sleep(SETTLE_MS);
  const { firstAt, lastAt, latenessMs } = await receiver.arrivalsAt(OVERDUE);
  if (firstAt === null || lastAt === null) throw new Error('Nothing of what was overdue arrived.');
  const drainMs = lastAt - firstAt;
  return {
    listeningMs: running.startedInMs,
    readyMs: running.readyMs,
    drainMs: isDrained ? drainMs : null,
    drainedPerSecond: (latenessMs.length * MS_PER_SECOND) / drainMs,
    fresh: between(freshJobs, await receiver.arrivalsAt(FRESH), {
      from: readyAt,
      to: Math.max(lastAt, readyAt + FRESH_MS_MIN),
    }),
  };
}

async function create(store: SchedStore, jobs: readonly Job[]): Promise<void> {
  await using running = await startSched({ store, env: { SCHED_ROLE: 'api' } });
  await running.store(jobs);
}

/** Selects the jobs that were due in the time. If all have arrived, arrivals are in the order of the jobs. */
function between(
  jobs: readonly Job[],
  arrivals: Arrivals,
  { from, to }: { readonly from: number; readonly to: number },
): LatenessRound {
  if (arrivals.latenessMs.length < jobs.length) throw new Error('Not all of the fresh work arrived.');
  const latenessMs = arrivals.latenessMs.filter((_, n) => {
    const due = jobs[n]?.due ?? 0;
    return due >= from && due <= to;
  });
  return roundOf(latenessMs.length, { ...arrivals, latenessMs }, UNKNOWN_CPU);
}
