/**
 * The workload `citus` runs paced jobs and a burst on a Citus cluster and on plain PostgreSQL, in turns. The same work
 * is spread over many projects, because Citus keeps a project in one mode on one worker. One node serves each. Each
 * store is created once. Every round starts a new process on it.
 */
import { citusName } from '../report/citus.ts';
import type { CitusCluster, CitusLine, CitusResults, CitusRound, Scale, SchedVersion } from '../results.ts';
import { createProjects } from '../sched/command.ts';
import { ROOT } from '../sched/process.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import { messageOf } from '../stored/stored.ts';
import { type BenchContext, burst, paced, warmUp } from '../workloads.ts';
import { createCitusStore, NO_CITUS } from './cluster.ts';

const STORES = ['postgres', 'citus'] as const;

interface Series {
  readonly database: CitusLine['database'];
  readonly version: SchedVersion;
  readonly root: string;
  readonly store: SchedStore;
  readonly apiKeys: readonly string[];
  readonly rounds: CitusRound[];
}

/** Each database has one step for its projects and one for each round. */
export function citusSteps({ citus }: Scale, citusUrl: string | null, baseline: string | null): number {
  return citusUrl === null ? 0 : STORES.length * (baseline === null ? 1 : 2) * (1 + citus.rounds);
}

/** A cluster that fails does not end the run. The results say so. */
export async function measureCitus(context: BenchContext, baseline: string | null): Promise<CitusResults> {
  const { resources, scale, progress } = context;
  if (resources.citusUrl === null) return { cluster: null, lines: [], remarks: [`Not run: ${NO_CITUS}.`] };
  const remarks: string[] = [];
  const remark = (text: string) => {
    remarks.push(text);
    progress.note(text);
  };
  const all: Series[] = [];
  let cluster: CitusCluster | null = null;
  try {
    await using made = new AsyncDisposableStack();
    for (const [database, version, root] of seriesOf(baseline)) {
      const name = citusName({ database, version });
      progress.step(`${name}: ${scale.citus.projects} projects`);
      const created = made.use(await createStore(context, database, root));
      cluster ??= created.cluster;
      const apiKeys = await createProjects(root, created.store, projectNames(scale));
      all.push({ database, version, root, store: created.store, apiKeys, rounds: [] });
    }
    for (let round = 1; round <= scale.citus.rounds; round++) {
      for (const series of round % 2 === 0 ? all.toReversed() : all) {
        progress.step(`round ${round}, ${citusName(series)}: paced and burst`);
        await takeRound(context, series).catch((error: unknown) =>
          remark(`${citusName(series)}, round ${round}: ${messageOf(error)}`),
        );
      }
    }
  } catch (error) {
    remark(`Not finished: ${messageOf(error)}`);
  }
  const lines = all.map(({ database, version, rounds }) => ({ database, version, rounds }));
  return { cluster, lines, remarks };
}

type SeriesName = readonly [CitusLine['database'], SchedVersion, root: string];

function seriesOf(baseline: string | null): readonly SeriesName[] {
  return STORES.flatMap((database) => [
    [database, 'this', ROOT] as const,
    ...(baseline === null ? [] : [[database, 'baseline', baseline] as const]),
  ]);
}

function projectNames({ citus }: Scale): readonly string[] {
  return Array.from({ length: citus.projects }, (_, n) => `project-${n}`);
}

async function createStore(
  { resources }: BenchContext,
  database: CitusLine['database'],
  root: string,
): Promise<{ readonly store: SchedStore; readonly cluster: CitusCluster | null } & AsyncDisposable> {
  if (database === 'citus') return createCitusStore(resources.citusUrl, root);
  const { postgres, postgresCpuMs: cpuMs } = resources;
  const created = await postgres.createDatabase();
  return {
    store: { kind: 'postgres', url: created.url, cpuMs },
    cluster: null,
    [Symbol.asyncDispose]: () => created[Symbol.asyncDispose](),
  };
}

async function takeRound(
  { resources, receiver, scale }: BenchContext,
  { root, store, apiKeys, rounds }: Series,
): Promise<void> {
  const { profileDir } = resources;
  await using running = await startSched({ store, root, apiKeys, profileDir });
  const warm = await warmUp(running, receiver);
  const pacedRound = await paced(warm, scale.citus.paced);
  const burstRound = await burst(warm, { count: scale.citus.burst, secondsMax: scale.burstSecondsMax });
  rounds.push({ paced: pacedRound, burst: burstRound });
}
