/**
 * The workload `recovery` starts Sched on a store that holds many schedules and some overdue jobs. All jobs are created
 * while Sched runs with the role `api` only. Overdue jobs become due while no process runs. Fresh jobs become due at a
 * steady rate from the start on. The fresh jobs count that are due after Sched is ready and before the last overdue job
 * has arrived. The bare client is the process of the limit. It is started
 * anew as well, and gets as many requests at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../contender.ts';
import { limit } from '../contenders.ts';
import { type CpuTime, UNKNOWN_CPU } from '../lateness.ts';
import type { Arrivals } from '../receiver-process.ts';
import { whole } from '../report/figures.ts';
import { STORE_NAMES } from '../report/tables.ts';
import {
  type BareClientRound,
  type LatenessRound,
  type RecoveryLine,
  type RecoveryResults,
  type RecoveryRound,
  type Scale,
  STORE_KINDS,
} from '../results.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import { type BenchContext, jobsOf, roundOf, since } from '../workloads.ts';
import type { FilledStores } from './filled-stores.ts';
import { startReady } from './ready.ts';
import { messageOf } from './stored.ts';

const MS_PER_SECOND = 1_000;
const BARE = '/bare/';
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

/** Each store has one step for filling. Each round of a store or of the bare client is one more. */
export function recoverySteps({ recovery: { rounds } }: Scale): number {
  return STORE_KINDS.length + (1 + STORE_KINDS.length) * rounds;
}

/** A process that is started anew in every round. */
interface Restarted {
  readonly name: string;
  readonly takeRound: () => Promise<void>;
}

/** The bare client and the stores take turns, because the speed of a machine changes. */
export async function measureRecovery(context: BenchContext, stores: FilledStores): Promise<RecoveryResults> {
  const { stored, overdue, rounds } = context.scale.recovery;
  const remarks: string[] = [];
  const remark = (text: string) => {
    remarks.push(text);
    context.progress.note(text);
  };
  const bareClient: BareClientRound[] = [];
  const lines: RecoveryLine[] = [];
  const all: Restarted[] = [
    {
      name: `Bare client with ${whole(overdue)} at once`,
      takeRound: async () => void bareClient.push(await startBareClient(context)),
    },
  ];
  for (const kind of STORE_KINDS) {
    const name = `${STORE_NAMES[kind]} with ${whole(stored)} stored and ${whole(overdue)} overdue`;
    const taken: RecoveryRound[] = [];
    lines.push({ store: kind, stored, overdue, rounds: taken });
    context.progress.step(`${name}: filling`);
    try {
      const filled = await stores.with(kind, stored);
      all.push({ name, takeRound: async () => void taken.push(await restart(context, filled)) });
    } catch (error) {
      remark(`${name} was left out: ${messageOf(error)}`);
    }
  }
  for (let round = 1; round <= rounds; round++) {
    for (const { name, takeRound } of round % 2 === 0 ? all.toReversed() : all) {
      context.progress.step(`${name}: restart, round ${round}`);
      await takeRound().catch((error: unknown) => remark(`${name}, round ${round}: ${messageOf(error)}`));
    }
  }
  return { bareClient, lines, remarks };
}

/** The client gets all requests at once, as its first ones. */
async function startBareClient({ resources, receiver, scale }: BenchContext): Promise<BareClientRound> {
  const { overdue } = scale.recovery;
  receiver.expect({ path: BARE, count: overdue });
  await using client = await limit.start(resources);
  const now = Date.now();
  const jobs = jobsOf(
    receiver.url + BARE,
    Array.from({ length: overdue }, () => now),
  );
  const isComplete = receiver.complete(BARE, DRAIN_MS_MAX);
  await client.store(jobs);
  if (!(await isComplete)) throw new Error('Not all requests of the bare client arrived.');
  const cpuMs = client.cpuMs();
  const { firstAt, lastAt } = await receiver.arrivalsAt(BARE);
  const sendMs = (lastAt ?? 0) - (firstAt ?? 0);
  return {
    sendMs,
    perSecond: (overdue * MS_PER_SECOND) / sendMs,
    cpuMsEach: cpuMs === null ? null : cpuMs / overdue,
    databaseCpuMsEach: 0,
  };
}

async function restart(
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

  const drained = receiver.complete(OVERDUE, DRAIN_MS_MAX);
  const freshArrived = receiver.complete(FRESH, DRAIN_MS_MAX);
  const databaseCpuMs = resources.postgresCpuMs();
  await using running = await startReady({ store, profileDir: resources.profileDir });
  const readyAt = Date.now();
  const isDrained = await drained;
  // The processor time of the start is part of the cost.
  const cpu: CpuTime = {
    ownMs: running.cpuMs(),
    databaseMs: store.kind === 'sqlite' ? 0 : since(databaseCpuMs, resources.postgresCpuMs()),
  };
  await freshArrived;
  await sleep(SETTLE_MS);
  const { firstAt, lastAt, latenessMs } = await receiver.arrivalsAt(OVERDUE);
  if (firstAt === null || lastAt === null) throw new Error('Nothing of what was overdue arrived.');
  const drainMs = lastAt - firstAt;
  const sent = latenessMs.length + freshJobs.filter(({ due }) => due <= lastAt).length;
  const each = (ms: number | null) => (ms === null ? null : ms / sent);
  return {
    listeningMs: running.startedInMs,
    readyMs: running.readyMs,
    drainMs: isDrained ? drainMs : null,
    drainedPerSecond: (latenessMs.length * MS_PER_SECOND) / drainMs,
    cpuMsEach: each(cpu.ownMs),
    databaseCpuMsEach: each(cpu.databaseMs),
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
