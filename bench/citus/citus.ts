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

export async function measureCitus(context: BenchContext, baseline: string | null): Promise<CitusResults> {
  const { resources, scale, progress } = context;
  if (resources.citusUrl === null) return { cluster: null, lines: [], remarks: [`Not run: ${NO_CITUS}.`] };
  const versions: readonly Pick<Series, 'version' | 'root'>[] = [
    { version: 'this', root: ROOT },
    ...(baseline === null ? [] : [{ version: 'baseline', root: baseline } as const]),
  ];
  const remarks: string[] = [];
  const remark = (text: string) => {
    remarks.push(text);
    progress.note(text);
  };
  await using made = new AsyncDisposableStack();
  const all: Series[] = [];
  const names = Array.from({ length: scale.citus.projects }, (_, n) => `project-${n}`);
  let cluster: CitusCluster | null = null;
  for (const database of STORES) {
    for (const { version, root } of versions) {
      const name = citusName({ database, version });
      progress.step(`${name}: ${scale.citus.projects} projects`);
      try {
        const created = made.use(await createStore(context, database, root));
        cluster ??= created.cluster;
        const { store } = created;
        const apiKeys = await createProjects(root, store, names);
        all.push({ database, version, root, store, apiKeys, rounds: [] });
      } catch (error) {
        remark(`${name} was left out: ${messageOf(error)}`);
      }
    }
  }
  for (let round = 1; round <= scale.citus.rounds; round++) {
    for (const series of round % 2 === 0 ? all.toReversed() : all) {
      progress.step(`round ${round}, ${citusName(series)}: paced and burst`);
      try {
        series.rounds.push(await takeRound(context, series));
      } catch (error) {
        remark(`${citusName(series)}, round ${round}: ${messageOf(error)}`);
      }
    }
  }
  const lines = all.map(({ database, version, rounds }) => ({ database, version, rounds }));
  return { cluster, lines, remarks };
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
  { root, store, apiKeys }: Series,
): Promise<CitusRound> {
  const { profileDir } = resources;
  await using running = await startSched({ store, root, apiKeys, profileDir });
  const warm = await warmUp(running, receiver);
  const pacedRound = await paced(warm, scale.citus.paced);
  const burstRound = await burst(warm, { count: scale.citus.burst, secondsMax: scale.burstSecondsMax });
  return { paced: pacedRound, burst: burstRound };
}
