/** The answers of a project's routes, below `p/:project/:mode/`. See `contract.ts`. */
import type { Listed } from './contract.ts';

export interface Counts {
  readonly fired: number;
  readonly succeeded: number;
  readonly retried: number;
  readonly dead_lettered: number;
  readonly expired: number;
}

export type OverviewRange = '1h' | '6h' | '24h' | '7d' | '30d';

export interface Lateness {
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  /** The number of attempts that were at most this late. */
  readonly within_100_ms: number;
  readonly within_300_ms: number;
  readonly attempts: number;
}

export interface Overview {
  readonly range: OverviewRange;
  readonly now: string;
  readonly step_ms: number;
  /** Every step of the range. The last one is still open. Steps without deliveries are zeros. */
  readonly steps: readonly (Counts & {
    readonly at: string;
    readonly p50_ms: number | null;
    readonly p99_ms: number | null;
  })[];
  readonly total: Counts;
  readonly lateness: Lateness & {
    /** The number of attempts in each class of lateness. The last class has no upper bound. */
    readonly classes: readonly { readonly up_to_ms: number | null; readonly attempts: number }[];
  };
  /** Deliveries due in the next hour, by minute. Future runs of recurring schedules are included. */
  readonly due: {
    readonly from: string;
    readonly step_ms: number;
    readonly counts: readonly number[];
    readonly is_complete: boolean;
  };
  readonly breakers: readonly OpenBreaker[];
  /** Null for a single process with SQLite. */
  readonly nodes:
    | readonly {
        readonly node: string;
        readonly is_this: boolean;
        readonly is_stopping: boolean;
        readonly lease_until: string;
        readonly slots: number;
      }[]
    | null;
  /** The number of slots without an owner. */
  readonly free_slots: number;
  /** True if nothing was ever stored here. The page then shows how to begin. */
  readonly is_empty: boolean;
}

export interface OpenBreaker {
  /** The id of the endpoint profile, or the origin and path of an inline destination. */
  readonly endpoint: string;
  readonly endpoint_id: string | null;
  readonly url: string | null;
  readonly state: 'open' | 'half_open';
  readonly open_until: string;
  readonly window_ms: number;
}

export interface Upcoming {
  readonly from: string;
  readonly until: string;
  readonly step_ms: number;
  /** The busiest endpoints first. All others are summed up under `endpoint: null`. */
  readonly endpoints: readonly {
    readonly endpoint: string | null;
    readonly endpoint_id: string | null;
    readonly url: string | null;
    readonly total: number;
    readonly counts: readonly number[];
  }[];
  readonly counts: readonly number[];
  readonly total: number;
  /** The earliest runs, in the order they are due. */
  readonly runs: readonly {
    readonly at: string;
    readonly schedule_id: string;
    /** Null for a run of a recurring schedule that has no delivery yet. */
    readonly delivery_id: string | null;
    readonly is_retry: boolean;
    readonly endpoint: string;
    readonly url: string;
    readonly cron: string | null;
    readonly timezone: string | null;
  }[];
  readonly is_complete: boolean;
}

/** `data` has schedules as /v1 shows them. */
export interface ScheduleSearchPage<Schedule> extends Listed<Schedule> {
  /** The number of schedules that were scanned to find these. */
  readonly scanned: number;
}

export interface PreviewRequest {
  readonly delay?: string | null;
  readonly fire_at?: string | null;
  readonly local_fire_at?: string | null;
  readonly cron?: string | null;
  readonly timezone?: string | null;
  readonly jitter?: string | null;
}

/**
 * A note on the effect of the wall clock on a run (`domain/run-notes.ts`). `jitter` means that the run fires earlier or
 * later by up to the jitter. The exact instant depends on the id of the schedule, which a preview does not have.
 */
export interface RunNoteInfo {
  readonly kind: 'gap' | 'fold' | 'offset' | 'short_months' | 'jitter';
  readonly text: string;
}

export interface PreviewRun {
  readonly at: string;
  /** The local time in the schedule's timezone, such as `2026-11-15T09:00:00`. `offset` is its distance from UTC. */
  readonly local: string;
  readonly offset: string;
  readonly notes: readonly RunNoteInfo[];
}

export interface Preview {
  readonly timezone: string;
  readonly runs: readonly PreviewRun[];
  /** Later runs within a year that a clock change moves or makes ambiguous. Only the first run of each change. */
  readonly clock_changes: readonly PreviewRun[];
}

export interface Calendar {
  readonly timezone: string;
  readonly past: readonly {
    readonly delivery_id: string;
    readonly at: string;
    readonly local: string;
    readonly status: string;
    readonly attempt_count: number;
    readonly last_status_code: number | null;
  }[];
  readonly coming: readonly PreviewRun[];
  /** Days of the timezone with more runs than are listed here. Both ends are included. */
  readonly incomplete_days: readonly { readonly from: string; readonly until: string }[];
}

export interface AttemptInfo {
  readonly attempt_no: number;
  readonly outcome: 'success' | 'retryable' | 'terminal';
  readonly status_code: number | null;
  readonly due_at: string;
  readonly fired_at: string;
  readonly finished_at: string | null;
  readonly lateness_ms: number;
  /** Milliseconds since `fired_at`. Null if it is unknown or the attempt did not get that far. */
  readonly claimed_ms: number | null;
  readonly connected_ms: number | null;
  readonly first_byte_ms: number | null;
  readonly end_ms: number | null;
  readonly was_connected_before: boolean;
  readonly error: string | null;
  /** Explains the attempt and what to do, in plain words. */
  readonly words: string;
}

/** A delivery as /v1 shows it, with its destination. */
export type DeliveryWithTarget<Delivery> = Delivery & {
  readonly url: string;
  readonly method: string;
  /** The code of its `error` in `domain/failures.ts`. Null if there is no error, or an unknown one. */
  readonly failure_code: string | null;
};

/** `delivery` and `schedule` are as /v1 shows them. */
export interface DeliveryDetails<Delivery, Schedule> {
  readonly delivery: Delivery;
  readonly schedule: Schedule | null;
  readonly url: string;
  readonly method: string;
  readonly attempts: readonly AttemptInfo[];
  /** The state of the delivery, its reason, and what comes next, in plain words. */
  readonly words: string;
}

/** `profile` is as /v1 shows it, and null for an inline destination. */
export interface Destination<EndpointProfile> {
  readonly endpoint: string;
  readonly profile: EndpointProfile | null;
  readonly url: string;
  readonly breaker: {
    readonly state: 'closed' | 'open' | 'half_open';
    readonly failures: number;
    readonly open_until: string | null;
  };
  readonly last_24h: Counts;
}

export interface Destinations<EndpointProfile> {
  readonly data: readonly Destination<EndpointProfile>[];
  readonly next_cursor: string | null;
}

/** The query of a list of deliveries, as in /v1. */
export interface DeliveryQuery {
  readonly status?: string;
  readonly schedule_id?: string;
  readonly created_after?: string;
  readonly created_before?: string;
}

export interface DeliveryCount {
  readonly count: number;
  /** False means that there may be more. */
  readonly is_exact: boolean;
}

export interface ReplayJobInfo {
  readonly id: string;
  readonly state: 'gathering' | 'running' | 'done' | 'stopped';
  readonly filter: DeliveryQuery;
  readonly expected: number;
  readonly gathered: number;
  readonly replayed: number;
  readonly skipped: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly ended_at: string | null;
}

export interface Revealed {
  readonly headers: Readonly<Record<string, string>>;
  /** Null if there is no body. */
  readonly body: string | null;
}
