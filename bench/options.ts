/** The command line of the benchmark. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTENDER_IDS, type ContenderId } from './contender.ts';
import { QUICK_CONTENDERS } from './contenders.ts';
import { BESIDE, type Beside } from './neighbour/customers.ts';
import { type Scale, type SchedStoreKind, STORE_KINDS } from './results.ts';

export const WORKLOADS = [
  'paced',
  'burst',
  'creates',
  'recurring',
  'stored',
  'recovery',
  'hanging',
  'notifications',
  'dashboard',
  'citus',
  'neighbour',
  'start',
  'package',
  'costs',
] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

export interface Options {
  readonly contenders: readonly ContenderId[];
  readonly workloads: readonly WorkloadName[];
  readonly scale: Scale;
  /** The customers beside the healthy one, and the stores, in the workload `neighbour`. */
  readonly beside: readonly Beside[];
  readonly stores: readonly SchedStoreKind[];
  /** The checkout of another version. The two versions run alternately. */
  readonly baseline: string | null;
  /** The file for all results. */
  readonly json: string | null;
  readonly profileDir: string | undefined;
  /** The folder for the report. */
  readonly out: string | null;
  /** Files with the results of earlier runs, to make the report of. Null if this run measures. */
  readonly page: readonly string[] | null;
}

export const USAGE = `npm run bench -- [--quick] [--only NAME,…] [--work WORK,…] [--rounds N]
                [--beside WHO,…] [--store STORE,…] [--baseline DIR] [--json FILE] [--profile DIR] [--out DIR]
       npm run bench -- --page FILE,… [--out DIR]

  --quick    less of everything, in about two minutes
  --only     ${CONTENDER_IDS.join(', ')}
  --work     ${WORKLOADS.join(', ')} (hanging, notifications, dashboard: only when named;
             citus: where SCHED_BENCH_CITUS_URL names the coordinator of a cluster)
  --rounds   how often each contender runs (5)
  --beside   neighbour: ${BESIDE.join(', ')} (it is always measured alone, too)
  --store    neighbour: ${STORE_KINDS.join(', ')}
  --baseline the checkout of another version, installed: the two versions run alternately
  --json     writes all that was measured to a file
  --profile  writes processor profiles to a folder
  --out      writes benchmarks.md and its charts to a folder; a full run writes docs/
  --page     measures nothing, and makes the page from what --json wrote in earlier runs;
             each workload comes from the last of the files that has it`;

/** A mistake on the command line. It is printed without a stack trace. */
export class UsageError extends Error {}

const ROUNDS_MAX = 50;
const DOCS = 'docs';
const ASKED_FOR_ONLY: ReadonlySet<WorkloadName> = new Set(['hanging', 'notifications', 'dashboard']);
/** Each round takes a minute or needs the registry of npm, so a quick run leaves these out. */
const SLOW_WORKLOADS: ReadonlySet<WorkloadName> = new Set([
  'recurring',
  'recovery',
  'neighbour',
  'package',
  'costs',
]);

const FULL: Scale = {
  quick: false,
  rounds: 5,
  paced: { rate: 500, seconds: 6 },
  bursts: [5_000, 20_000],
  burstSecondsMax: 30,
  creates: { atOnce: 64, seconds: 4 },
  recurring: { schedules: 5_000, rounds: 3 },
  stored: { sizes: [0, 100_000, 1_000_000, 5_000_000], rounds: 5, burst: 5_000 },
  recovery: { stored: 1_000_000, overdue: 10_000, rounds: 5 },
  notifications: { rounds: 3, rate: 200, seconds: 60, deadLetters: 10_000 },
  dashboard: { stored: 1_000_000, rounds: 5 },
  neighbour: {
    rounds: 5,
    rate: 100,
    seconds: 20,
    sizes: {
      'hanging-bodies': 420,
      'large-json': 300,
      paths: 30_000,
      filters: 1_000_000,
      creates: 300,
      burst: 200_000,
      cancel: 100_000,
      lists: 100_000,
    },
  },
  package: { rounds: 3, starts: 5 },
  start: { rounds: 10 },
  citus: { rounds: 5, projects: 16, paced: { rate: 200, seconds: 10 }, burst: 5_000 },
};

const QUICK: Scale = {
  quick: true,
  rounds: 1,
  paced: { rate: 500, seconds: 1 },
  bursts: [5_000],
  burstSecondsMax: 10,
  creates: { atOnce: 64, seconds: 1 },
  recurring: { schedules: 5_000, rounds: 1 },
  stored: { sizes: [0, 10_000], rounds: 1, burst: 1_000 },
  recovery: { stored: 10_000, overdue: 1_000, rounds: 1 },
  notifications: { rounds: 1, rate: 100, seconds: 4, deadLetters: 600 },
  dashboard: { stored: 10_000, rounds: 1 },
  neighbour: {
    rounds: 1,
    rate: 100,
    seconds: 5,
    sizes: {
      'hanging-bodies': 60,
      'large-json': 60,
      paths: 1_000,
      filters: 20_000,
      creates: 30,
      burst: 10_000,
      cancel: 4_000,
      lists: 5_000,
    },
  },
  package: { rounds: 1, starts: 3 },
  start: { rounds: 1 },
  citus: { rounds: 1, projects: 16, paced: { rate: 200, seconds: 2 }, burst: 5_000 },
};

export function optionsOf(args: readonly string[]): Options {
  const { quick, only, work, rounds, beside, store, baseline, json, profile, out, page } = parsed(args);
  const scale = quick ? QUICK : FULL;
  const usual = WORKLOADS.filter((each) => !ASKED_FOR_ONLY.has(each) && !(quick && SLOW_WORKLOADS.has(each)));
  // Profiling makes a contender slower, so such a run writes no report.
  const isWhole = !quick && [only, work, beside, store, baseline, profile].every((one) => one === undefined);
  return {
    contenders:
      only === undefined ? (quick ? QUICK_CONTENDERS : CONTENDER_IDS) : listed('only', only, CONTENDER_IDS),
    workloads: work === undefined ? usual : listed('work', work, WORKLOADS),
    scale: rounds === undefined ? scale : withRounds(scale, wholeNumber('rounds', rounds, ROUNDS_MAX)),
    beside: beside === undefined ? BESIDE : listed('beside', `alone,${beside}`, BESIDE),
    stores: store === undefined ? STORE_KINDS : listed('store', store, STORE_KINDS),
    baseline: baseline === undefined ? null : checkoutIn(baseline),
    json: json ?? null,
    profileDir: profile,
    out: out ?? (isWhole || page !== undefined ? DOCS : null),
    page: page === undefined ? null : page.split(','),
  };
}

/** The command that repeats the run, without the options for output files. */
export function commandOf({ contenders, workloads, scale, beside, stores, baseline }: Options): string {
  const usual = optionsOf(scale.quick ? ['--quick'] : []);
  const chosen = (name: string, all: readonly string[], some: readonly string[]) =>
    String(all) === String(some) ? [] : [`--${name} ${some.join(',')}`];
  const flags = [
    ...(scale.quick ? ['--quick'] : []),
    ...chosen('only', usual.contenders, contenders),
    ...chosen('work', usual.workloads, workloads),
    ...chosen('beside', usual.beside, beside),
    ...chosen('store', usual.stores, stores),
    ...(baseline === null ? [] : ['--baseline DIR']),
    ...(scale.rounds === usual.scale.rounds ? [] : [`--rounds ${scale.rounds}`]),
  ];
  return ['npm run bench', ...(flags.length === 0 ? [] : ['--', ...flags])].join(' ');
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        work: { type: 'string' },
        rounds: { type: 'string' },
        beside: { type: 'string' },
        store: { type: 'string' },
        baseline: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
        out: { type: 'string' },
        page: { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Returns the chosen values in the order of `known`. */
function listed<T extends string>(name: string, text: string, known: readonly T[]): readonly T[] {
  const asked = text.split(',').map((each) => each.trim());
  for (const each of asked) {
    if (!known.some((one) => one === each)) {
      throw new UsageError(`--${name}: "${each}" is not one of ${known.join(', ')}.`);
    }
  }
  return known.filter((one) => asked.includes(one));
}

function checkoutIn(directory: string): string {
  const root = resolve(directory);
  if (!existsSync(join(root, 'bin/sched.js')) || !existsSync(join(root, 'node_modules'))) {
    throw new UsageError('--baseline must be the folder of a checkout in which npm ci was run.');
  }
  return root;
}

function wholeNumber(name: string, text: string, max: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > max) {
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`);
  }
  return number;
}

function withRounds(scale: Scale, rounds: number): Scale {
  return {
    ...scale,
    rounds,
    recurring: { ...scale.recurring, rounds },
    stored: { ...scale.stored, rounds },
    recovery: { ...scale.recovery, rounds },
    notifications: { ...scale.notifications, rounds },
    dashboard: { ...scale.dashboard, rounds },
    neighbour: { ...scale.neighbour, rounds },
    package: { ...scale.package, rounds },
    start: { rounds },
    citus: { ...scale.citus, rounds },
  };
}
