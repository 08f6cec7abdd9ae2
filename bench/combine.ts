/**
 * Makes the results of several runs one, so that a workload can be measured again without the others. Each workload
 * comes from the last run that measured it, with all its contenders: they are compared with each other only.
 */
import { readFileSync } from 'node:fs';
import { CONTENDER_IDS } from './contender.ts';
import { UsageError } from './options.ts';
import { type ContenderResults, RESULTS_FORMAT, type Results, runsOf } from './results.ts';

const COMPARED = ['paced', 'bursts', 'creates', 'recurring'] as const;
type Compared = (typeof COMPARED)[number];

/** Workloads whose results and sizes have the same name. */
const SIZED = ['stored', 'recovery', 'dashboard', 'neighbour', 'package', 'start', 'citus'] as const;

export function readResults(file: string): Results {
  const results: Results = JSON.parse(readFileSync(file, 'utf8'));
  if (results.format !== RESULTS_FORMAT) throw new UsageError(`${file} has results of another version.`);
  return results;
}

/** Baselines are left out: the page is about this version. */
export function combined(runs: readonly Results[]): Results {
  const [first] = runs;
  if (first === undefined) throw new UsageError('There are no results.');
  if (runs.some(({ scale }) => scale.quick)) throw new UsageError('A quick run does not belong on the page.');
  const machines = new Set(runs.map(({ machine: { cores, processor } }) => `${cores} × ${processor}`));
  if (machines.size > 1) throw new UsageError(`These are different machines: ${[...machines].join(', ')}.`);
  return withoutBaseline({
    ...runs.reduce(added, first),
    contenders: contendersOf(runs),
    runs: runs.flatMap(runsOf),
  });
}

function added(all: Results, run: Results): Results {
  const measured = SIZED.filter((part) => run[part] != null);
  const { rounds, recurring } = run.scale;
  return {
    ...all,
    ...Object.fromEntries(measured.map((part) => [part, run[part]])),
    hanging: run.hanging ?? all.hanging,
    notifications: run.notifications ?? all.notifications ?? null,
    scale: {
      ...all.scale,
      ...Object.fromEntries(measured.map((part) => [part, run.scale[part]])),
      ...(hasMeasured(run, 'paced') ? { rounds } : {}),
      ...(hasMeasured(run, 'recurring') ? { recurring } : {}),
    },
  };
}

function contendersOf(runs: readonly Results[]): readonly ContenderResults[] {
  const sources = COMPARED.map((work) => [work, runs.findLast((run) => hasMeasured(run, work))] as const);
  return CONTENDER_IDS.flatMap((id) => {
    const inRuns = runs.flatMap(({ contenders }) => contenders.filter((one) => one.id === id));
    const latest = inRuns.at(-1);
    if (latest === undefined) return [];
    const measured = sources.map(([work, run]) => [
      work,
      run?.contenders.find((one) => one.id === id)?.[work] ?? [],
    ]);
    const remarks = [...new Set(inRuns.flatMap((one) => one.remarks))];
    return [{ ...latest, ...Object.fromEntries(measured), remarks }];
  });
}

function hasMeasured({ contenders }: Results, work: Compared): boolean {
  return contenders.some((one) => one[work].length > 0);
}

function withoutBaseline(results: Results): Results {
  const { neighbour, start = null, citus = null } = results;
  return {
    ...results,
    neighbour: neighbour === null ? null : { ...neighbour, lines: neighbour.lines.filter(isThis) },
    start: start === null ? null : { ...start, lines: start.lines.filter(isThis) },
    citus: citus === null ? null : { ...citus, lines: citus.lines.filter(isThis) },
  };
}

function isThis({ version }: { readonly version: string }): boolean {
  return version === 'this';
}
