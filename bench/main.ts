/**
 * `npm run bench` compares Sched with the limit of the machine and with its peers. Each contender runs alone on the
 * same workload, one after the other. The benchmark starts PostgreSQL, Redis (if it is installed) and a receiver. The
 * workloads:
 *
 *     paced      the lateness of one-shot jobs at a steady rate
 *     burst      the time until thousands of jobs have arrived that are due at one instant
 *     creates    the number of creates a second, through the public interface
 *     recurring  thousands of schedules that fire at the same minute
 *     stored     paced and burst again, with more and more schedules stored, and the memory in use
 *     recovery   a restart with many schedules stored and some deliveries overdue
 *     hanging    healthy endpoints beside endpoints that never answer
 *     notifications  paced deliveries beside thousands of dead letters that are told
 *     dashboard  the data of every page, and the lateness while a page is open
 *     citus      many projects on a Citus cluster and on plain PostgreSQL, if SCHED_BENCH_CITUS_URL names a cluster
 *     neighbour  a healthy customer alone and beside hostile ones, on SQLite and on two nodes
 *     start      cold starts of the program that users install, and the first delivery of each
 *     package    the size of the package, and the time to install and to start it
 *     costs      what each create, delivery and retry costs, for the model of capacity
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startPostgres } from '../test/postgres/server.ts';
import { type Costs, costsSummary, readCosts, writeCosts } from './capacity/costs.ts';
import { costsSteps, measureCosts } from './capacity/measure-costs.ts';
import { writePage } from './capacity/page.ts';
import { citusSteps, measureCitus } from './citus/citus.ts';
import { CITUS_VARIABLE } from './citus/cluster.ts';
import { combined, readResults } from './combine.ts';
import { comparisonOf } from './comparison.ts';
import { CONTENDERS } from './contenders.ts';
import { readProfiles } from './cpu-profile.ts';
import { dashboardSteps, measureDashboard } from './dashboard/dashboard.ts';
import { hangingSteps, measureHanging } from './hanging.ts';
import { installPeers } from './install.ts';
import { machineOf } from './machine.ts';
import { measureNeighbour, neighbourSteps } from './neighbour/neighbour.ts';
import { measureNotifications, notificationsSteps } from './notifications.ts';
import { commandOf, type Options, optionsOf, USAGE, UsageError } from './options.ts';
import { measurePackage, packageSteps } from './package.ts';
import { postgresCpuMeter } from './postgres-process.ts';
import { ProgressLine } from './progress.ts';
import { Receiver } from './receiver.ts';
import { chartsOf, reportOf } from './report/report.ts';
import { RESULTS_FORMAT, type Results } from './results.ts';
import { withBaseline } from './sched/contenders.ts';
import { measureStart, startSteps } from './start/start.ts';
import { FilledStores } from './stored/filled-stores.ts';
import { measureRecovery, recoverySteps } from './stored/recovery.ts';
import { measureStored, storedSteps } from './stored/stored.ts';
import { summaryOf } from './summary.ts';
import type { BenchContext } from './workloads.ts';

const MS_PER_SECOND = 1_000;
const PROFILED_FUNCTIONS = 40;
const CITUS_URL = process.env[CITUS_VARIABLE] || null;

/** Calls `measured` after each workload, so that a failure near the end of a run does not lose the results. */
async function measure(options: Options, measured: (results: Results) => void): Promise<Results> {
  const { contenders, workloads, scale, profileDir } = options;
  const startedAt = new Date();
  const chosen = CONTENDERS.filter(({ id }) => contenders.includes(id));
  const { baseline } = options;
  const comparison = comparisonOf(
    baseline === null ? chosen : withBaseline(chosen, baseline),
    workloads,
    scale,
  );
  const others = [
    workloads.includes('stored') ? storedSteps(scale) : 0,
    workloads.includes('recovery') ? recoverySteps(scale) : 0,
    workloads.includes('hanging') ? hangingSteps(scale) : 0,
    workloads.includes('notifications') ? notificationsSteps(scale) : 0,
    workloads.includes('dashboard') ? dashboardSteps(scale) : 0,
    workloads.includes('citus') ? citusSteps(scale, CITUS_URL, baseline) : 0,
    workloads.includes('neighbour') ? neighbourSteps(scale, options) : 0,
    workloads.includes('start') ? startSteps(scale, baseline) : 0,
    workloads.includes('package') ? packageSteps(scale) : 0,
    workloads.includes('costs') ? costsSteps(CITUS_URL) : 0,
  ];
  using progress = new ProgressLine(others.reduce((sum, each) => sum + each, comparison.steps));
  await using postgres = await startPostgres({ durable: true });
  await using receiver = await Receiver.start();
  await using stores = new FilledStores(postgres);
  const postgresCpuMs = await postgresCpuMeter(postgres.url());
  const resources = { postgres, postgresCpuMs, citusUrl: CITUS_URL, profileDir };
  const context: BenchContext = { resources, receiver, scale, progress };

  const machine = await machineOf(postgres.url());
  let results: Results = {
    format: RESULTS_FORMAT,
    command: commandOf(options),
    startedAt: startedAt.toISOString(),
    elapsedSeconds: 0,
    machine,
    scale,
    contenders: [],
    stored: null,
    recovery: null,
    hanging: null,
    notifications: null,
    dashboard: null,
    neighbour: null,
    package: null,
    start: null,
    citus: null,
  };
  const add = (part: Partial<Results>) => {
    const elapsedSeconds = Math.round((Date.now() - startedAt.getTime()) / MS_PER_SECOND);
    results = { ...results, ...part, elapsedSeconds };
    measured(results);
  };
  await comparison.run(context, (steps) => progress.passed(steps));
  add({ contenders: comparison.results() });
  if (workloads.includes('stored')) add({ stored: await measureStored(context, stores) });
  if (workloads.includes('recovery')) add({ recovery: await measureRecovery(context, stores) });
  if (workloads.includes('hanging')) add({ hanging: await measureHanging(context) });
  if (workloads.includes('notifications')) add({ notifications: await measureNotifications(context) });
  if (workloads.includes('dashboard')) add({ dashboard: await measureDashboard(context, stores) });
  if (workloads.includes('citus')) add({ citus: await measureCitus(context, baseline) });
  if (workloads.includes('neighbour')) {
    await measureNeighbour(context, options, (neighbour) => add({ neighbour }));
  }
  if (workloads.includes('start')) add({ start: await measureStart(context, stores, baseline) });
  if (workloads.includes('package')) add({ package: await measurePackage(scale, progress) });
  if (workloads.includes('costs')) {
    const costs = await measureCosts(context, { command: commandOf(options), machine });
    console.log(costsSummary(costs));
    if (!scale.quick && profileDir === undefined) reportCosts(costs);
  }
  return results;
}

/** The model of capacity reads the costs from their file, so both are written together. */
function reportCosts(costs: Costs): void {
  writeCosts(costs);
  writePage(readCosts());
}

function keep(results: Results, { json }: Options): void {
  if (json !== null) writeFileSync(json, `${JSON.stringify(results)}\n`);
}

/** Writes the report of a complete run. A page with missing bars would look like a complete one. */
function report(results: Results, { out }: Options): void {
  if (out === null) return;
  const files = [
    { file: 'benchmarks.md', text: reportOf(results) },
    ...chartsOf(results).map(({ file, svg }) => ({ file, text: svg })),
  ];
  for (const { file, text } of files) {
    const path = join(out, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

function printProfiles(directory: string): void {
  for (const { file, busyMs, top } of readProfiles(directory, PROFILED_FUNCTIONS)) {
    console.log(`\n${file}: ${busyMs.toFixed(0)} ms busy, by self time`);
    for (const { where, share } of top) console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
  }
}

async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2));
  if (options.page !== null) {
    report(combined(options.page.map(readResults)), options);
    return;
  }
  if (options.profileDir !== undefined) mkdirSync(options.profileDir, { recursive: true });
  await installPeers((text) => process.stderr.write(`${text}\n`));
  const results = await measure(options, (soFar) => keep(soFar, options));
  report(results, options);
  console.log(summaryOf(results));
  if (options.profileDir !== undefined) printProfiles(options.profileDir);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}\n`);
  process.exitCode = 2;
}
