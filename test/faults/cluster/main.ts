/**
 * `npm run faults:cluster -- [--only name] [--rounds N] [--seed S] [--rate R] [--logs folder]` runs real
 * nodes on a real PostgreSQL under load, and injects every fault repeatedly. It prints what it counted and
 * measured. When a promise was broken, it ends with exit code 1 and writes the nodes' logs to the folder.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatSpread, printTable, spreadOf } from '#test/faults/single-node/numbers.ts';
import { runDatabaseRestarts } from './database-restarts.ts';
import { runFailovers } from './failovers.ts';
import { runFrozen } from './frozen.ts';
import { runKills } from './kills.ts';
import { runLargeBodies } from './large-bodies.ts';
import type { Report, Run } from './loaded-cluster.ts';
import { runLostCommits } from './lost-commits.ts';
import { runLostHints } from './lost-hints.ts';
import { runRolling } from './rolling.ts';
import { runWorkerRestarts } from './worker-restarts.ts';

const ROUNDS_DEFAULT = 10;
const PER_SECOND_DEFAULT = 300;
const FROZEN_MS = 20_000;
/** This runs only if it is asked for. */
const NEEDS_CITUS = 'worker-restarts';

type Rows = Readonly<Record<string, unknown>>;

function each(values: readonly number[]): string {
  return values.map(Math.round).join(', ');
}

const SCENARIOS: Readonly<Record<string, (run: Run) => Promise<readonly [Report, Rows]>>> = {
  async kills(run) {
    const report = await runKills(run);
    return [
      report,
      {
        'in flight at each kill': report.inFlight.join(', '),
        'its slots sent again after (ms), first': each(report.resumed.map(({ first }) => first)),
        'its slots sent again after (ms), last': each(report.resumed.map(({ last }) => last)),
      },
    ];
  },

  async rolling(run) {
    const report = await runRolling(run);
    return [
      report,
      {
        'exits after': formatSpread(spreadOf(report.exitMs)),
        'ready after': formatSpread(spreadOf(report.startMs)),
      },
    ];
  },

  async frozen(run) {
    const report = await runFrozen(run, FROZEN_MS);
    return [
      report,
      {
        'in flight at each stop': report.inFlight.join(', '),
        'its slots sent again after (ms), first': each(report.resumed.map(({ first }) => first)),
        'its slots sent again after (ms), last': each(report.resumed.map(({ last }) => last)),
        'ready again after SIGCONT (ms)': each(report.readyMs),
      },
    ];
  },

  async 'database-restarts'(run) {
    const report = await runDatabaseRestarts(run);
    const shownOutages = report.outages.map(
      ({ mode, downMs, readyMs, sentMs }) =>
        `${mode} ${downMs}: ready ${Math.round(readyMs)}, sent ${Math.round(sentMs)}`,
    );
    return [report, { 'down for (ms), then back after (ms)': shownOutages.join('; ') }];
  },

  async 'lost-commits'(run) {
    const report = await runLostCommits(run);
    return [report, { 'commits lost, or their answers': report.lostCommits }];
  },

  async 'lost-hints'(run) {
    const report = await runLostHints(run);
    const { delivered, dropped, disconnected } = report.lateness;
    return [
      report,
      {
        'replays, hints delivered, late by': formatSpread(delivered),
        'replays, hints dropped, late by': formatSpread(dropped),
        'replays, no node listening, late by': formatSpread(disconnected),
      },
    ];
  },

  async 'large-bodies'(run) {
    const report = await runLargeBodies(run);
    return [report, { 'renewals of a lease that failed': report.failedRenewals }];
  },

  async 'worker-restarts'(run) {
    const report = await runWorkerRestarts(run);
    return [
      report,
      {
        'workers were down for (ms)': each(report.restarts.map(({ downMs }) => downMs)),
        'all nodes ready after that (ms)': each(report.restarts.map(({ readyMs }) => readyMs)),
      },
    ];
  },

  async failovers(run) {
    const report = await runFailovers(run);
    const { failovers, majorVersion } = report;
    return [
      report,
      {
        PostgreSQL: majorVersion,
        'promoted after (ms)': each(failovers.map(({ promotedMs }) => promotedMs)),
        'a standby again after (ms)': each(failovers.map(({ rebuiltMs }) => rebuiltMs)),
        'all nodes ready after that (ms)': each(failovers.map(({ readyMs }) => readyMs)),
      },
    ];
  },
};

function rowsOf(report: Report): Rows {
  const { figures, perSecond, resent, refused, moves, drainedMs, blockedMs } = report;
  const { lateness, ...counted } = figures;
  return {
    ...counted,
    'late by': formatSpread(lateness),
    'requests a second': perSecond.toFixed(0),
    'calls repeated': resent,
    '503 unavailable': refused,
    'occurrences moved near': moves,
    'drained in (ms)': Math.round(drainedMs),
    'the receiver was blocked for (ms)': Math.round(blockedMs),
  };
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    rate: { type: 'string' },
    logs: { type: 'string' },
  },
});
const rounds = Number(values.rounds ?? ROUNDS_DEFAULT);
const perSecond = Number(values.rate ?? PER_SECOND_DEFAULT);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const chosen = Object.entries(SCENARIOS).filter(
  ([name]) => values.only === name || (values.only === undefined && name !== NEEDS_CITUS),
);
if (![rounds, perSecond].every((each) => each >= 1) || !Number.isInteger(seed) || chosen.length === 0) {
  const names = Object.keys(SCENARIOS).join('|');
  throw new Error(
    `Usage: npm run faults:cluster -- [--only ${names}] [--rounds N] [--seed S] [--rate R] [--logs folder]`,
  );
}
console.log(`npm run faults:cluster -- --rounds ${rounds} --seed ${seed} --rate ${perSecond}`);
for (const [name, runScenario] of chosen) {
  const [report, rows] = await runScenario({ rounds, seed, perSecond, durable: true });
  printTable(`${name}, ${rounds} rounds`, { ...rowsOf(report), ...rows });
  for (const fault of report.faults) console.log(`  BROKEN ${fault}`);
  if (report.faults.length === 0) continue;
  process.exitCode = 1;
  if (values.logs !== undefined) {
    writeFileSync(join(values.logs, `${name}-${seed}.log`), report.outputs.join('\n'));
  }
}
process.exit();
