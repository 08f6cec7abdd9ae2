/**
 * A database on an existing Citus cluster, distributed and removed afterwards. No package registry has Citus, so the
 * benchmark cannot start one. The cluster decides the number of shards and the durability.
 */
import { createCitusDatabase, workerUrls } from '../../test/postgres/citus.ts';
import { query } from '../../test/postgres/databases.ts';
import { Unavailable } from '../contender.ts';
import { postgresCpuMeter } from '../postgres-process.ts';
import { sumOf } from '../process-figures.ts';
import type { CitusCluster } from '../results.ts';
import { distribute } from '../sched/command.ts';
import type { SchedStore } from '../sched/service.ts';

export const CITUS_VARIABLE = 'SCHED_BENCH_CITUS_URL';
export const NO_CITUS = `${CITUS_VARIABLE} does not name the coordinator of a Citus cluster`;

export interface CitusStore extends AsyncDisposable {
  readonly store: SchedStore;
  readonly cluster: CitusCluster;
}

/** Rejects with `Unavailable` if there is no cluster. `root` is the checkout whose schema the database gets. */
export async function createCitusStore(coordinator: string | null, root: string): Promise<CitusStore> {
  if (coordinator === null) throw new Unavailable(NO_CITUS);
  await using made = new AsyncDisposableStack();
  const { url } = made.use(await createCitusDatabase(coordinator));
  const workers = await workerUrls(url);
  const coordinatorCpuMs = await postgresCpuMeter(url);
  const workerMeters = await Promise.all(workers.map(postgresCpuMeter));
  const workersCpuMs = () => sumOf(workerMeters.map((meter) => meter()));
  const cpuMs = () => sumOf([coordinatorCpuMs(), workersCpuMs()]);
  const store: SchedStore = { kind: 'postgres', url, cpuMs, workersCpuMs };
  await distribute(root, store);
  const cluster = await clusterOf(url, workers);
  const all = made.move();
  return { store, cluster, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function clusterOf(url: string, workers: readonly string[]): Promise<CitusCluster> {
  const [facts] = (await query(
    url,
    `SELECT current_setting('server_version') AS postgres, citus_version() AS citus,
       (SELECT max(shard_count)::int FROM citus_tables WHERE citus_table_type = 'distributed') AS shards`,
  )) as readonly { readonly postgres: string; readonly citus: string; readonly shards: number }[];
  const durable = await Promise.all([url, ...workers].map(isDurable));
  return {
    citus: /[\d.]+/.exec(facts?.citus ?? '')?.[0] ?? 'unknown',
    postgres: facts?.postgres.split(' ')[0] ?? 'unknown',
    workers: workers.length,
    shards: facts?.shards ?? 0,
    isDurable: durable.every(Boolean),
  };
}

/** Whether commits of the server wait for the disk. */
async function isDurable(url: string): Promise<boolean> {
  const [settings] = (await query(
    url,
    "SELECT current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off' AS durable",
  )) as readonly { readonly durable: boolean }[];
  return settings?.durable === true;
}
