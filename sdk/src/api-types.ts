/**
 * What the service takes and answers. Written from docs/openapi.json by `npm run sdk:types`; do not edit.
 *
 * Values of a fixed set are unions of those in the document, so that an editor offers them and a `switch` can be
 * checked. A newer service may send one that is not among them: keep a `default`. A field that is `undefined` is
 * not sent; `null` clears it on a change.
 */

/**
 * Exactly one destination (`endpoint` or `endpoint_id`) and one timing (`delay`, `fire_at`, `local_fire_at`
 * or `cron`).
 */
export interface ScheduleCreate {
  /** HTTPS destination, without credentials. For example `https://example.com/hooks/reminder`. */
  readonly endpoint?: string | null | undefined;
  /** An endpoint profile instead of a URL. For example `ep_01jcq3v8k4zqgw5m2r7n9x0abc`. */
  readonly endpoint_id?: string | null | undefined;
  /** HTTP method. POST when left out. For example `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * Custom headers, encrypted at rest; values are never returned. Names plus values: at most 16,384 bytes.
   */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /** Request body, sent as UTF-8, encrypted at rest and never returned. For example `{"hello":"world"}`. */
  readonly body?: string | null | undefined;
  /** From now; at least 1s. For example `5m`. */
  readonly delay?: string | null | undefined;
  /** RFC 3339 instant with offset or Z. For example `2027-01-01T09:00:00+01:00`. */
  readonly fire_at?: string | null | undefined;
  /** Wall-clock time YYYY-MM-DDTHH:MM:SS in `timezone`. For example `2027-01-01T09:00:00`. */
  readonly local_fire_at?: string | null | undefined;
  /** Five fields: minute, hour, day of month, month, day of week. For example `0 9 * * MON-FRI`. */
  readonly cron?: string | null | undefined;
  /** IANA time zone for `local_fire_at` and `cron`. UTC when left out. For example `Europe/Berlin`. */
  readonly timezone?: string | null | undefined;
  /** Deliver-by deadline, counted from the first fire; caps retries too. For example `24h`. */
  readonly ttl?: string | null | undefined;
  /**
   * Sent to the receiver as Idempotency-Key. Up to 255 visible ASCII characters. A recurring schedule appends
   * the instant of each occurrence. For example `invoice-4711`.
   */
  readonly idempotency_key?: string | null | undefined;
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  readonly rate_limit?: RateLimit | null | undefined;
  /** Spreads fires by plus or minus this window, the same way each time. For example `30s`. */
  readonly jitter?: string | null | undefined;
  /** Labels, at most 50. Lists can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** The retry after attempt n is due min(max, base x factor^n) after its end. Left out: defaults. */
export interface RetryPolicyInput {
  readonly max_attempts?: number | null | undefined;
  readonly strategy?: 'exponential' | null | undefined;
  /** The wait that grows by the factor with each attempt. 0 to 24h. For example `5s`. */
  readonly base?: string | null | undefined;
  readonly factor?: number | null | undefined;
  /** Longest wait between attempts. 0 to 168h. For example `1h`. */
  readonly max?: string | null | undefined;
  /** Accepted and echoed; backoff is deterministic. */
  readonly jitter?: boolean | null | undefined;
}

/** Most deliveries per second; 0 is no limit. */
export interface RateLimit {
  readonly per_second: number;
}

/** What is left out stays. Timing changes by reschedule only. */
export interface ScheduleUpdate {
  /** HTTPS destination, without credentials. For example `https://example.com/hooks/reminder`. */
  readonly endpoint?: string | null | undefined;
  /** HTTP method. POST when left out. For example `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /** Deliver-by deadline, counted from the first fire; caps retries too. For example `24h`. */
  readonly ttl?: string | null | undefined;
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  /** Labels, at most 50. Lists can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** Exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`. */
export interface ScheduleReschedule {
  /** From now; at least 1s. For example `5m`. */
  readonly delay?: string | null | undefined;
  /** RFC 3339 instant with offset or Z. For example `2027-01-01T09:00:00+01:00`. */
  readonly fire_at?: string | null | undefined;
  /** Wall-clock time YYYY-MM-DDTHH:MM:SS in `timezone`. For example `2027-01-01T09:00:00`. */
  readonly local_fire_at?: string | null | undefined;
  /** Five fields: minute, hour, day of month, month, day of week. For example `0 9 * * MON-FRI`. */
  readonly cron?: string | null | undefined;
  /** IANA time zone for `local_fire_at` and `cron`. UTC when left out. For example `Europe/Berlin`. */
  readonly timezone?: string | null | undefined;
}

/** `url` is required on create; on PATCH what is left out stays. */
export interface EndpointWrite {
  /** HTTPS destination, without credentials. For example `https://example.com/hooks/reminder`. */
  readonly url?: string | null | undefined;
  /** HTTP method. POST when left out. For example `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * Custom headers, encrypted at rest; values are never returned. Names plus values: at most 16,384 bytes.
   */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /** Time for one attempt, above 0 and at most 1h. 30s when unset. For example `10s`. */
  readonly timeout?: string | null | undefined;
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  readonly retry_budget?: RetryBudget | null | undefined;
  /** Accepted and echoed; not enforced yet. */
  readonly rate_limit?: RateLimit | null | undefined;
  readonly breaker_policy?: BreakerPolicy | null | undefined;
  /** Labels, at most 50. Lists can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** Retries per second, and how many at once, to this endpoint. */
export interface RetryBudget {
  readonly rate: number;
  readonly burst: number;
}

/** When to stop trying a failing endpoint. All four or none. */
export interface BreakerPolicy {
  readonly threshold: number;
  /** Above 0 and at most 24h. For example `30s`. */
  readonly base_open: string;
  /** Above 0 and at most 24h. For example `1h`. */
  readonly max_open: string;
  /** Above 0 and at most 24h. For example `30s`. */
  readonly probe_timeout: string;
}

export interface Schedule {
  /** For example `sch_01jcq3v8k4zqgw5m2r7n9x0abc`. */
  readonly id: string;
  readonly object: 'schedule';
  readonly mode: 'test' | 'live';
  readonly kind: 'one_shot' | 'recurring';
  readonly state: 'active' | 'paused' | 'canceled' | 'completed';
  /** For a profile: its current url. */
  readonly endpoint: string;
  readonly endpoint_id: string | null;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /** Names only: values are encrypted and never returned. */
  readonly header_keys: readonly string[];
  /** The nominal instant of a one-shot. For example `2026-11-15T08:00:00.000Z`. */
  readonly fire_at: string | null;
  readonly cron: string | null;
  readonly timezone: string | null;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly next_fire_at: string | null;
  /** The next instants it will fire at, five at most. */
  readonly next_runs: readonly string[];
  readonly ttl: string | null;
  readonly jitter: string | null;
  readonly idempotency_key: string | null;
  readonly retry_policy: RetryPolicy;
  readonly rate_limit: RateLimit | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly created_at: string;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly updated_at: string;
}

export interface RetryPolicy {
  readonly max_attempts: number;
  readonly strategy: 'exponential';
  readonly base: string;
  readonly factor: number;
  readonly max: string;
  readonly jitter: boolean;
}

export interface ErrorBody {
  readonly error: {
    readonly type:
      | 'authentication_error'
      | 'not_found_error'
      | 'invalid_request_error'
      | 'idempotency_error'
      | 'api_error'
      | 'rate_limit_error';
    /** A stable machine string. For example `invalid_cron`. */
    readonly code: string;
    readonly message: string;
    /** The field at fault. */
    readonly param: string | null;
    readonly request_id: string;
  };
}

export interface ScheduleList {
  readonly object: 'list';
  readonly data: readonly Schedule[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface DeliveryList {
  readonly object: 'list';
  readonly data: readonly Delivery[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface Delivery {
  /** For example `dlv_01jcq3v8k4zqgw5m2r7n9x0abc`. */
  readonly id: string;
  readonly object: 'delivery';
  readonly schedule_id: string | null;
  readonly mode: 'test' | 'live';
  readonly status:
    | 'scheduled'
    | 'claimed'
    | 'retry_scheduled'
    | 'succeeded'
    | 'dead_letter'
    | 'expired'
    | 'paused'
    | 'canceled';
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly scheduled_for: string;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly deadline: string | null;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly next_fire_at: string | null;
  readonly attempt_count: number;
  readonly last_status_code: number | null;
  readonly error: string | null;
  readonly idempotency_key: string;
  readonly replay_of: string | null;
  readonly endpoint_id: string | null;
  readonly endpoint_version: number | null;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly created_at: string;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly finalized_at: string | null;
}

export interface Endpoint {
  /** For example `ep_01jcq3v8k4zqgw5m2r7n9x0abc`. */
  readonly id: string;
  readonly object: 'endpoint';
  readonly mode: 'test' | 'live';
  readonly url: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /** Names only: values are encrypted and never returned. */
  readonly header_keys: readonly string[];
  readonly timeout: string | null;
  readonly retry_policy: RetryPolicy;
  readonly retry_budget: RetryBudget | null;
  readonly rate_limit: RateLimit | null;
  readonly breaker_policy: BreakerPolicy | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Rises with every successful edit. */
  readonly version: number;
  readonly archived: boolean;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly created_at: string;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly updated_at: string;
}

export interface EndpointList {
  readonly object: 'list';
  readonly data: readonly Endpoint[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface AttemptList {
  readonly object: 'list';
  readonly data: readonly Attempt[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface Attempt {
  /** For example `att_01jcq3v8k4zqgw5m2r7n9x0abc`. */
  readonly id: string;
  readonly object: 'attempt';
  readonly delivery_id: string;
  readonly attempt_no: number;
  readonly outcome: 'success' | 'retryable' | 'terminal';
  readonly status_code: number | null;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly due_at: string;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly fired_at: string;
  /** How much later than due the attempt started. */
  readonly lateness_ms: number;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly finished_at: string | null;
  readonly egress_ms: number | null;
  readonly error: string | null;
}

export interface ListSchedulesQuery {
  /** next_cursor of the page before, from the same list. */
  readonly cursor?: string | undefined;
  /** 1 to 100, 20 when left out. A value out of range is replaced, never refused. */
  readonly limit?: number | undefined;
  readonly state?: 'active' | 'paused' | 'canceled' | 'completed' | undefined;
  readonly kind?: 'one_shot' | 'recurring' | undefined;
  /** Only schedules with this label: `metadata[team]=billing`. Several must all match. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface ListScheduleDeliveriesQuery {
  /** next_cursor of the page before, from the same list. */
  readonly cursor?: string | undefined;
  /** 1 to 100, 20 when left out. A value out of range is replaced, never refused. */
  readonly limit?: number | undefined;
}

export interface ListEndpointsQuery {
  /** next_cursor of the page before, from the same list. */
  readonly cursor?: string | undefined;
  /** 1 to 100, 20 when left out. A value out of range is replaced, never refused. */
  readonly limit?: number | undefined;
  readonly include_archived?: boolean | undefined;
}

export interface ListDeliveriesQuery {
  /** next_cursor of the page before, from the same list. */
  readonly cursor?: string | undefined;
  /** 1 to 100, 20 when left out. A value out of range is replaced, never refused. */
  readonly limit?: number | undefined;
  readonly status?:
    | 'scheduled'
    | 'claimed'
    | 'retry_scheduled'
    | 'succeeded'
    | 'dead_letter'
    | 'expired'
    | 'paused'
    | 'canceled'
    | undefined;
  readonly schedule_id?: string | undefined;
  /** Exclusive. */
  readonly created_after?: string | undefined;
  /** Exclusive. */
  readonly created_before?: string | undefined;
}

export interface ListAttemptsQuery {
  /** next_cursor of the page before, from the same list. */
  readonly cursor?: string | undefined;
  /** 1 to 100, 20 when left out. A value out of range is replaced, never refused. */
  readonly limit?: number | undefined;
}
