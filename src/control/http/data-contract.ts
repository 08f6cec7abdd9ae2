/** What the pages of a project show: the answers of the routes under `p/:project/:mode/`; see `contract.ts`. */
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
  /** How many attempts kept to it, of all. */
  readonly within_100_ms: number;
  readonly within_300_ms: number;
  readonly attempts: number;
}

export interface Overview {
  readonly range: OverviewRange;
  readonly now: string;
  readonly step_ms: number;
  /** One for each step of the range, the last one not over yet; steps without any are zeros. */
  readonly steps: readonly (Counts & {
    readonly at: string;
    readonly p50_ms: number | null;
    readonly p99_ms: number | null;
  })[];
  readonly total: Counts;
  readonly lateness: Lateness & {
    /** AttemptRunner in each class, the last one without an upper end. */
    readonly classes: readonly { readonly up_to_ms: number | null; readonly attempts: number }[];
  };
  /** By the minute, from now on, for an hour; coming runs of recurring schedules included. */
  readonly due: {
    readonly from: string;
    readonly step_ms: number;
    readonly counts: readonly number[];
    readonly is_complete: boolean;
  };
  readonly breakers: readonly OpenBreaker[];
  /** Null for one process on a file. */
  readonly nodes:
    | readonly {
        readonly node: string;
        readonly is_this: boolean;
        readonly is_stopping: boolean;
        readonly lease_until: string;
        readonly slots: number;
      }[]
    | null;
  /** Slots that nobody holds. */
  readonly free_slots: number;
  /** Whether anything was ever stored here: else the page teaches. */
  readonly is_empty: boolean;
}

export interface OpenBreaker {
  /** The profile's id, or origin and path. */
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
  /** The busiest endpoints first; what is left is together under `endpoint: null`. */
  readonly endpoints: readonly {
    readonly endpoint: string | null;
    readonly endpoint_id: string | null;
    readonly url: string | null;
    readonly total: number;
    readonly counts: readonly number[];
  }[];
  readonly counts: readonly number[];
  readonly total: number;
  /** In the order they are due, as far as they fit. */
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

/** `data`: schedules as /v1 shows them. */
export interface ScheduleSearchPage<Schedule> extends Listed<Schedule> {
  /** How many were looked at to find these. */
  readonly looked_at: number;
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
 * What a wall clock does to a run: see `domain/run-notes.ts`. `jitter`: it fires up to that much earlier or later, which
 * cannot be known before the schedule has its id.
 */
export interface RunNoteInfo {
  readonly kind: 'gap' | 'fold' | 'offset' | 'short_months' | 'jitter';
  readonly text: string;
}

export interface PreviewRun {
  readonly at: string;
  /** As the clock of the schedule's zone shows it, such as `2026-11-15T09:00:00`, and its distance from UTC. */
  readonly local: string;
  readonly offset: string;
  readonly notes: readonly RunNoteInfo[];
}

export interface Preview {
  readonly timezone: string;
  readonly runs: readonly PreviewRun[];
  /** Later ones, within a year, that a change of the clock moves or makes ambiguous: the first of each change. */
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
  /** Days of the zone, both ends included, that have more runs than are given here. */
  readonly not_whole: readonly { readonly from: string; readonly until: string }[];
}

export interface AttemptInfo {
  readonly attempt_no: number;
  readonly outcome: 'success' | 'retryable' | 'terminal';
  readonly status_code: number | null;
  readonly due_at: string;
  readonly fired_at: string;
  readonly finished_at: string | null;
  readonly lateness_ms: number;
  /** From `fired_at`, in milliseconds; null where it is not known or did not come to that. */
  readonly claimed_ms: number | null;
  readonly connected_ms: number | null;
  readonly first_byte_ms: number | null;
  readonly end_ms: number | null;
  readonly was_connected_before: boolean;
  readonly error: string | null;
  /** What happened and what to do about it, in plain words. */
  readonly words: string;
}

/** A delivery as /v1 shows it, and where it goes. */
export type DeliveryWithTarget<Delivery> = Delivery & { readonly url: string; readonly method: string };

/** `delivery` and `schedule` as /v1 shows them. */
export interface DeliveryDetails<Delivery, Schedule> {
  readonly delivery: Delivery;
  readonly schedule: Schedule | null;
  readonly url: string;
  readonly method: string;
  readonly attempts: readonly AttemptInfo[];
  /** Why it is as it is and what comes next, in plain words. */
  readonly words: string;
}

/** `profile` as /v1 shows it; null for an inline destination. */
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

/** Query of a list of deliveries, as in /v1. */
export interface DeliveryQuery {
  readonly status?: string;
  readonly schedule_id?: string;
  readonly created_after?: string;
  readonly created_before?: string;
}

export interface DeliveryCount {
  readonly count: number;
  /** False: there are at least so many. */
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
  /** Null: it has none. */
  readonly body: string | null;
}
