/**
 * `npm run bench`: Sched beside the limit of the machine and beside its peers, each alone on the same work, in
 * turns. It starts all it needs: PostgreSQL, Redis where it is installed, a receiver. The works:
 *
 *     paced      so many one-shots a second: how late does each arrive?
 *     burst      thousands due at one instant: when has the last one arrived?
 *     creates    how many a second does it take, through the interface its users have?
 *     recurring  thousands of schedules that fire at the same minute
 *     stored     paced and burst again, with ever more schedules stored; and the memory that takes
 *     recovery   starting again with many stored and some overdue
 *     hanging    healthy endpoints beside ones that never answer
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startPostgres } from '../test/postgres/server.ts';
import { Arrivals } from './arrivals.ts';
import type { Bench } from './bench.ts';
import { CONTENDERS } from './contenders.ts';
import { contestOf } from './contest.ts';
import { readProfiles } from './cpu-profile.ts';
import { hangingSteps, measureHanging } from './hanging.ts';
import { installPeers } from './install.ts';
import { machineOf } from './machine.ts';
import { type Options, optionsOf, USAGE, UsageError } from './options.ts';
import { StepByStep } from './progress.ts';
import { chartsOf, reportOf } from './report/report.ts';
import { RESULTS_FORMAT, type Results } from './results.ts';
import { FilledStores } from './stored/filled-stores.ts';
import { measureRecovery, recoverySteps } from './stored/recovery.ts';
import { measureStored, storedSteps } from './stored/stored.ts';
import { summaryOf } from './summary.ts';

const MS_PER_SECOND = 1_000;
const PROFILED_FUNCTIONS = 40;

async function measure({ contenders, works, scale, profileDir }: Options): Promise<Results> {
  const startedAt = new Date();
  const contest = contestOf(
    CONTENDERS.filter(({ id }) => contenders.includes(id)),
    works,
    scale,
  );
  const others = [
    works.includes('stored') ? storedSteps(scale) : 0,
    works.includes('recovery') ? recoverySteps(scale) : 0,
    works.includes('hanging') ? hangingSteps(scale) : 0,
  ];
  using progress = new StepByStep(others.reduce((sum, each) => sum + each, contest.steps));
  await using postgres = await startPostgres({ durable: true });
  await using arrivals = await Arrivals.start();
  await using stores = new FilledStores(postgres);
  const bench: Bench = { ground: { postgres, profileDir }, arrivals, scale, progress };

  await contest.run(bench, (steps) => progress.passed(steps));
  const stored = works.includes('stored') ? await measureStored(bench, stores) : null;
  const recovery = works.includes('recovery') ? await measureRecovery(bench, stores) : null;
  const hanging = works.includes('hanging') ? await measureHanging(bench) : null;
  return {
    format: RESULTS_FORMAT,
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(
      ' ',
    ),
    startedAt: startedAt.toISOString(),
    elapsedSeconds: Math.round((Date.now() - startedAt.getTime()) / MS_PER_SECOND),
    machine: await machineOf(postgres.url()),
    scale,
    contenders: contest.results(),
    stored,
    recovery,
    hanging,
  };
}

function write(results: Results, { json, out }: Options): void {
  if (json !== null) writeFileSync(json, `${JSON.stringify(results)}\n`);
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
  if (options.profileDir !== undefined) mkdirSync(options.profileDir, { recursive: true });
  await installPeers((text) => process.stderr.write(`${text}\n`));
  const results = await measure(options);
  write(results, options);
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
