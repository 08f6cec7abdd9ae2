/**
 * Writes `docs/benchmarks.md`. The page depends on the results only. Texts without figures are in `words.ts`. No
 * sentence judges the figures of a table.
 */
import { type Results, runsOf, STORE_KINDS } from '../results.ts';
import type { Verdict } from './bar.ts';
import { barsOf } from './bars.ts';
import type { ChartFile, ChartName } from './chart.ts';
import { citusTable, clusterWords } from './citus.ts';
import { burstChart, latenessChart } from './contender-charts.ts';
import { whole } from './figures.ts';
import { bulleted, plain, wordTable } from './markdown.ts';
import { neighbourTable, neighbourWords } from './neighbour.ts';
import { nodesTable } from './nodes.ts';
import { packageTables } from './package.ts';
import { startTable } from './start.ts';
import { storedCharts } from './stored-charts.ts';
import {
  burstTable,
  createsTable,
  dashboardTable,
  hangingTable,
  notificationsTable,
  openPageTable,
  pacedTable,
  recoveryTable,
  recurringTable,
  storedTable,
} from './tables.ts';
import * as words from './words.ts';

const VERDICTS: Readonly<Record<Verdict, string>> = {
  met: 'met',
  missed: '**missed**',
  goal: 'goal',
  'goal reached': 'goal reached',
  'not measured': '–',
};

/** Workloads that were not measured have no chart. */
export function chartsOf(results: Results): readonly ChartFile[] {
  return [latenessChart(results), burstChart(results), ...storedCharts(results)].filter(
    (chart) => chart !== null,
  );
}

export function reportOf(results: Results): string {
  const charts = chartsOf(results);
  const sections = [
    '# Benchmarks',
    '<!-- Written by `npm run bench`: changes are lost with the next run. -->',
    words.INTRODUCTION,
    words.LIMIT,
    imageOf(charts, 'lateness'),
    '## Bars',
    barsText(results),
    ...workSections(results, charts),
    '## What was run',
    ...runText(results),
    '## How to reproduce',
    words.REPRODUCE,
    '```text\nnpm ci\nnpm run bench\n```',
    '## What to keep in mind',
    bulleted(words.CAVEATS),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function imageOf(charts: readonly ChartFile[], name: ChartName): string {
  const chart = charts.find((one) => one.name === name);
  return chart === undefined ? '' : `![${plain(chart.title)}](${chart.file})`;
}

function barsText(results: Results): string {
  const rows = barsOf(results).map(({ work, asked, measured, verdict, perCore = null }) => [
    plain(work),
    plain(asked),
    plain(verdict === 'missed' && perCore !== null ? `${measured}; ${perCore}` : measured),
    VERDICTS[verdict],
  ]);
  const rounds = new Set(runsOf(results).map((run) => run.rounds));
  const decide =
    rounds.size === 1 ? `of ${roundsText(Math.max(...rounds))} decide` : 'of their rounds decide';
  const said = `These are the project’s own bars. The medians ${decide}. ${words.MISSED}`;
  return `${said}\n\n${wordTable(['workload', 'bar', 'measured', ''], rows)}`;
}

function minutesText(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes === 1 ? 'a minute' : `${whole(minutes)} minutes`;
}

function roundsText(rounds: number): string {
  return rounds === 1 ? 'one round' : `${rounds} rounds`;
}

function workSections(results: Results, charts: readonly ChartFile[]): readonly string[] {
  const { scale, contenders, stored, recovery, hanging, dashboard, neighbour, package: installed } = results;
  const { start = null, citus = null, notifications = null } = results;
  const nodes = nodesTable(results);
  const has = (work: 'paced' | 'creates' | 'recurring') => contenders.some((one) => one[work].length > 0);
  const bursts = scale.bursts.filter((count) =>
    contenders.some((one) => one.bursts.some((burst) => burst.count === count && burst.rounds.length > 0)),
  );
  return [
    ...section(has('paced'), `Paced: ${scale.paced.rate} a second`, words.PACED, pacedTable(results)),
    ...section(
      bursts.length > 0,
      'Burst: all at one instant',
      words.BURST,
      ...bursts.map((count) => burstTable(results, count)),
      imageOf(charts, 'burst'),
    ),
    ...section(
      has('creates'),
      `Creates: ${scale.creates.atOnce} at once`,
      words.CREATES,
      createsTable(results),
    ),
    ...section(nodes !== '', 'Several nodes on one PostgreSQL', words.NODES, nodes),
    ...section(
      has('recurring'),
      `Recurring: ${whole(scale.recurring.schedules)} at one minute`,
      words.RECURRING,
      recurringTable(results),
    ),
    ...section(
      stored !== null,
      'With many schedules stored',
      words.STORED,
      storedTable(results),
      imageOf(charts, 'stored-throughput'),
      imageOf(charts, 'stored-lateness'),
      bulleted((stored?.remarks ?? []).map(plain)),
    ),
    ...section(
      recovery !== null,
      'Starting again',
      words.RECOVERY,
      recoveryTable(results),
      bulleted((recovery?.remarks ?? []).map(plain)),
    ),
    ...section(hanging !== null, 'Beside endpoints that hang', words.HANGING, hangingTable(results)),
    ...section(
      notifications !== null,
      'Beside dead letters that are told',
      words.NOTIFICATIONS,
      notificationsTable(results),
    ),
    ...section(
      dashboard !== null,
      'While somebody looks',
      words.DASHBOARD,
      dashboardTable(results),
      openPageTable(results),
      bulleted((dashboard?.remarks ?? []).map(plain)),
    ),
    ...section(
      citus !== null,
      'Many projects on Citus',
      words.CITUS,
      citus?.cluster == null ? '' : clusterWords(citus.cluster),
      citusTable(results),
      bulleted((citus?.remarks ?? []).map(plain)),
    ),
    ...section(
      neighbour !== null,
      'Beside hostile customers',
      neighbourWords(scale.neighbour),
      ...STORE_KINDS.map((store) => neighbourTable(results, store)),
      bulleted((neighbour?.remarks ?? []).map(plain)),
    ),
    ...section(
      start !== null,
      'Cold starts',
      words.START,
      startTable(results),
      bulleted((start?.remarks ?? []).map(plain)),
    ),
    ...section(installed !== null, 'Installing and starting', words.PACKAGE, ...packageTables(results)),
  ];
}

function section(isMeasured: boolean, heading: string, ...parts: readonly string[]): readonly string[] {
  return isMeasured ? [`## ${heading}`, ...parts] : [];
}

function runText(results: Results): readonly string[] {
  const { machine, scale, contenders } = results;
  const runs = runsOf(results).map(({ command, startedAt, elapsedSeconds, rounds }) => [
    `\`${command.replaceAll('`', '')}\``,
    plain(startedAt.slice(0, 10)),
    minutesText(elapsedSeconds),
    `${whole(rounds)}${scale.quick ? ', the quick run' : ''}`,
  ]);
  const facts = [
    ['processors', plain(`${machine.cores} × ${machine.processor}`)],
    ['memory', `${whole(machine.memoryGb)} GB`],
    ['system', plain(machine.system)],
    ['Node', plain(machine.node)],
    ['PostgreSQL', plain(machine.postgres)],
    ['Redis', plain(machine.redis ?? 'not installed')],
  ];
  const settings = contenders.map(({ name, version, settings, durability }) =>
    [name, version, settings, durability].map(plain),
  );
  const remarks = contenders.flatMap(({ name, remarks }) =>
    remarks.map((remark) => `${plain(name)}: ${plain(remark)}`),
  );
  return [
    wordTable(['command', 'day', 'took', 'rounds'], runs),
    wordTable(['machine', ''], facts),
    wordTable(['contender', 'version', 'set up', 'survives a crash of the machine'], settings),
    bulleted(remarks),
  ];
}
