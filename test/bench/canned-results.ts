/** A small run, made up: every contender the same work, each so many times slower than the limit. */
import { CONTENDER_IDS, type ContenderId } from '../../bench/contender.ts';
import { latenessRound } from '../../bench/lateness.ts';
import { optionsOf } from '../../bench/options.ts';
import {
  type ContenderResults,
  type LatenessRound,
  type NeighbourLine,
  type NeighbourRound,
  RESULTS_FORMAT,
  type Results,
  type StoredLine,
} from '../../bench/results.ts';

const FULL_NEIGHBOUR = optionsOf([]).scale.neighbour;
const ROUNDS = 3;
const PACED = 100;
export const BURST = 200;
const MOST_STORED = 5_000_000;

/** Lateness counts up evenly to `lastMs`. */
export function evenRound(count: number, lastMs: number, arrived = count): LatenessRound {
  const latenessMs = Array.from({ length: arrived }, (_, n) => ((n + 1) * lastMs) / count);
  return latenessRound({
    expected: count,
    latenessMs,
    repeated: 0,
    cpu: { ownMs: count / 10, databaseMs: 0 },
  });
}

function threeTimes<T>(make: (round: number) => T): readonly T[] {
  return Array.from({ length: ROUNDS }, (_, n) => make(n));
}

export function contender(id: ContenderId, slowness: number): ContenderResults {
  const isRoute = id === 'bare-route';
  return {
    id,
    name: `contender ${id}`,
    version: '1.2.3',
    settings: 'as it comes',
    durability: 'all of it',
    paced: isRoute ? [] : threeTimes((n) => evenRound(PACED, slowness * (2 + n / 10))),
    bursts: isRoute
      ? []
      : [{ count: BURST, rounds: threeTimes((n) => evenRound(BURST, slowness * (100 + n))) }],
    creates: threeTimes((n) => ({
      perSecond: 10_000 / slowness - n,
      failed: 0,
      p50Ms: slowness,
      p99Ms: slowness * 2,
      cpuMicrosEach: slowness * 40,
    })),
    recurring: [],
    remarks: [],
  };
}

function stored(store: StoredLine['store'], count: number): StoredLine {
  return {
    store,
    stored: count,
    rounds: threeTimes((n) => ({
      paced: evenRound(PACED, 3 + n),
      burst: evenRound(BURST, 150 + n),
      memoryMbAtStart: 90,
      memoryMbAfter: 120 + count / 100_000,
    })),
  };
}

/** The limit is 1, Sched a little more, and peers ten times as slow. */
const SLOWNESS: Partial<Record<ContenderId, number>> = {
  limit: 1,
  'bare-route': 1,
  'sched-sqlite': 1.4,
  'sched-postgres': 2,
};
const PEER_SLOWNESS = 10;

export const CANNED: Results = {
  format: RESULTS_FORMAT,
  command: 'npm run bench',
  startedAt: '2026-01-02T03:04:05.000Z',
  elapsedSeconds: 3_600,
  machine: {
    cores: 2,
    processor: 'A processor',
    memoryGb: 24,
    system: 'Linux',
    node: 'v24',
    postgres: '18',
    redis: null,
  },
  scale: {
    quick: false,
    rounds: ROUNDS,
    paced: { rate: 50, seconds: 2 },
    bursts: [BURST],
    burstSecondsMax: 30,
    creates: { atOnce: 64, seconds: 4 },
    recurring: { schedules: 100, rounds: 1 },
    stored: { sizes: [0, MOST_STORED], rounds: ROUNDS, burst: BURST },
    recovery: { stored: 1_000, overdue: BURST, rounds: ROUNDS },
    notifications: { rounds: ROUNDS, rate: 50, seconds: 2, deadLetters: 100 },
    dashboard: { stored: 1_000, rounds: ROUNDS },
    neighbour: { ...FULL_NEIGHBOUR, rounds: ROUNDS },
    package: { rounds: 1, starts: 3 },
    start: { rounds: ROUNDS },
    citus: { rounds: ROUNDS, projects: 16, paced: { rate: 20, seconds: 5 }, burst: BURST },
  },
  contenders: CONTENDER_IDS.map((id) => contender(id, SLOWNESS[id] ?? PEER_SLOWNESS)),
  stored: {
    lines: (['sqlite', 'postgres'] as const).flatMap((store) => [
      stored(store, 0),
      stored(store, MOST_STORED),
    ]),
    remarks: [],
  },
  recovery: {
    bareClient: threeTimes((n) => ({
      sendMs: 100 + n,
      perSecond: 2_000 + n - 1,
      cpuMsEach: 0.2,
      databaseCpuMsEach: 0,
    })),
    lines: [
      {
        store: 'sqlite',
        stored: 1_000,
        overdue: BURST,
        rounds: threeTimes((n) => ({
          listeningMs: 400 + n,
          readyMs: 500 + n,
          drainMs: 150,
          drainedPerSecond: 1_400,
          fresh: evenRound(PACED, 20),
        })),
      },
    ],
    remarks: [],
  },
  hanging: null,
  dashboard: null,
  neighbour: null,
  package: {
    tarballBytes: 1_400_000,
    installedBytes: 30_000_000,
    runtimeBytes: 200_000_000,
    installs: [{ coldMs: 9_000, warmMs: 3_000 }],
    starts: {
      package: { versionMs: [100, 110, 120], devMs: [600, 700, 1_600] },
      checkout: { versionMs: [200], devMs: [1_200] },
    },
  },
  start: {
    lines: (['sqlite', 'postgres'] as const).map((store) => ({
      store,
      version: 'this' as const,
      starts: [1, 2, 3].flatMap((n) => [
        { first: 'created' as const, listeningMs: 270 + 10 * n, readyMs: 290 + 10 * n, arrivedMs: 2 * n },
        { first: 'stored' as const, listeningMs: 280, readyMs: 300, arrivedMs: n === 3 ? null : 3 },
      ]),
    })),
    remarks: [],
  },
};

/** Lateness of the healthy customer, evenly up to `lastMs`, in each of the rounds. */
export function neighbourLine(
  store: NeighbourLine['store'],
  beside: NeighbourLine['beside'],
  lastMs: number,
  changes: Partial<NeighbourRound> = {},
  version: NeighbourLine['version'] = 'this',
): NeighbourLine {
  const rounds = threeTimes((n) => ({
    healthy: evenRound(PACED, lastMs + n),
    waiting: 0,
    peakMemoryMb: store === 'sqlite' ? [300 + n] : [300 + n, 280],
    slotsLost: store === 'sqlite' ? null : 0,
    interrupted: 0,
    eventLoopDelayMaxMs: 12,
    hostileRequests: beside === 'alone' ? {} : { paths: 1_000, lists: 234 },
    ...changes,
  }));
  return { store, version, beside, rounds };
}
