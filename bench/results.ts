/** The results of a run. The report and the charts use nothing else, and `--json` writes them. */
import type { ContenderId } from './contender.ts';
import type { Beside, Hostile } from './neighbour/customers.ts';

export interface Results {
  readonly format: typeof RESULTS_FORMAT;
  /** The command line of the run. */
  readonly command: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly elapsedSeconds: number;
  readonly machine: Machine;
  readonly scale: Scale;
  /** The runs that these results were combined from. */
  readonly runs?: readonly Run[];
  readonly contenders: readonly ContenderResults[];
  /** The results of a workload are null if it did not run. */
  readonly stored: StoredResults | null;
  readonly recovery: RecoveryResults | null;
  readonly hanging: HangingResults | null;
  /** Results of earlier versions have no such part. */
  readonly notifications?: NotificationsResults | null;
  readonly dashboard: DashboardResults | null;
  readonly neighbour: NeighbourResults | null;
  readonly package: PackageResults | null;
  /** Results of earlier versions have no such part. */
  readonly start?: StartResults | null;
  readonly citus?: CitusResults | null;
}

export const RESULTS_FORMAT = 1;

export interface Run {
  readonly command: string;
  readonly startedAt: string;
  readonly elapsedSeconds: number;
  readonly rounds: number;
}

export function runsOf({ runs, command, startedAt, elapsedSeconds, scale }: Results): readonly Run[] {
  return runs ?? [{ command, startedAt, elapsedSeconds, rounds: scale.rounds }];
}

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  /** Null if Redis is not installed. */
  readonly redis: string | null;
}

/** Paced deliveries at a rate, beside so many dead letters in the same time. */
export interface NotificationsScale {
  readonly rounds: number;
  readonly rate: number;
  readonly seconds: number;
  readonly deadLetters: number;
}

/** The size of each workload, and the number of its rounds. */
export interface Scale {
  readonly quick: boolean;
  readonly rounds: number;
  readonly paced: { readonly rate: number; readonly seconds: number };
  /** The numbers of jobs that are due at one instant. */
  readonly bursts: readonly number[];
  readonly burstSecondsMax: number;
  readonly creates: { readonly atOnce: number; readonly seconds: number };
  readonly recurring: { readonly schedules: number; readonly rounds: number };
  readonly stored: { readonly sizes: readonly number[]; readonly rounds: number; readonly burst: number };
  readonly recovery: { readonly stored: number; readonly overdue: number; readonly rounds: number };
  readonly notifications: NotificationsScale;
  readonly dashboard: { readonly stored: number; readonly rounds: number };
  readonly neighbour: NeighbourScale;
  /** `starts` is the number of starts in each round. */
  readonly package: { readonly rounds: number; readonly starts: number };
  /** Each round is a pair of starts for each store. */
  readonly start: { readonly rounds: number };
  readonly citus: {
    readonly rounds: number;
    /** The work is spread evenly over this many projects. */
    readonly projects: number;
    readonly paced: { readonly rate: number; readonly seconds: number };
    readonly burst: number;
  };
}

export interface NeighbourScale {
  readonly rounds: number;
  /** Deliveries of the healthy customer in one second. */
  readonly rate: number;
  readonly seconds: number;
  /** The number of objects that each hostile customer uses: bodies, paths, schedules, deliveries or clients. */
  readonly sizes: Readonly<Record<Hostile, number>>;
}

export interface ContenderResults {
  readonly id: ContenderId;
  readonly name: string;
  readonly version: string;
  readonly settings: string;
  readonly durability: string;
  /** One entry for each round that was finished. */
  readonly paced: readonly LatenessRound[];
  readonly bursts: readonly { readonly count: number; readonly rounds: readonly LatenessRound[] }[];
  readonly creates: readonly CreatesRound[];
  readonly recurring: readonly LatenessRound[];
  /** Sentences about failures and omissions, each only once. */
  readonly remarks: readonly string[];
}

/** The lateness of the requests of one round. */
export interface LatenessRound {
  readonly expected: number;
  /** Smaller than `expected` if some requests did not arrive in time. */
  readonly arrived: number;
  /** The number of requests that arrived before their instant. */
  readonly early: number;
  /** The number of requests that arrived again. */
  readonly repeated: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** In a burst, this is the time until the last arrival. */
  readonly maxMs: number;
  /** Processor time of the contender's processes for each arrival, without the database. */
  readonly cpuMsEach: number | null;
  /** The same of the database's processes. Results of earlier versions do not have it. */
  readonly databaseCpuMsEach?: number | null;
  /** The part of it that the workers of a Citus cluster took. */
  readonly workersCpuMsEach?: number | null;
  /** The lateness by which each share of `CURVE_SHARES` had arrived. Null if it never did. */
  readonly curveMs: readonly (number | null)[];
}

export interface CreatesRound {
  readonly perSecond: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the contender's processes for each create, without the database. */
  readonly cpuMicrosEach: number | null;
  /** The same of the database's processes. Results of earlier versions do not have it. */
  readonly databaseCpuMicrosEach?: number | null;
}

export const STORE_KINDS = ['sqlite', 'postgres'] as const;
export type SchedStoreKind = (typeof STORE_KINDS)[number];

/** The same workloads with more and more schedules stored. */
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

/** A restart with many schedules stored and some deliveries overdue. */
export interface RecoveryResults {
  /** The bare client started anew, with as many requests at once. Results of earlier versions do not have it. */
  readonly bareClient?: readonly BareClientRound[];
  readonly lines: readonly RecoveryLine[];
  readonly remarks: readonly string[];
}

export interface BareClientRound {
  /** The time from the first to the last arrival. */
  readonly sendMs: number;
  readonly perSecond: number;
  readonly cpuMsEach: number | null;
  readonly databaseCpuMsEach: 0;
}

export interface RecoveryLine {
  readonly store: SchedStoreKind;
  readonly stored: number;
  readonly overdue: number;
  readonly rounds: readonly RecoveryRound[];
}

export interface RecoveryRound {
  /** The time from the start of the process until it listens. */
  readonly listeningMs: number;
  readonly readyMs: number;
  /** The time from the first to the last arrival of overdue jobs. Null if not all arrived in time. */
  readonly drainMs: number | null;
  /** The rate at which overdue jobs arrived. */
  readonly drainedPerSecond: number;
  /** The processor time from the start on for each delivery. Results of earlier versions do not have it. */
  readonly cpuMsEach?: number | null;
  readonly databaseCpuMsEach?: number | null;
  readonly fresh: LatenessRound;
}

/** Healthy endpoints alone and beside endpoints that never answer. */
export interface HangingResults {
  readonly hanging: number;
  readonly alone: readonly LatenessRound[];
  readonly beside: readonly LatenessRound[];
}

/** Paced deliveries alone and beside dead letters, which are told or not. */
export interface NotificationsResults {
  readonly lines: readonly NotificationsLine[];
}

export interface NotificationsLine {
  readonly store: SchedStoreKind;
  readonly beside: 'nothing' | 'dead_letters' | 'told_dead_letters';
  readonly rounds: readonly NotificationsRound[];
}

export interface NotificationsRound {
  readonly lateness: LatenessRound;
  readonly deadLetters: number;
  readonly told: number;
  readonly toldInBusiestSecond: number;
  readonly memoryMbBefore: number | null;
  readonly memoryMbAfter: number | null;
}

/** The times of the dashboard's pages, and the lateness of requests while a page is open. */
export interface DashboardResults {
  readonly lines: readonly DashboardLine[];
  readonly remarks: readonly string[];
}

export interface DashboardLine {
  readonly store: SchedStoreKind;
  readonly stored: number;
  readonly pages: readonly PageTimes[];
  /** Paced rounds without an open page (`closed`) and with one (`open`). */
  readonly closed: readonly LatenessRound[];
  readonly open: readonly LatenessRound[];
}

/** Times from the request for a page's data to their last byte. */
export interface PageTimes {
  readonly page: string;
  /** The time of the first request. */
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
  /** The peak memory of each node. Null if it is not known. */
  readonly peakMemoryMb: readonly (number | null)[];
  /** Slots that a node lost without having released them. Null if there is only one process. */
  readonly slotsLost: number | null;
  /** Attempts of any customer that were closed as `interrupted`. */
  readonly interrupted: number;
  /** The longest delay of a node's event loop. Null if it is not known. */
  readonly eventLoopDelayMaxMs: number | null;
  /** Successful API requests of each hostile customer, plus the requests that arrived at its receiver. */
  readonly hostileRequests: Readonly<Partial<Record<Hostile, number>>>;
}

/** The package that users install. */
export interface PackageResults {
  readonly tarballBytes: number;
  /** The program and better-sqlite3. */
  readonly installedBytes: number;
  readonly runtimeBytes: number;
  /** The times of `npm install` with an empty and with a filled cache of npm. */
  readonly installs: readonly { readonly coldMs: number; readonly warmMs: number }[];
  readonly starts: Readonly<Record<'package' | 'checkout', StartTimes>>;
}

export interface StartTimes {
  /** The times of `sched --version`. */
  readonly versionMs: readonly number[];
  /** The times until `sched dev` listens. */
  readonly devMs: readonly number[];
}

/** Cold starts of the program that users install. */
export interface StartResults {
  readonly lines: readonly StartLine[];
  readonly remarks: readonly string[];
}

export interface StartLine {
  readonly store: SchedStoreKind;
  readonly version: SchedVersion;
  readonly starts: readonly ColdStart[];
}

/** The first delivery of a process was created after it was ready, or stored by an earlier process. */
export type FirstDelivery = 'created' | 'stored';

export interface ColdStart {
  readonly first: FirstDelivery;
  /** The time from the start of the process until it says that it listens. */
  readonly listeningMs: number;
  /** The time from the start of the process until `/readyz` answers 200. */
  readonly readyMs: number;
  /** The time from the instant of the first delivery to its arrival. Null if the process was ready only after it. */
  readonly arrivedMs: number | null;
}

/** The same work of many projects on a Citus cluster and on plain PostgreSQL. */
export interface CitusResults {
  /** Null if there was no cluster. */
  readonly cluster: CitusCluster | null;
  readonly lines: readonly CitusLine[];
  readonly remarks: readonly string[];
}

/** The cluster as it was found. The benchmark changes none of its settings. */
export interface CitusCluster {
  readonly citus: string;
  readonly postgres: string;
  readonly workers: number;
  /** The number of shards of each table. */
  readonly shards: number;
  /** Whether commits wait for the disk on every server. */
  readonly isDurable: boolean;
}

export interface CitusLine {
  readonly database: 'postgres' | 'citus';
  readonly version: SchedVersion;
  readonly rounds: readonly CitusRound[];
}

export interface CitusRound {
  readonly paced: LatenessRound;
  readonly burst: LatenessRound;
}
