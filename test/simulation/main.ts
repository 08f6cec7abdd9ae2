/**
 * `npm run sim -- [--nodes N] [--seeds N] [--seed S] [--steps N] [--span MS] [--bug NAME] [--trace]
 * [--keep-going]` simulates one process or several nodes. It starts from the given seed, or from a random
 * one. It shows its progress and prints how to repeat a violation as soon as there is one. When it is
 * interrupted, it prints a summary so far.
 *
 * Exit codes: 0 means that every promise was kept. 1 means that a promise was broken. 130 and 143 mean that
 * it was interrupted before either was known.
 */
import { parseArgs } from 'node:util';
import { CLUSTER_SITUATIONS } from './cluster/coverage.ts';
import { SITUATIONS } from './coverage.ts';
import { Pool } from './pool.ts';
import { Report } from './report.ts';
import type { RunResult } from './run.ts';

const LAST_LINES = 30;
/**
 * How often progress is shown. A terminal shows one changing line. Elsewhere each progress is a line of a
 * log.
 */
const TERMINAL_PROGRESS_MS = 2_000;
const LOG_PROGRESS_MS = 30_000;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const CLEAR_LINE = '\r\u001b[K';
const USAGE =
  'Usage: npm run sim -- [--nodes N] [--seeds N] [--seed S] [--steps N] [--span MS] [--bug NAME] [--trace] [--keep-going]';

interface SimulationOptions {
  readonly nodes: number;
  readonly first: number;
  readonly seeds: number;
  /** The name of a deliberate bug. */
  readonly bug: string | undefined;
  /** API calls in each simulation. */
  readonly steps: number | null;
  /** The longest span of each simulation, in milliseconds. */
  readonly span: number | null;
  readonly trace: boolean;
  readonly keepGoing: boolean;
}

function readArguments(): SimulationOptions {
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
  if (![nodes, first, seeds, steps ?? 0, span ?? 0].every(Number.isInteger)) throw new Error(USAGE);
  const { bug, trace, 'keep-going': keepGoing } = values;
  return { nodes, first, seeds, bug, steps, span, trace, keepGoing };
}

/** Overwrites one line on a terminal. Elsewhere it prints a line now and then. */
class ProgressLine {
  readonly #isTerminal = process.stdout.isTTY;
  readonly #timer: NodeJS.Timeout;

  constructor(line: () => string) {
    this.#timer = setInterval(
      () => process.stdout.write(this.#isTerminal ? `${CLEAR_LINE}${line()}` : `${line()}\n`),
      this.#isTerminal ? TERMINAL_PROGRESS_MS : LOG_PROGRESS_MS,
    );
  }

  /** Prints the text in place of the progress line. */
  print(text: string): void {
    console.log(`${this.#isTerminal ? CLEAR_LINE : ''}${text}`);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function describeResult(result: RunResult, { nodes, steps, span, trace }: SimulationOptions): string {
  const { failure, seed } = result;
  const lines = result.trace.slice(trace ? 0 : -LAST_LINES);
  if (failure === null) return lines.join('\n');
  const shape = `${nodes === 1 ? '' : ` --nodes ${nodes}`}${steps === null ? '' : ` --steps ${steps}`}${span === null ? '' : ` --span ${span}`}`;
  return [
    ...lines,
    `VIOLATION of ${failure.checker}: ${failure.message}`,
    `  repeat with: npm run sim -- --seed ${seed}${shape} --trace`,
  ].join('\n');
}

async function main(given: SimulationOptions): Promise<void> {
  const { nodes, first, seeds, bug, steps, span, trace, keepGoing } = given;
  const report = new Report(seeds, performance.now());
  const line = new ProgressLine(() => report.progress(performance.now()));
  const interruption = new AbortController();
  const interrupt = (signal: keyof typeof EXIT_CODES) => {
    line.print(`Interrupted by ${signal}.`);
    process.exitCode = EXIT_CODES[signal];
    interruption.abort();
  };
  process.once('SIGINT', () => interrupt('SIGINT'));
  process.once('SIGTERM', () => interrupt('SIGTERM'));
  const jobs = Array.from({ length: seeds }, (_, at) => ({
    seed: first + at,
    nodes,
    ...(bug === undefined ? {} : { bug }),
    calls: steps,
    spanMsMax: span,
    isTraced: trace,
  }));
  const pool = new Pool();
  try {
    await pool.run(jobs, {
      signal: interruption.signal,
      ended: (result) => {
        report.add(result);
        if (result.failure !== null || trace) line.print(describeResult(result, given));
        return result.failure !== null && !keepGoing;
      },
    });
  } finally {
    await pool.close();
  }
  line.stop();
  line.print(report.summary(performance.now(), nodes === 1 ? SITUATIONS : CLUSTER_SITUATIONS));
  if (report.hasFailed) process.exitCode = 1;
}

await main(readArguments());
