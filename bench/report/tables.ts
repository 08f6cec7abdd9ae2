/** A table for each workload, with one row of medians for each contender. */

import { perSecondOf } from '../lateness.ts';
import type {
  ContenderResults,
  LatenessRound,
  NotificationsLine,
  Results,
  SchedStoreKind,
} from '../results.ts';
import { burstRate, isComplete, medianOf, milliseconds, NOTHING, ratio, spread, whole } from './figures.ts';
import { plain, table } from './markdown.ts';

export const STORE_NAMES: Readonly<Record<SchedStoreKind, string>> = {
  sqlite: 'Sched on SQLite',
  postgres: 'Sched on PostgreSQL',
};

const QUANTILES = ['p50Ms', 'p99Ms', 'p999Ms', 'maxMs'] as const;

export function pacedTable({ contenders }: Results): string {
  return latenessTable(
    contenders.map(({ name, paced }) => [name, paced] as const),
    true,
  );
}

export function recurringTable({ contenders }: Results): string {
  return latenessTable(contenders.map(({ name, recurring }) => [name, recurring] as const));
}

function latenessTable(
  lines: readonly (readonly [name: string, rounds: readonly LatenessRound[]])[],
  hasCost = false,
): string {
  const measured = lines.filter(([, rounds]) => rounds.length > 0);
  return table(
    [
      'lateness in ms',
      'p50',
      'p99',
      'p99.9',
      'last',
      ...(hasCost ? ['cpu ms each', 'database'] : []),
      'early',
      'repeated',
      'missing',
    ],
    measured.map(([name, rounds]) => [
      plain(name),
      ...QUANTILES.map((quantile) => spread(rounds, (round) => round[quantile], milliseconds)),
      ...(hasCost ? costCells(rounds) : []),
      ...anomalyCells(rounds),
    ]),
  );
}

/** The sums of all rounds: early, repeated and missing requests. */
function anomalyCells(rounds: readonly LatenessRound[]): readonly string[] {
  const sum = (pick: (round: LatenessRound) => number) =>
    whole(rounds.reduce((total, round) => total + pick(round), 0));
  return [
    sum(({ early }) => early),
    sum(({ repeated }) => repeated),
    sum(({ expected, arrived }) => expected - arrived),
  ];
}

/** The processor time of one delivery: of the contender's processes, then of its database. */
export function costCells(rounds: readonly LatenessRound[]): readonly string[] {
  return [
    spread(rounds, ({ cpuMsEach }) => cpuMsEach, ratio),
    spread(rounds, ({ databaseCpuMsEach = null }) => databaseCpuMsEach, ratio),
  ];
}

export function burstTable({ contenders, scale }: Results, count: number): string {
  const rows = contenders.map((one) => [one, roundsOf(one, count)] as const);
  const limit = rows.find(([{ id }]) => id === 'limit');
  const limitRate = limit === undefined ? null : (burstRate(limit[1])?.median ?? null);
  return table(
    [
      `${whole(count)} at once`,
      'a second',
      'of the limit',
      'last after ms',
      'cpu ms each',
      'database',
      'repeated',
    ],
    rows
      .filter(([, rounds]) => rounds.length > 0)
      .map(([{ name }, rounds]) => {
        const rate = burstRate(rounds)?.median ?? null;
        return [
          plain(name),
          rateCell(rounds, scale.burstSecondsMax),
          rate === null || limitRate === null ? NOTHING : ratio(rate / limitRate),
          rate === null ? NOTHING : spread(rounds, ({ maxMs }) => maxMs, whole),
          ...costCells(rounds),
          anomalyCells(rounds)[1] ?? NOTHING,
        ];
      }),
  );
}

export function roundsOf({ bursts }: ContenderResults, count: number): readonly LatenessRound[] {
  return bursts.find((burst) => burst.count === count)?.rounds ?? [];
}

export function rateCell(rounds: readonly LatenessRound[], secondsMax: number): string {
  return burstRate(rounds) === null ? arrivedInTime(rounds, secondsMax) : spread(rounds, perSecondOf, whole);
}

function arrivedInTime(rounds: readonly LatenessRound[], secondsMax: number): string {
  const short = rounds.filter((round) => !isComplete(round));
  const arrived = medianOf(short.map((round) => round.arrived)) ?? 0;
  return `${whole(arrived)} of ${whole(short[0]?.expected ?? 0)} within ${secondsMax} s`;
}

export function createsTable({ contenders }: Results): string {
  const measured = contenders.filter(({ creates }) => creates.length > 0);
  const bare = measured.find(({ id }) => id === 'bare-route');
  const bareRate = bare === undefined ? null : medianOf(bare.creates.map(({ perSecond }) => perSecond));
  return table(
    ['creates', 'a second', 'of the bare route', 'p50 ms', 'p99 ms', 'cpu µs each', 'database', 'failed'],
    measured.map(({ name, creates }) => {
      const rate = medianOf(creates.map(({ perSecond }) => perSecond));
      return [
        plain(name),
        spread(creates, ({ perSecond }) => perSecond, whole),
        rate === null || bareRate === null ? NOTHING : ratio(rate / bareRate),
        spread(creates, ({ p50Ms }) => p50Ms, milliseconds),
        spread(creates, ({ p99Ms }) => p99Ms, milliseconds),
        spread(creates, ({ cpuMicrosEach }) => cpuMicrosEach, whole),
        spread(creates, ({ databaseCpuMicrosEach = null }) => databaseCpuMicrosEach, whole),
        whole(creates.reduce((sum, { failed }) => sum + failed, 0)),
      ];
    }),
  );
}

export function storedTable({ stored, scale }: Results): string {
  return table(
    ['stored', 'schedules', 'p50 ms', 'p99 ms', 'burst a second', 'MB at start', 'MB after'],
    (stored?.lines ?? []).map(({ store, stored: count, rounds }) => [
      STORE_NAMES[store],
      whole(count),
      spread(rounds, ({ paced }) => paced.p50Ms, milliseconds),
      spread(rounds, ({ paced }) => paced.p99Ms, milliseconds),
      rateCell(
        rounds.map(({ burst }) => burst),
        scale.burstSecondsMax,
      ),
      spread(rounds, ({ memoryMbAtStart }) => memoryMbAtStart, whole),
      spread(rounds, ({ memoryMbAfter }) => memoryMbAfter, whole),
    ]),
  );
}

export function recoveryTable({ recovery }: Results): string {
  const bareClient = recovery?.bareClient ?? [];
  return table(
    [
      'restart',
      'listening after ms',
      'ready after ms',
      'overdue sent in ms',
      'a second',
      'fresh p50 ms',
      'fresh p99 ms',
    ],
    [
      ...(bareClient.length === 0
        ? []
        : [
            [
              'bare client, started anew',
              NOTHING,
              NOTHING,
              spread(bareClient, ({ sendMs }) => sendMs, whole),
              spread(bareClient, ({ perSecond }) => perSecond, whole),
              NOTHING,
              NOTHING,
            ],
          ]),
      ...(recovery?.lines ?? []).map(({ store, rounds }) => [
        STORE_NAMES[store],
        spread(rounds, ({ listeningMs }) => listeningMs, whole),
        spread(rounds, ({ readyMs }) => readyMs, whole),
        spread(rounds, ({ drainMs }) => drainMs, whole),
        spread(rounds, ({ drainedPerSecond }) => drainedPerSecond, whole),
        spread(rounds, ({ fresh }) => fresh.p50Ms, milliseconds),
        spread(rounds, ({ fresh }) => fresh.p99Ms, milliseconds),
      ]),
    ],
  );
}

export function hangingTable({ hanging }: Results): string {
  if (hanging === null) return '';
  return latenessTable([
    ['Healthy endpoints alone', hanging.alone],
    [`The same beside ${whole(hanging.hanging)} that hang`, hanging.beside],
  ]);
}

const BESIDE_NAMES: Readonly<Record<NotificationsLine['beside'], string>> = {
  nothing: 'alone',
  dead_letters: 'beside dead letters',
  told_dead_letters: 'beside dead letters that are told',
};

export function notificationsTable({ notifications }: Results): string {
  const lines = notifications?.lines ?? [];
  return table(
    [
      'paced deliveries',
      'p50 ms',
      'p99 ms',
      'p99.9 ms',
      'dead letters',
      'told',
      'most in a second',
      'MB before',
      'MB after',
    ],
    lines.map(({ store, beside, rounds }) => [
      `${STORE_NAMES[store]}, ${BESIDE_NAMES[beside]}`,
      ...QUANTILES.slice(0, 3).map((quantile) =>
        spread(rounds, ({ lateness }) => lateness[quantile], milliseconds),
      ),
      spread(rounds, ({ deadLetters }) => deadLetters, whole),
      spread(rounds, ({ told }) => told, whole),
      spread(rounds, ({ toldInBusiestSecond }) => toldInBusiestSecond, whole),
      spread(rounds, ({ memoryMbBefore }) => memoryMbBefore, whole),
      spread(rounds, ({ memoryMbAfter }) => memoryMbAfter, whole),
    ]),
  );
}

export function dashboardTable({ dashboard }: Results): string {
  const lines = dashboard?.lines ?? [];
  const pages = lines[0]?.pages ?? [];
  return table(
    ['data of', ...lines.flatMap(({ store }) => [`${STORE_NAMES[store]}, p50 ms`, 'most ms', 'first ms'])],
    pages.map(({ page }) => [
      plain(page),
      ...lines.flatMap((line) => {
        const times = line.pages.find((one) => one.page === page);
        if (times === undefined) return [NOTHING, NOTHING, NOTHING];
        return [times.p50Ms, times.maxMs, times.firstMs].map(milliseconds);
      }),
    ]),
  );
}

export function openPageTable({ dashboard }: Results): string {
  return latenessTable(
    (dashboard?.lines ?? []).flatMap(({ store, closed, open }) => [
      [`${STORE_NAMES[store]}, no page open`, closed] as const,
      [`${STORE_NAMES[store]}, a page open`, open] as const,
    ]),
  );
}
