/** The section about the workload `citus`: the cluster, a table and the bars. */
import type { CitusCluster, CitusLine, Results } from '../results.ts';
import { atLeast, type Bar, under } from './bar.ts';
import { burstRate, medianOf, milliseconds, NOTHING, perCore, ratio, spread, whole } from './figures.ts';
import { plain, table } from './markdown.ts';
import { costCells, rateCell } from './tables.ts';

const BURST_RATIO_MIN = 1 / 3;
const PACED_P99_MS_MAX = 100;

/** The cluster decides these, and they decide the figures. */
export function clusterWords({ citus, postgres, workers, shards, isDurable }: CitusCluster): string {
  const disk = isDurable ? 'Commits wait for the disk' : 'Commits do not wait for the disk on every server';
  return `The cluster: Citus ${plain(citus)} on PostgreSQL ${plain(postgres)}, a coordinator and ${whole(workers)} workers, ${whole(shards)} shards for each table. ${disk}.`;
}

export function citusTable({ citus, scale }: Results): string {
  if (citus == null || citus.lines.length === 0) return '';
  const { rate } = scale.citus.paced;
  const plainRate = rateOf(citus.lines.find(isPlain));
  return table(
    [
      `${scale.citus.projects} projects`,
      `${rate} a second: p50 ms`,
      'p99 ms',
      `${whole(scale.citus.burst)} at once: a second`,
      'of PostgreSQL',
      'cpu ms each',
      'database',
      'workers’ part',
    ],
    citus.lines.map((line) => {
      const [paced, bursts] = [pacedOf(line), burstsOf(line)];
      const lineRate = rateOf(line);
      return [
        plain(citusName(line)),
        spread(paced, ({ p50Ms }) => p50Ms, milliseconds),
        spread(paced, ({ p99Ms }) => p99Ms, milliseconds),
        rateCell(bursts, scale.burstSecondsMax),
        lineRate === null || plainRate === null ? NOTHING : ratio(lineRate / plainRate),
        ...costCells(bursts),
        spread(bursts, ({ workersCpuMsEach = null }) => workersCpuMsEach, ratio),
      ];
    }),
  );
}

export function citusName({ database, version }: Pick<CitusLine, 'database' | 'version'>): string {
  const name = database === 'citus' ? 'Sched on Citus' : 'Sched on PostgreSQL';
  return version === 'baseline' ? `${name}, baseline` : name;
}

/** The bars apply to this version only, and not to a baseline. */
export function citusBars({ citus, scale }: Results): readonly Bar[] {
  if (citus?.cluster == null) return [];
  const onCitus = citus.lines.find(({ database, version }) => database === 'citus' && version === 'this');
  const onPlain = citus.lines.find(isPlain);
  const { projects, paced, burst } = scale.citus;
  const figures = [onCitus, onPlain].map((line) => perCore(burstsOf(line)));
  const [ours = null, other = null] = figures;
  const bar = atLeast(
    `${whole(burst)} at once, ${projects} projects`,
    'Citus: at least a third of PostgreSQL',
    rateOf(onCitus),
    rateOf(onPlain),
    BURST_RATIO_MIN,
  );
  return [
    ours === null || other === null
      ? bar
      : { ...bar, perCore: `${whole(ours)} against ${whole(other)} per core` },
    under(
      `${paced.rate} a second, ${projects} projects`,
      `Citus: p99 under ${PACED_P99_MS_MAX} ms`,
      medianOf(pacedOf(onCitus).map(({ p99Ms }) => p99Ms)),
      PACED_P99_MS_MAX,
    ),
  ];
}

function isPlain({ database, version }: CitusLine): boolean {
  return database === 'postgres' && version === 'this';
}

function pacedOf(line: CitusLine | undefined) {
  return (line?.rounds ?? []).map(({ paced }) => paced);
}

function burstsOf(line: CitusLine | undefined) {
  return (line?.rounds ?? []).map(({ burst }) => burst);
}

function rateOf(line: CitusLine | undefined): number | null {
  return burstRate(burstsOf(line))?.median ?? null;
}
