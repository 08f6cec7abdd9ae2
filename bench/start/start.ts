/**
 * The workload `start` starts the program as users install it, again and again, on a store that exists already. Each
 * start is a new process. The files are in the cache of the operating system. A start is measured until `/readyz`
 * answers 200. Its first delivery is then due. In one start of a pair, a client creates that delivery as soon as the
 * process is ready. In the other, an earlier process has stored it, and it is due shortly after the process is ready.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder, temporaryFolder } from '../../test/postgres/cleanup.ts';
import { limit } from '../contenders.ts';
import { startName } from '../report/start.ts';
import {
  type ColdStart,
  type FirstDelivery,
  type Scale,
  type SchedStoreKind,
  type SchedVersion,
  STORE_KINDS,
  type StartLine,
  type StartResults,
} from '../results.ts';
import { ROOT } from '../sched/process.ts';
import { type RunningSched, type SchedStore, startSched } from '../sched/service.ts';
import type { FilledStores } from '../stored/filled-stores.ts';
import { type ReadySched, startReady } from '../stored/ready.ts';
import { messageOf } from '../stored/stored.ts';
import { type BenchContext, jobsOf, warmUp } from '../workloads.ts';
import { unpackProgram } from './program.ts';

/** Sched accepts no job that is due within a second. */
const CREATED_AHEAD_MS = 1_200;
/** The time for the end of one process and the start of the next. It must be longer than a slow start. */
const STORED_AHEAD_MS = 3_000;
/** A stored delivery is due this long after the slowest start so far. */
const AFTER_READY_MS = 100;
const PAIRS_MAX = 3;
const ARRIVE_MS_MAX = 30_000;

/** One version of the program on one store. */
interface Series {
  readonly kind: SchedStoreKind;
  readonly version: SchedVersion;
  readonly root: string;
  readonly store: SchedStore;
  readonly starts: ColdStart[];
}

/** The process was not ready when the stored delivery became due. */
class TooLate extends Error {}

/** Packing and warming up is one step. Each pair of starts is one more. */
export function startSteps({ start }: Scale, baseline: string | null): number {
  return 1 + start.rounds * STORE_KINDS.length * (baseline === null ? 1 : 2);
}

/** A program that cannot be packed or started does not end the run. The results say so. */
export async function measureStart(
  context: BenchContext,
  stores: FilledStores,
  baseline: string | null,
): Promise<StartResults> {
  const { progress, scale } = context;
  const remarks: string[] = [];
  const remark = (text: string) => {
    remarks.push(text);
    progress.note(text);
  };
  const all: Series[] = [];
  const folder = temporaryFolder();
  try {
    progress.step('packing the program');
    all.push(...(await prepare(context, stores, folder, baseline)));
    for (let round = 1; round <= scale.start.rounds; round++) {
      for (const series of round % 2 === 0 ? all.toReversed() : all) {
        const name = startName(lineOf(series));
        progress.step(`round ${round}, ${name}: starts`);
        try {
          series.starts.push(...(await takePair(context, series)));
        } catch (error) {
          remark(`${name}, round ${round}: ${messageOf(error)}`);
        }
      }
    }
  } catch (error) {
    remark(`Not run: ${messageOf(error)}`);
  } finally {
    removeFolder(folder);
  }
  return { lines: all.map(lineOf), remarks };
}

function lineOf({ kind, version, starts }: Series): StartLine {
  return { store: kind, version, starts };
}

/** Packs each version, creates the schema of its stores, and warms up the receiver, which does not start anew. */
async function prepare(
  { resources, receiver }: BenchContext,
  stores: FilledStores,
  folder: string,
  baseline: string | null,
): Promise<readonly Series[]> {
  const checkouts: readonly (readonly [SchedVersion, string])[] = [
    ['this', ROOT],
    ...(baseline === null ? [] : [['baseline', baseline] as const]),
  ];
  const all: Series[] = [];
  for (const [version, checkout] of checkouts) {
    const root = await unpackProgram(checkout, join(folder, version));
    for (const kind of STORE_KINDS) {
      const store = await stores.empty(kind);
      const running = await startSched({ store, root });
      await running[Symbol.asyncDispose]();
      all.push({ kind, version, root, store, starts: [] });
    }
  }
  await using client = await limit.start(resources);
  await warmUp(client, receiver);
  return all.toSorted((a, b) => STORE_KINDS.indexOf(a.kind) - STORE_KINDS.indexOf(b.kind));
}

async function takePair(context: BenchContext, series: Series): Promise<readonly ColdStart[]> {
  for (let pairs = 1; ; pairs++) {
    const taken: ColdStart[] = [];
    try {
      const due = await startWithCreated(context, series, taken);
      await startWithStored(context, series, taken, due);
      return taken;
    } catch (error) {
      if (!(error instanceof TooLate) || pairs === PAIRS_MAX) throw error;
      // Its time until ready is valid, and makes the next stored delivery due later.
      series.starts.push(...taken);
    }
  }
}

/** Returns the instant of the delivery that it stores for the next process. */
async function startWithCreated(
  context: BenchContext,
  { store, root }: Series,
  taken: ColdStart[],
): Promise<number> {
  await using running = await startReady({ store, root, profileDir: context.resources.profileDir });
  const due = Date.now() + CREATED_AHEAD_MS;
  const arrivedMs = await arrival(context, 'created', due, running);
  taken.push(coldStart(running, 'created', arrivedMs));
  const next = Date.now() + STORED_AHEAD_MS;
  await running.store(jobsOf(context.receiver.url + pathOf('stored', next), [next]));
  return next;
}

async function startWithStored(
  context: BenchContext,
  { store, root, starts }: Series,
  taken: ColdStart[],
  due: number,
): Promise<void> {
  const slowestMs = Math.max(...[...starts, ...taken].map(({ readyMs }) => readyMs));
  await sleep(Math.max(due - slowestMs - AFTER_READY_MS - Date.now(), 0));
  const arrived = arrival(context, 'stored', due);
  // This promise is awaited below. A failure before that must not end the process.
  arrived.catch(() => undefined);
  await using running = await startReady({ store, root, profileDir: context.resources.profileDir });
  const isReadyInTime = Date.now() < due;
  const arrivedMs = await arrived;
  taken.push(coldStart(running, 'stored', isReadyInTime ? arrivedMs : null));
  if (!isReadyInTime) throw new TooLate('The process was not ready when the stored delivery became due.');
}

function coldStart(
  { startedInMs, readyMs }: ReadySched,
  first: FirstDelivery,
  arrivedMs: number | null,
): ColdStart {
  return { first, listeningMs: startedInMs, readyMs, arrivedMs };
}

/** Waits for the delivery, and returns how late it arrived. `creator` creates it first. */
async function arrival(
  { receiver }: BenchContext,
  first: FirstDelivery,
  due: number,
  creator?: RunningSched,
): Promise<number> {
  const path = pathOf(first, due);
  receiver.expect({ path, count: 1 });
  await creator?.store(jobsOf(receiver.url + path, [due]));
  await receiver.complete(path, due - Date.now() + ARRIVE_MS_MAX);
  const [latenessMs] = (await receiver.arrivalsAt(path)).latenessMs;
  if (latenessMs === undefined) throw new Error('The first delivery did not arrive.');
  return latenessMs;
}

function pathOf(first: FirstDelivery, due: number): string {
  return `/first-${first}-${due}/`;
}
