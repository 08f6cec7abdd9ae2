/**
 * `npm run sim -- [--nodes N] [--seeds N] [--seed S] [--steps N] [--span MS] [--bug NAME] [--trace] [--keep-going]`:
 * the simulation of one process, or of several nodes, from a seed of its own choice or from the one given. Ends
 * with exit code 1 when a promise was broken, and says how to see the same again.
 */
import { parseArgs } from 'node:util';
import { runJobs } from './pool.ts';
import type { RunResult } from './run.ts';

const LAST_LINES = 30;

interface Arguments {
  readonly nodes: number;
  readonly first: number;
  readonly seeds: number;
  /** The name of a deliberate bug. */
  readonly bug: string | undefined;
  /** API calls in each world. */
  readonly steps: number | null;
  /** How long each may go on, in milliseconds. */
  readonly span: number | null;
  readonly trace: boolean;
  readonly keepGoing: boolean;
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      bug: { type: 'string' },
      seed: { type: 'string' },
      steps: { type: 'string' },
      span: { type: 'string' },
      trace: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
    },
  });
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  const nodes = Number(values.nodes);
  const seeds = Number(values.seeds);
  const steps = values.steps === undefined ? null : Number(values.steps);
  const span = values.span === undefined ? null : Number(values.span);
  if (![nodes, first, seeds, steps ?? 0, span ?? 0].every(Number.isInteger)) {
    throw new Error(
      'Usage: npm run sim -- [--nodes N] [--seeds N] [--seed S] [--steps N] [--span MS] [--bug NAME] [--trace] [--keep-going]',
    );
  }
  return {
    nodes,
    first,
    seeds,
    bug: values.bug,
    steps,
    span,
    trace: values.trace,
    keepGoing: values['keep-going'],
  };
}

function run({ nodes, first, seeds, bug, steps, span, keepGoing }: Arguments): Promise<readonly RunResult[]> {
  const jobs = Array.from({ length: seeds }, (_, at) => ({
    seed: first + at,
    nodes,
    ...(bug === undefined ? {} : { bug }),
    calls: steps,
    spanMsMax: span,
  }));
  return runJobs(jobs, ({ failure }) => failure !== null && !keepGoing);
}

function print(result: RunResult, { nodes, steps, span, trace }: Arguments): void {
  const { failure, seed } = result;
  if (failure === null && !trace) return;
  console.log(result.trace.slice(trace ? 0 : -LAST_LINES).join('\n'));
  if (failure === null) return;
  console.log(`VIOLATION of ${failure.checker}: ${failure.message}`);
  const shape = `${nodes === 1 ? '' : ` --nodes ${nodes}`}${steps === null ? '' : ` --steps ${steps}`}${span === null ? '' : ` --span ${span}`}`;
  console.log(`  again: npm run sim -- --seed ${seed}${shape} --trace`);
}

function summary(results: readonly RunResult[], seconds: number): string {
  const sum = (of: (result: RunResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const days = sum(({ simulatedMs }) => simulatedMs) / 86_400_000;
  const seen = new Map<string, number>();
  for (const result of results) {
    for (const [place, count] of Object.entries(result.seen)) seen.set(place, (seen.get(place) ?? 0) + count);
  }
  return [
    `${results.length} seeds, ${days.toFixed(1)} simulated days in ${seconds.toFixed(1)} s`,
    `  ${sum(({ tally }) => tally.requests)} requests, ${sum(({ tally }) => tally.calls)} API calls, ${sum(({ tally }) => tally.crashes)} crashes, ${sum(({ tally }) => tally.stops)} stops`,
    `  ${[...seen].map(([place, count]) => `${place} ${count}`).join(', ')}`,
  ].join('\n');
}

const given = readArguments();
const started = performance.now();
const results = await run(given);
for (const result of results) print(result, given);
console.log(summary(results, (performance.now() - started) / 1_000));
const failed = results.filter(({ failure }) => failure !== null);
if (failed.length > 0) {
  console.log(`${failed.length} FAILED: seeds ${failed.map(({ seed }) => seed).join(', ')}`);
  process.exitCode = 1;
}
