/**
 * `npm run faults -- [--kills N] [--seed S] [--only name]`: everything that can happen to a service that
 * fires, at length, with the real process and a real receiver. Prints what was counted and measured, and ends
 * with exit code 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { canMount } from '../full-disks.ts';
import type { Audit } from './audit.ts';
import { runClockSteps } from './clock-steps.ts';
import { runFrozen } from './frozen.ts';
import { runHanging } from './hanging.ts';
import { runKills } from './kills.ts';
import { runLostClaims } from './lost-claims.ts';
import { printTable, shown, spreadOf } from './numbers.ts';
import { runOverdue } from './overdue.ts';
import { runHangingStop, runStops } from './stops.ts';
import { runDyingWriter, runFullFileSystem, runStoreTrouble, type TroubleReport } from './store-trouble.ts';

const KILLS_DEFAULT = 50;
const CLIENTS = 8;
const STOPS = 10;
const FROZEN_MS = 10_000;
const TROUBLED = 100;
const OVERDUE = 20_000;
/** More than one look of the recovery holds. */
const LOST_CLAIMS = 6_000;

interface Arguments {
  readonly kills: number;
  readonly seed: number;
}

/** What is shown, and what was broken. */
interface Result {
  readonly rows: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
}

function resultOf({ figures, faults }: Audit, rows: Readonly<Record<string, unknown>>): Result {
  return { rows: { ...figures, ...rows }, faults };
}

const SCENARIOS: Readonly<Record<string, (given: Arguments) => Promise<Result>>> = {
  async kills({ kills, seed }) {
    const report = await runKills({ kills, seed, clients: CLIENTS });
    const { resent, moves, startsKilled, claimedAtKills, drainedMs } = report;
    return resultOf(report, {
      kills,
      startsKilled,
      'claimed at a kill': `${Math.max(...claimedAtKills)} at most, every second one looked at`,
      'calls sent again': resent,
      'occurrences moved near': moves,
      'drained in (ms)': Math.round(drainedMs),
    });
  },

  async stops({ seed }) {
    const report = await runStops({ stops: STOPS, seed, clients: CLIENTS });
    return resultOf(report, { stops: STOPS, 'exits after': shown(spreadOf(report.exitMs)) });
  },

  async 'hanging-stop'() {
    const report = await runHangingStop(TROUBLED);
    return resultOf(report, { grace: '1s', 'exit after (ms)': Math.round(report.exitMs) });
  },

  async frozen({ seed }) {
    const report = await runFrozen({ frozenMs: FROZEN_MS, seed, clients: CLIENTS });
    const { dueMeanwhile, afterwards } = report;
    return resultOf(report, { 'due meanwhile': dueMeanwhile, 'fired after SIGCONT': shown(afterwards) });
  },

  async clock() {
    const report = await runClockSteps(TROUBLED);
    return resultOf(report, {
      'caught up after steps ahead (ms)': report.caughtUpMs.map(Math.round).join(', '),
      'due in a second, after each step (ms)': JSON.stringify(report.afterStepMs, (_, value: unknown) =>
        typeof value === 'number' ? Math.round(value) : value,
      ),
      'occurrences fired': report.occurrences.join(', '),
    });
  },

  async 'store-refusing'() {
    return troubled(await runStoreTrouble('refusing', TROUBLED));
  },

  async 'store-full'() {
    return troubled(await runStoreTrouble('full', TROUBLED));
  },

  async 'store-lying'() {
    return troubled(await runStoreTrouble('lying', TROUBLED));
  },

  async 'file-system-full'() {
    if (!canMount()) return { rows: { skipped: 'no file system can be mounted here' }, faults: [] };
    return troubled(await runFullFileSystem(TROUBLED));
  },

  async 'writer-dying'() {
    return dying('dying');
  },

  async 'writer-dying-late'() {
    return dying('dying late');
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
        'healthy alone, late by': shown(without.lateness),
        'beside 100 hanging, late by': shown(beside.lateness),
        'hanging meanwhile': beside.stillHanging,
        'footprint alone': JSON.stringify(without.during),
        'footprint beside hanging': JSON.stringify(beside.during),
      },
      faults: beside.hangingEnded === 0 ? [] : [`${beside.hangingEnded} hanging ones had ended`],
    };
  },

  async overdue({ seed }) {
    const report = await runOverdue({ overdue: OVERDUE, endpoints: 20, seed });
    return resultOf(report, {
      overdue: OVERDUE,
      'drained in (ms)': report.drainedMs,
      'per second': Math.round(report.perSecond),
      'fresh, claimed late by': shown(report.fresh.claimed),
      'fresh, arrived late by': shown(report.fresh.arrived),
      'fresh to a busy endpoint, claimed': shown(report.freshBusy.claimed),
      'fresh to a busy endpoint, arrived': shown(report.freshBusy.arrived),
      'distance from the order by deadline': `${report.disorder.toFixed(2)} (chance: 0.33)`,
      'occurrences of a recurring one': `${report.occurrencesMax} at most`,
      footprint: JSON.stringify(report.footprint),
    });
  },
};

function troubled(report: TroubleReport): Result {
  return resultOf(report, {
    'due ones sent meanwhile': report.sentMeanwhile,
    'answered ones sent again': report.underWayAgain,
    '/readyz meanwhile': report.readiness,
    'healed in (ms)': Math.round(report.healedMs),
  });
}

async function dying(trouble: 'dying' | 'dying late'): Promise<Result> {
  const report = await runDyingWriter(trouble, TROUBLED);
  return resultOf(report, {
    'due ones sent meanwhile': report.sentMeanwhile,
    'answered ones sent again': report.underWayAgain,
    '/readyz meanwhile': report.readiness,
    'SIGTERM then': `${JSON.stringify(report.exit)} after ${Math.round(report.exitMs)} ms`,
    'delivered after the next start in (ms)': Math.round(report.healedMs),
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
