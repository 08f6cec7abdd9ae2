/**
 * `npm run faults -- [--kills N] [--seed S] [--only name]` tests the faults of one service at length, with
 * the real process and a real receiver. It prints what it counted and measured, and ends with exit code 1
 * when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { canMount } from '#test/faults/full-disks.ts';
import type { Audit } from './audit.ts';
import { runClockSteps } from './clock-steps.ts';
import { runFrozen } from './frozen.ts';
import { runHanging } from './hanging.ts';
import { runKills } from './kills.ts';
import { runLostClaims } from './lost-claims.ts';
import { formatSpread, printTable, spreadOf } from './numbers.ts';
import { runOverdue } from './overdue.ts';
import { runHangingStop, runStops } from './stops.ts';
import { runFullFileSystem, runStoreFault, runWriterCrash, type StoreFaultReport } from './store-faults.ts';

const KILLS_DEFAULT = 50;
const CLIENTS = 8;
const STOPS = 10;
const FROZEN_MS = 10_000;
const DELIVERIES = 100;
const OVERDUE = 20_000;
/** More than recovery reads in one page. */
const LOST_CLAIMS = 6_000;

interface FaultOptions {
  readonly kills: number;
  readonly seed: number;
}

/** The rows to print, and the promises that were broken. */
interface Result {
  readonly rows: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
}

function resultOf({ figures, faults }: Audit, rows: Readonly<Record<string, unknown>>): Result {
  return { rows: { ...figures, ...rows }, faults };
}

const SCENARIOS: Readonly<Record<string, (given: FaultOptions) => Promise<Result>>> = {
  async kills({ kills, seed }) {
    const report = await runKills({ kills, seed, clients: CLIENTS });
    const { resent, moves, startsKilled, claimedAtKills, drainedMs } = report;
    return resultOf(report, {
      kills,
      startsKilled,
      'claimed at a kill': `${Math.max(...claimedAtKills)} at most, counted at every second kill`,
      'calls repeated': resent,
      'occurrences moved near': moves,
      'drained in (ms)': Math.round(drainedMs),
    });
  },

  async stops({ seed }) {
    const report = await runStops({ stops: STOPS, seed, clients: CLIENTS });
    return resultOf(report, { stops: STOPS, 'exits after': formatSpread(spreadOf(report.exitMs)) });
  },

  async 'hanging-stop'() {
    const report = await runHangingStop(DELIVERIES);
    return resultOf(report, { grace: '1s', 'exit after (ms)': Math.round(report.exitMs) });
  },

  async frozen({ seed }) {
    const report = await runFrozen({ frozenMs: FROZEN_MS, seed, clients: CLIENTS });
    const { dueMeanwhile, afterwards } = report;
    return resultOf(report, {
      'due meanwhile': dueMeanwhile,
      'sent after SIGCONT': formatSpread(afterwards),
    });
  },

  async clock() {
    const report = await runClockSteps(DELIVERIES);
    return resultOf(report, {
      'caught up after steps ahead (ms)': report.caughtUpMs.map(Math.round).join(', '),
      'due in a second, after each step (ms)': JSON.stringify(report.afterStepMs, (_, value: unknown) =>
        typeof value === 'number' ? Math.round(value) : value,
      ),
      'occurrences sent': report.occurrences.join(', '),
    });
  },

  async 'store-refusing'() {
    return storeFaultResult(await runStoreFault('refusing', DELIVERIES));
  },

  async 'store-full'() {
    return storeFaultResult(await runStoreFault('full', DELIVERIES));
  },

  async 'store-false-errors'() {
    return storeFaultResult(await runStoreFault('false-errors', DELIVERIES));
  },

  async 'file-system-full'() {
    if (!canMount()) return { rows: { skipped: 'no file system can be mounted here' }, faults: [] };
    return storeFaultResult(await runFullFileSystem(DELIVERIES));
  },

  async 'writer-crash'() {
    return writerCrashResult('crash');
  },

  async 'writer-crash-after-commit'() {
    return writerCrashResult('crash-after-commit');
  },

  async 'lost-claims'() {
    return resultOf(await runLostClaims(LOST_CLAIMS), {});
  },

  async hanging() {
    const healthy = { dueEach: 30, healthy: 100, healthyEach: 10, spreadMs: 8_000 };
    const without = await runHanging({ ...healthy, hanging: 0 });
    const beside = await runHanging({ ...healthy, hanging: 100 });
    return {
      rows: {
        'healthy alone, late by': formatSpread(without.lateness),
        'beside 100 hanging, late by': formatSpread(beside.lateness),
        'hanging meanwhile': beside.stillHanging,
        'footprint alone': JSON.stringify(without.during),
        'footprint beside hanging': JSON.stringify(beside.during),
      },
      faults: beside.hangingEnded === 0 ? [] : [`${beside.hangingEnded} hanging deliveries had ended`],
    };
  },

  async overdue({ seed }) {
    const report = await runOverdue({ overdue: OVERDUE, endpoints: 20, seed });
    return resultOf(report, {
      overdue: OVERDUE,
      'drained in (ms)': report.drainedMs,
      'per second': Math.round(report.perSecond),
      'fresh, claimed late by': formatSpread(report.fresh.claimed),
      'fresh, arrived late by': formatSpread(report.fresh.arrived),
      'fresh to a busy endpoint, claimed': formatSpread(report.freshBusy.claimed),
      'fresh to a busy endpoint, arrived': formatSpread(report.freshBusy.arrived),
      'distance from the order by deadline': `${report.disorder.toFixed(2)} (chance: 0.33)`,
      'occurrences of a recurring schedule': `${report.occurrencesMax} at most`,
      footprint: JSON.stringify(report.footprint),
    });
  },
};

function storeFaultResult(report: StoreFaultReport): Result {
  return resultOf(report, {
    'due deliveries sent meanwhile': report.sentMeanwhile,
    'answered requests sent again': report.answeredAgain,
    '/readyz meanwhile': report.readiness,
    'delivered in (ms)': Math.round(report.deliveredMs),
  });
}

async function writerCrashResult(fault: 'crash' | 'crash-after-commit'): Promise<Result> {
  const report = await runWriterCrash(fault, DELIVERIES);
  return resultOf(report, {
    'due deliveries sent meanwhile': report.sentMeanwhile,
    'answered requests sent again': report.answeredAgain,
    '/readyz meanwhile': report.readiness,
    'SIGTERM then': `${JSON.stringify(report.exit)} after ${Math.round(report.exitMs)} ms`,
    'delivered after the next start in (ms)': Math.round(report.deliveredMs),
  });
}

const { values } = parseArgs({
  options: { kills: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const kills = Number(values.kills ?? KILLS_DEFAULT);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const chosen = Object.entries(SCENARIOS).filter(
  ([name]) => values.only === undefined || name === values.only,
);
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed) || chosen.length === 0) {
  throw new Error(
    `Usage: npm run faults -- [--kills N] [--seed S] [--only ${Object.keys(SCENARIOS).join('|')}]`,
  );
}
console.log(`npm run faults -- --kills ${kills} --seed ${seed}`);
for (const [name, run] of chosen) {
  const { rows, faults } = await run({ kills, seed });
  printTable(name, rows);
  for (const fault of faults) console.log(`  BROKEN ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
