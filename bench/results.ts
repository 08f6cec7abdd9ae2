/** What a run has measured: all that the report and the charts are made of, and what `--json` writes. */
import type { ContenderId } from './contender.ts';
import type { Beside, Hostile } from './neighbour/customers.ts';
import { quantileOfSorted } from './statistics.ts';

export interface Results {
  readonly format: typeof RESULTS_FORMAT;
  /** The command line that made them. */
  readonly command: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly elapsedSeconds: number;
  readonly machine: Machine;
  readonly scale: Scale;
  readonly contenders: readonly ContenderResults[];
  /** Null where it was not asked for. */
  readonly stored: StoredResults | null;
  readonly recovery: RecoveryResults | null;
  readonly hanging: HangingResults | null;
  readonly dashboard: DashboardResults | null;
  readonly neighbour: NeighbourResults | null;
}

export const RESULTS_FORMAT = 1;

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  /** Null where none is installed. */
  readonly redis: string | null;
}

/** How much is done, and how often. */
export interface Scale {
  readonly quick: boolean;
  readonly rounds: number;
  readonly paced: { readonly rate: number; readonly seconds: number };
  /** All due at one instant, so many. */
  readonly bursts: readonly number[];
  readonly burstSecondsMax: number;
  readonly creates: { readonly atOnce: number; readonly seconds: number };
  readonly recurring: { readonly schedules: number; readonly rounds: number };
  readonly stored: { readonly sizes: readonly number[]; readonly rounds: number; readonly burst: number };
  readonly recovery: { readonly stored: number; readonly overdue: number; readonly rounds: number };
  readonly dashboard: { readonly stored: number; readonly rounds: number };
  readonly neighbour: NeighbourScale;
}

export interface NeighbourScale {
  readonly rounds: number;
  /** Deliveries of the healthy customer. */
  readonly rate: number;
  readonly seconds: number;
  /** What each hostile customer has many of. */
  readonly sizes: Readonly<Record<Hostile, number>>;
}

export interface ContenderResults {
  readonly id: ContenderId;
  readonly name: string;
  readonly version: string;
  readonly settings: string;
  readonly durability: string;
  /** One for each round that was taken. */
  readonly paced: readonly LatenessRound[];
  readonly bursts: readonly { readonly count: number; readonly rounds: readonly LatenessRound[] }[];
  readonly creates: readonly CreatesRound[];
  readonly recurring: readonly LatenessRound[];
  /** What went wrong or was left out, in words; no word twice. */
  readonly remarks: readonly string[];
}

/** How late what was due arrived. */
export interface LatenessRound {
  readonly expected: number;
  /** Less than expected where it did not all arrive in the time it was given. */
  readonly arrived: number;
  /** Arrived before their instant. */
  readonly early: number;
  /** Arrived once more than they should have. */
  readonly repeated: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Of a burst: the time to the last arrival. */
  readonly maxMs: number;
  /** Processor time of the contender's processes for each that arrived, without the database's. */
  readonly cpuMsEach: number | null;
  /** Lateness at `CURVE_SHARES`: which part of what was expected had arrived by then. Null: never. */
  readonly curveMs: readonly (number | null)[];
}

export interface CreatesRound {
  readonly perSecond: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the contender's processes for each, without the database's. */
  readonly cpuMicrosEach: number | null;
}

export const STORE_KINDS = ['sqlite', 'postgres'] as const;
export type SchedStoreKind = (typeof STORE_KINDS)[number];

/** The same work with ever more schedules stored. */
export interface StoredResults {
  readonly lines: readonly StoredLine[];
  readonly remarks: readonly string[];
}

export interface StoredLine {
  readonly store: SchedStoreKind;
  readonly stored: number;
  readonly rounds: readonly StoredRound[];
}

export interface StoredRound {
  readonly paced: LatenessRound;
  readonly burst: LatenessRound;
  readonly memoryMbAtStart: number | null;
  readonly memoryMbAfter: number | null;
}

/** Starting again with many stored and some overdue. */
export interface RecoveryResults {
  readonly lines: readonly RecoveryLine[];
  readonly remarks: readonly string[];
}

export interface RecoveryLine {
  readonly store: SchedStoreKind;
  readonly stored: number;
  readonly overdue: number;
  readonly rounds: readonly RecoveryRound[];
}

export interface RecoveryRound {
  /** From its start. */
  readonly listeningMs: number;
  readonly readyMs: number;
  /** From the first arrival of what was overdue to the last; null where not all arrived in time. */
  readonly drainMs: number | null;
  /** Of what was overdue, while it drained. */
  readonly drainedPerSecond: number;
  readonly fresh: LatenessRound;
}

/** Healthy endpoints alone and beside ones that never answer. */
export interface HangingResults {
  readonly hanging: number;
  readonly alone: readonly LatenessRound[];
  readonly beside: readonly LatenessRound[];
}

/** Somebody looks at what is stored, while requests are sent. */
export interface DashboardResults {
  readonly lines: readonly DashboardLine[];
  readonly remarks: readonly string[];
}

export interface DashboardLine {
  readonly store: SchedStoreKind;
  readonly stored: number;
  readonly pages: readonly PageTimes[];
  /** Paced, without a page open and with one. */
  readonly closed: readonly LatenessRound[];
  readonly open: readonly LatenessRound[];
}

/** From the request for a page's data to the last byte of them. */
export interface PageTimes {
  readonly page: string;
  /** Asked for the first time. */
  readonly firstMs: number;
  readonly p50Ms: number;
  readonly maxMs: number;
  readonly bytes: number;
}

/** A healthy customer alone, beside each hostile one, and beside all of them. */
export interface NeighbourResults {
  readonly lines: readonly NeighbourLine[];
  readonly remarks: readonly string[];
}

export interface NeighbourLine {
  /** One process on SQLite, or two nodes on PostgreSQL. */
  readonly store: SchedStoreKind;
  readonly version: SchedVersion;
  readonly beside: Beside;
  readonly rounds: readonly NeighbourRound[];
}

/** The checkout that is measured, or the one that it is compared with. */
export type SchedVersion = 'this' | 'baseline';

export interface NeighbourRound {
  readonly healthy: LatenessRound;
  /** Deliveries of the healthy customer that the store still had to send at the end: late, not lost. */
  readonly waiting: number;
  /** The most memory that each node had in use at one time; null where the system does not tell. */
  readonly peakMemoryMb: readonly (number | null)[];
  /** Slots that a node lost without having given them back; null where there is one process alone. */
  readonly slotsLost: number | null;
  /** Attempts of any customer that were closed as `interrupted`. */
  readonly interrupted: number;
  /** The longest that the event loop of a node was held up; null where it does not tell. */
  readonly eventLoopDelayMaxMs: number | null;
  /** Requests of each hostile customer that the service answered with success, or that arrived at its receiver. */
  readonly hostileRequests: Readonly<Partial<Record<Hostile, number>>>;
}

const CURVE_STEPS = 200;
const CURVE_TAIL = [0.996, 0.997, 0.998, 0.999, 0.9995, 0.9999, 1];
export const CURVE_SHARES: readonly number[] = [
  ...Array.from({ length: CURVE_STEPS }, (_, n) => n / CURVE_STEPS),
  ...CURVE_TAIL,
];

export interface Arrived {
  readonly expected: number;
  /** Of the first arrival of each, in any order. */
  readonly latenessMs: readonly number[];
  readonly repeated: number;
  /** Processor time used for all of them. */
  readonly cpuMs: number | null;
}

export function latenessRound({ expected, latenessMs, repeated, cpuMs }: Arrived): LatenessRound {
  const sorted = latenessMs.toSorted((a, b) => a - b);
  const arrived = sorted.length;
  const at = (q: number) => rounded(quantileOfSorted(sorted, q));
  return {
    expected,
    arrived,
    early: sorted.filter((late) => late < 0).length,
    repeated,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
    cpuMsEach: cpuMs === null || arrived === 0 ? null : rounded(cpuMs / arrived),
    curveMs: CURVE_SHARES.map((share) => {
      const late = sorted[Math.round(share * (expected - 1))];
      return late === undefined ? null : rounded(late);
    }),
  };
}

const MS_PER_SECOND = 1_000;

/** Of a burst: from the instant to the last arrival. */
export function perSecondOf({ arrived, maxMs }: LatenessRound): number {
  return maxMs > 0 ? (arrived * MS_PER_SECOND) / maxMs : 0;
}

/** A thousandth of a millisecond is finer than any clock here. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
