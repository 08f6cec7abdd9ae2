/** Tables of a run's medians for the terminal. */

import { perSecondOf } from './lateness.ts';
import { citusName, clusterWords } from './report/citus.ts';
import { memoryOfEach, NEIGHBOUR_STORES, nameOf } from './report/neighbour.ts';
import { startName, startsOf } from './report/start.ts';
import { STORE_NAMES } from './report/tables.ts';
import type {
  CitusLine,
  CitusResults,
  ContenderResults,
  LatenessRound,
  NeighbourResults,
  NeighbourRound,
  PackageResults,
  RecoveryResults,
  Results,
  StartResults,
} from './results.ts';
import { median } from './statistics.ts';

const GAP = '  ';

export function summaryOf(results: Results): string {
  const parts = [
    ...(results.contenders.some(hasTakenPart) ? [contendersOf(results)] : []),
    ...(results.recovery === null ? [] : [recoveryOf(results.recovery)]),
    ...(results.citus == null ? [] : [citusOf(results.citus)]),
    ...(results.neighbour === null ? [] : [neighbourOf(results.neighbour)]),
    ...(results.start == null ? [] : [startOf(results.start)]),
    ...(results.package === null ? [] : [packageOf(results.package)]),
  ];
  return parts.join('\n\n');
}

function hasTakenPart({ paced, bursts, creates, recurring, remarks }: ContenderResults): boolean {
  return [paced, bursts, creates, recurring, remarks].some((each) => each.length > 0);
}

/** Restarts with deliveries overdue, beside the bare client started anew. */
function recoveryOf({ bareClient = [], lines, remarks }: RecoveryResults): string {
  const bareRates = bareClient.map(({ perSecond }) => perSecond);
  const rows = [
    ['bare client', '-', medianOf(bareRates, (rate) => rate, 0), ratio(bareRates, bareRates), '-'],
    ...lines.map(({ store, rounds }) => [
      STORE_NAMES[store],
      medianOf(rounds, ({ readyMs }) => readyMs, 0),
      medianOf(rounds, ({ drainedPerSecond }) => drainedPerSecond, 0),
      ratio(
        rounds.map(({ drainedPerSecond }) => drainedPerSecond),
        bareRates,
      ),
      medianOf(rounds, ({ fresh }) => fresh.p99Ms, 1),
    ]),
  ];
  const head = ['', 'ready ms', 'overdue a second', 'of bare', 'fresh p99 ms'];
  const heading = `Restarts with ${lines[0]?.overdue ?? 0} overdue`;
  return [heading, '', ...aligned([head, ...rows]), ...(remarks.length > 0 ? ['', ...remarks] : [])].join(
    '\n',
  );
}

/** Many projects on Citus and on PostgreSQL. */
function citusOf({ cluster, lines, remarks }: CitusResults): string {
  const burstRates = ({ rounds }: CitusLine) => rounds.map(({ burst }) => perSecondOf(burst));
  const plain = lines.find(({ database, version }) => database === 'postgres' && version === 'this');
  const rows = lines.map((line) => {
    const bursts = line.rounds.map(({ burst }) => burst);
    const short = bursts.find(({ arrived, expected }) => arrived < expected);
    return [
      citusName(line),
      medianOf(line.rounds, ({ paced }) => paced.p50Ms, 1),
      medianOf(line.rounds, ({ paced }) => paced.p99Ms, 1),
      short === undefined ? medianOf(bursts, perSecondOf, 0) : `${short.arrived} only`,
      ratio(burstRates(line), plain === undefined ? [] : burstRates(plain)),
      medianOf(bursts, ({ cpuMsEach }) => cpuMsEach, 2),
      medianOf(bursts, ({ databaseCpuMsEach = null }) => databaseCpuMsEach, 2),
      medianOf(bursts, ({ workersCpuMsEach = null }) => workersCpuMsEach, 2),
    ];
  });
  const head = ['', 'paced p50', 'p99', 'burst', 'of PostgreSQL', 'cpu ms', 'db ms', 'workers ms'];
  const heading = cluster === null ? 'Many projects on Citus' : clusterWords(cluster);
  return [
    heading,
    '',
    ...(rows.length > 0 ? aligned([head, ...rows]) : []),
    ...(remarks.length > 0 ? ['', ...remarks] : []),
  ].join('\n');
}

/** The healthy customer of the workload `neighbour`. */
function neighbourOf({ lines, remarks }: NeighbourResults): string {
  const head = [
    '',
    'p50',
    'p99',
    'p99.9',
    'max',
    'missing/waiting/again',
    'slots lost',
    'interrupted',
    'loop',
    'peak MB',
  ];
  const sum = (rounds: readonly NeighbourRound[], of: (round: NeighbourRound) => number) =>
    rounds.reduce((total, round) => total + of(round), 0);
  const rows = lines.map(({ store, version, beside, rounds }) => [
    `${NEIGHBOUR_STORES[store]}: ${nameOf(beside, version)}`,
    ...(['p50Ms', 'p99Ms', 'p999Ms', 'maxMs'] as const).map((quantile) =>
      medianOf(rounds, ({ healthy }) => healthy[quantile], 1),
    ),
    `${sum(rounds, ({ healthy }) => healthy.expected - healthy.arrived)}/${sum(rounds, ({ waiting }) => waiting)}/${sum(rounds, ({ healthy }) => healthy.repeated)}`,
    store === 'sqlite' ? '-' : String(sum(rounds, ({ slotsLost }) => slotsLost ?? 0)),
    String(sum(rounds, ({ interrupted }) => interrupted)),
    medianOf(rounds, ({ eventLoopDelayMaxMs }) => eventLoopDelayMaxMs, 0),
    memoryOfEach(rounds),
  ]);
  const heading = 'A healthy customer alone and beside hostile ones; lateness and event loop in ms';
  return [heading, '', ...aligned([head, ...rows]), ...(remarks.length > 0 ? ['', ...remarks] : [])].join(
    '\n',
  );
}

/** Cold starts, and the first delivery of each. */
function startOf({ lines, remarks }: StartResults): string {
  const rows = lines.flatMap((line) =>
    (['created', 'stored'] as const).map((first) => {
      const starts = startsOf(line, first);
      const worst = (numbers: readonly (number | null)[], digits: number) =>
        Math.max(...numbers.map((each) => each ?? 0)).toFixed(digits);
      return [
        `${startName(line)}: first ${first}`,
        String(starts.length),
        medianOf(starts, ({ listeningMs }) => listeningMs, 0),
        medianOf(starts, ({ readyMs }) => readyMs, 0),
        worst(
          starts.map(({ readyMs }) => readyMs),
          0,
        ),
        medianOf(starts, ({ arrivedMs }) => arrivedMs, 1),
        worst(
          starts.map(({ arrivedMs }) => arrivedMs),
          1,
        ),
      ];
    }),
  );
  const head = ['', 'starts', 'listening', 'ready', 'worst', 'first late', 'worst'];
  const heading = 'Cold starts and their first delivery: medians and the worst, in ms';
  return [heading, '', ...aligned([head, ...rows]), ...(remarks.length > 0 ? ['', ...remarks] : [])].join(
    '\n',
  );
}

/** The installed package beside the checkout. */
function packageOf({ tarballBytes, installedBytes, runtimeBytes, installs, starts }: PackageResults): string {
  const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(1);
  const rows = (['package', 'checkout'] as const).map((from) => [
    from,
    medianOf(starts[from].versionMs, (ms) => ms, 0),
    medianOf(starts[from].devMs, (ms) => ms, 0),
  ]);
  return [
    `The package: ${megabytes(tarballBytes)} MB packed, ${megabytes(installedBytes)} MB installed, ${megabytes(runtimeBytes)} MB more with the runtime`,
    `npm install: ${medianOf(installs, ({ coldMs }) => coldMs, 0)} ms with nothing cached, ${medianOf(installs, ({ warmMs }) => warmMs, 0)} ms cached`,
    '',
    ...aligned([['ms', '--version', 'dev listens'], ...rows]),
  ].join('\n');
}

function contendersOf(results: Results): string {
  const { scale, contenders } = results;
  const columns = [
    ...(contenders.some(({ paced }) => paced.length > 0)
      ? [
          latenessColumn('paced p50', 'p50Ms'),
          latenessColumn('p99', 'p99Ms'),
          latenessColumn('p99.9', 'p999Ms'),
          ...costColumns(({ paced }) => paced),
        ]
      : []),
    ...scale.bursts.flatMap((count) => burstColumns(count, contenders)),
    ...(contenders.some(({ creates }) => creates.length > 0) ? createsColumns(contenders) : []),
    ...(contenders.some(({ recurring }) => recurring.length > 0)
      ? [recurringColumn('minute p50', 'p50Ms'), recurringColumn('last', 'maxMs')]
      : []),
    wrongColumn,
  ];
  const head = ['', ...columns.map(({ head }) => head)];
  const rows = contenders.map((contender) => [contender.name, ...columns.map(({ cell }) => cell(contender))]);
  const remarks = contenders.flatMap(({ name, remarks }) => remarks.map((remark) => `${name}: ${remark}`));
  const heading = `Medians of ${scale.rounds} ${scale.rounds === 1 ? 'round' : 'rounds'}; lateness in ms, bursts and creates per second`;
  return [heading, '', ...aligned([head, ...rows]), ...(remarks.length > 0 ? ['', ...remarks] : [])].join(
    '\n',
  );
}

interface Column {
  readonly head: string;
  readonly cell: (contender: ContenderResults) => string;
}

type Quantile = 'p50Ms' | 'p99Ms' | 'p999Ms' | 'maxMs';

function latenessColumn(head: string, quantile: Quantile): Column {
  return { head, cell: ({ paced }) => medianOf(paced, (round) => round[quantile], 1) };
}

function recurringColumn(head: string, quantile: Quantile): Column {
  return { head, cell: ({ recurring }) => medianOf(recurring, (round) => round[quantile], 0) };
}

/** The processor time of one delivery: of the contender's processes, and of its database. */
function costColumns(roundsOf: (contender: ContenderResults) => readonly LatenessRound[]): readonly Column[] {
  return [
    { head: 'cpu ms', cell: (contender) => medianOf(roundsOf(contender), ({ cpuMsEach }) => cpuMsEach, 2) },
    {
      head: 'db ms',
      cell: (contender) =>
        medianOf(roundsOf(contender), ({ databaseCpuMsEach = null }) => databaseCpuMsEach, 2),
    },
  ];
}

function burstColumns(count: number, contenders: readonly ContenderResults[]): readonly Column[] {
  const roundsOf = ({ bursts }: ContenderResults) =>
    bursts.find((each) => each.count === count)?.rounds ?? [];
  if (contenders.every((contender) => roundsOf(contender).length === 0)) return [];
  const limit = contenders.find(({ id }) => id === 'limit');
  const most = limit === undefined ? [] : roundsOf(limit);
  return [
    {
      head: `burst ${count / 1_000}k`,
      cell: (contender) => {
        const rounds = roundsOf(contender);
        const short = rounds.find((round) => round.arrived < round.expected);
        return short === undefined ? medianOf(rounds, perSecondOf, 0) : `${short.arrived} only`;
      },
    },
    {
      head: 'of limit',
      cell: (contender) => ratio(roundsOf(contender).map(perSecondOf), most.map(perSecondOf)),
    },
    ...costColumns(roundsOf),
  ];
}

function createsColumns(contenders: readonly ContenderResults[]): readonly Column[] {
  const bare =
    contenders.find(({ id }) => id === 'bare-route')?.creates.map(({ perSecond }) => perSecond) ?? [];
  return [
    { head: 'creates', cell: ({ creates }) => medianOf(creates, (round) => round.perSecond, 0) },
    {
      head: 'of bare',
      cell: ({ creates }) =>
        ratio(
          creates.map(({ perSecond }) => perSecond),
          bare,
        ),
    },
    { head: 'cpu us', cell: ({ creates }) => medianOf(creates, (round) => round.cpuMicrosEach, 0) },
    {
      head: 'db us',
      cell: ({ creates }) =>
        medianOf(creates, ({ databaseCpuMicrosEach = null }) => databaseCpuMicrosEach, 0),
    },
  ];
}

/** Counts of errors: requests that came early, requests that came again, and creates that failed. */
const wrongColumn: Column = {
  head: 'early/again/failed',
  cell: ({ paced, bursts, recurring, creates }) => {
    const all = [...paced, ...bursts.flatMap(({ rounds }) => rounds), ...recurring];
    const sum = (of: (round: LatenessRound) => number) => all.reduce((total, round) => total + of(round), 0);
    const failed = creates.reduce((total, round) => total + round.failed, 0);
    return `${sum(({ early }) => early)}/${sum(({ repeated }) => repeated)}/${failed}`;
  },
};

function medianOf<R>(rounds: readonly R[], of: (round: R) => number | null, digits: number): string {
  const numbers = rounds.map(of).filter((each) => each !== null);
  return numbers.length === 0 ? '-' : median(numbers).toFixed(digits);
}

function ratio(numbers: readonly number[], most: readonly number[]): string {
  return numbers.length === 0 || most.length === 0 ? '-' : (median(numbers) / median(most)).toFixed(2);
}

/** The first column is aligned to the left, the others to the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join(GAP),
  );
}
