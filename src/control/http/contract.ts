/**
 * What the dashboard's page and the control plane say to each other: types alone, which the page imports as well.
 * Everything lies under `/dashboard/api`. It is not an interface for customers and may change with any version.
 *
 *   POST login, logout, logout-everywhere, password, invitation, invitation/look     GET whoami, sessions
 *   GET  projects · POST projects
 *   GET  users · POST users/:id, users/:id/remove · GET, POST invitations · POST invitations/:id/remove
 *   GET  audit, about
 *   GET  live?watch=…&watch=…                                    (see `LiveEvent`)
 *
 * and of one project in one mode, under `p/:project/:mode/`, :project being its name:
 *
 *   the operations of /v1 with the same paths, bodies and answers (schedules…, deliveries…, endpoints…); deliveries
 *   are `DeliveryWithTarget`
 *   GET  overview?range=                                         Overview
 *   GET  upcoming?from=&until=                                   Upcoming
 *   GET  search/schedules?q=&state=&kind=&cursor=                ScheduleSearchPage
 *   POST preview                                                 Preview (changes nothing)
 *   GET  schedules/:id/calendar?from=&until=                     Calendar
 *   GET  deliveries/:id/details                                  DeliveryDetails
 *   GET  destinations                                            Destinations
 *   POST destinations/close-breaker {endpoint}                   Done
 *   GET  replays, replays/:id, replays/count?<DeliveryQuery>     ReplayJobs, ReplayJob, DeliveryCount
 *   POST replays {…DeliveryQuery, expected}, replays/:id/stop    ReplayJob
 *   POST schedules/:id/reveal, endpoints/:id/reveal              Revealed (admin, audited)
 *   GET  keys · POST keys, keys/:id/revoke                       Keys, NewKey, Done
 *   GET  secrets · POST secrets/rotate {overlap}, secrets/:id/reveal   Secrets, Secrets with texts, SecretText
 *
 * A change is a POST or PATCH with JSON, the session's cookie and the header `X-Sched-Csrf` with the session's token.
 * Errors have the envelope of /v1; codes of the control plane's own are in `ControlErrorCode`.
 * Instants are text as in /v1 (`2026-11-15T08:00:00.000Z`).
 */
export type RoleName = 'viewer' | 'operator' | 'admin';
export type ModeName = 'test' | 'live';

export type ControlErrorCode =
  /** 401: no session, or one that is over. */
  | 'not_signed_in'
  /** 401: the name or the password is wrong. */
  | 'wrong_login'
  /** 429, with Retry-After: too many failed logins. */
  | 'login_throttled'
  /** 403: the role does not allow it. */
  | 'not_allowed'
  /** 403: not asked for by the dashboard's own page. */
  | 'bad_origin'
  | 'bad_csrf_token'
  /** 422: of whoever is signed in; a wrong one does not sign out. */
  | 'wrong_password'
  | 'weak_password'
  | 'invalid_name'
  | 'invalid_role'
  | 'invalid_overlap'
  | 'invalid_project_name'
  | 'unknown_project'
  | 'too_many_projects'
  /** 404 */
  | 'unknown_user'
  | 'unknown_key'
  /** 409 */
  | 'name_taken'
  | 'last_admin'
  | 'changed_meanwhile'
  | 'project_exists'
  | 'key_elsewhere'
  | 'replay_under_way'
  | 'too_many_jobs'
  | 'job_ended'
  /** 410: used, taken back, or over. */
  | 'invitation_gone';

export interface Done {
  readonly done: true;
}

export interface SessionInfo {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly role: RoleName;
  };
  readonly csrf: string;
  /** Those the person may see. */
  readonly projects: readonly ProjectInfo[];
  readonly expires_at: string;
}

/** Null: nobody is signed in. That is an answer, not a fault. */
export type WhoAmI = SessionInfo | null;

export interface ProjectInfo {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

/** Everything about the installation that is no secret. */
export interface About {
  readonly version: string;
  readonly store: 'sqlite' | 'postgres';
  /** A Go duration; null: kept for ever. */
  readonly retention: string | null;
  readonly node: string;
}

export interface InvitationLook {
  readonly role: RoleName;
  readonly expires_at: string | null;
}

export interface OpenSession {
  readonly id: string;
  readonly is_this: boolean;
  readonly created_at: string;
  readonly seen_at: string;
  readonly address: string;
  readonly agent: string;
}

export interface UserInfo {
  readonly id: string;
  readonly name: string;
  readonly role: RoleName;
  /** Names; null: every project. */
  readonly projects: readonly string[] | null;
  readonly created_at: string;
  /** Of their newest session; null when none is open. */
  readonly seen_at: string | null;
}

export interface InvitationInfo {
  readonly id: string;
  readonly role: RoleName;
  readonly projects: readonly string[] | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** Shown once: the path of the page by which it is accepted, the token behind `#`. */
export interface NewInvitation extends InvitationInfo {
  readonly path: string;
}

export interface AuditLine {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly user_id: string | null;
  readonly action: string;
  readonly subject: string;
  readonly project: string | null;
  readonly mode: ModeName | null;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly address: string | null;
  readonly outcome: 'begun' | 'done' | 'refused' | 'failed';
  readonly code: string | null;
}

export interface Listed<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

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
  /** How many tries kept to it, of all. */
  readonly within_100_ms: number;
  readonly within_300_ms: number;
  readonly tries: number;
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
    /** Tries in each class, the last one without an upper end. */
    readonly classes: readonly { readonly up_to_ms: number | null; readonly tries: number }[];
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

export interface TryInfo {
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
  readonly tries: readonly TryInfo[];
  /** Why it is as it is and what comes next, in plain words. */
  readonly words: string;
}

/** `profile` as /v1 shows it; null for an inline destination. */
export interface Destination<Profile> {
  readonly endpoint: string;
  readonly profile: Profile | null;
  readonly url: string;
  readonly breaker: {
    readonly state: 'closed' | 'open' | 'half_open';
    readonly failures: number;
    readonly open_until: string | null;
  };
  readonly last_24h: Counts;
}

export interface Destinations<Profile> {
  readonly data: readonly Destination<Profile>[];
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

export interface KeyInfo {
  readonly id: string;
  readonly hint: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export interface NewKey extends KeyInfo {
  /** Shown once. */
  readonly key: string;
}

export interface SecretInfo {
  readonly id: string;
  readonly created_at: string;
  /** When it stops signing; null for the one in force. */
  readonly expires_at: string | null;
  /** Only for an admin who asked for it. */
  readonly text?: string;
}

/**
 * `GET live`: server-sent events. A `watch` is a path of this API with its query, such as
 * `p/default/test/overview?range=1h`; at most 6. The event `data` brings the answer, at the start and whenever it has
 * changed; `refused` that it cannot be had any more. A watch that is refused with 401 ends the stream.
 */
export type LiveEvent =
  | { readonly event: 'data'; readonly watch: string; readonly body: unknown }
  | { readonly event: 'refused'; readonly watch: string; readonly status: number; readonly code: string };
