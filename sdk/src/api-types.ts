/**
 * The requests and answers of the service. `npm run sdk:types` writes this file from docs/openapi.json. Do not edit it.
 *
 * A fixed set of values is a union, so that an editor offers the values and a `switch` can be checked. A newer service
 * may send other values, so keep a `default`. A field that is `undefined` is not sent. On a change, `null` clears a
 * field.
 */

/**
 * Needs exactly one destination (`endpoint` or `endpoint_id`) and exactly one timing (`delay`, `fire_at`,
 * `local_fire_at` or `cron`).
 */
export interface ScheduleCreate {
  /** The HTTPS URL to send to, without credentials. For example `https://example.com/hooks/reminder`. */
  readonly endpoint?: string | null | undefined;
  /** The endpoint profile to send to, instead of `endpoint`. For example `ep_01jcq3v8k4zqgw5m2r7n9x0abc`. */
  readonly endpoint_id?: string | null | undefined;
  /** The HTTP method. The default is POST. For example `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * Custom headers. They are encrypted at rest, and their values are never returned. Names and values
   * together have at most 16,384 bytes.
   */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /**
   * The request body. It is sent as UTF-8, encrypted at rest and never returned. For example
   * `{"hello":"world"}`.
   */
  readonly body?: string | null | undefined;
  /** Time from now until the request is sent. At least 1s. For example `5m`. */
  readonly delay?: string | null | undefined;
  /** The instant to send at, in RFC 3339 with an offset or Z. For example `2027-01-01T09:00:00+01:00`. */
  readonly fire_at?: string | null | undefined;
  /** The local time to send at, as YYYY-MM-DDTHH:MM:SS in `timezone`. For example `2027-01-01T09:00:00`. */
  readonly local_fire_at?: string | null | undefined;
  /**
   * A cron expression with five fields: minute, hour, day of month, month, day of week. For example `0 9 * *
   * MON-FRI`.
   */
  readonly cron?: string | null | undefined;
  /** The IANA time zone of `local_fire_at` and `cron`. The default is UTC. For example `Europe/Berlin`. */
  readonly timezone?: string | null | undefined;
  /** The delivery expires this long after its scheduled instant. Retries stop then too. For example `24h`. */
  readonly ttl?: string | null | undefined;
  /**
   * Sent to the receiver as the header Idempotency-Key. Up to 255 visible ASCII characters. A recurring
   * schedule appends the instant of each occurrence. For example `invoice-4711`.
   */
  readonly idempotency_key?: string | null | undefined;
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  readonly rate_limit?: RateLimit | null | undefined;
  /**
   * Each occurrence is shifted by up to plus or minus this time. The shift of an occurrence is always the
   * same. For example `30s`.
   */
  readonly jitter?: string | null | undefined;
  /** Up to 50 labels. Lists can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * The retry after attempt n is due min(max, base x factor^n) after the end of that attempt. Fields that are
 * left out have their defaults.
 */
export interface RetryPolicyInput {
  readonly max_attempts?: number | null | undefined;
  readonly strategy?: 'exponential' | null | undefined;
  /** The wait, multiplied by `factor` with each attempt. 0 to 24h. For example `5s`. */
  readonly base?: string | null | undefined;
  readonly factor?: number | null | undefined;
  /** The longest wait between attempts. 0 to 168h. For example `1h`. */
  readonly max?: string | null | undefined;
  /** Stored and returned, but has no effect: the backoff is deterministic. */
  readonly jitter?: boolean | null | undefined;
}

/** The largest number of deliveries per second. 0 means no limit. */
export interface RateLimit {
  readonly per_second: number;
}

/** Fields that are left out do not change. Use reschedule to change the timing. */
export interface ScheduleUpdate {
  /** The HTTPS URL to send to, without credentials. For example `https://example.com/hooks/reminder`. */
  readonly endpoint?: string | null | undefined;
  /** The HTTP method. The default is POST. For example `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /** The delivery expires this long after its scheduled instant. Retries stop then too. For example `24h`. */
  readonly ttl?: string | null | undefined;
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  /** Up to 50 labels. Lists can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** Needs exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`. */
export interface ScheduleReschedule {
  /** Time from now until the request is sent. At least 1s. For example `5m`. */
  readonly delay?: string | null | undefined;
  /** The instant to send at, in RFC 3339 with an offset or Z. For example `2027-01-01T09:00:00+01:00`. */
  readonly fire_at?: string | null | undefined;
  /** The local time to send at, as YYYY-MM-DDTHH:MM:SS in `timezone`. For example `2027-01-01T09:00:00`. */
  readonly local_fire_at?: string | null | undefined;
  /**
   * A cron expression with five fields: minute, hour, day of month, month, day of week. For example `0 9 * *
   * MON-FRI`.
   */
  readonly cron?: string | null | undefined;
  /** The IANA time zone of `local_fire_at` and `cron`. The default is UTC. For example `Europe/Berlin`. */
  readonly timezone?: string | null | undefined;
}

/** A create needs `url`. In a PATCH, fields that are left out do not change. */
export interface EndpointWrite {
  /** The HTTPS URL to send to, without credentials. For example `https://example.com/hooks/reminder`. */
  readonly url?: string | null | undefined;
  /** The HTTP method. The default is POST. For example `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * Custom headers. They are encrypted at rest, and their values are never returned. Names and values
   * together have at most 16,384 bytes.
   */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /** The longest time of one attempt, above 0 and at most 1h. The default is 30s. For example `10s`. */
  readonly timeout?: string | null | undefined;
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  readonly retry_budget?: RetryBudget | null | undefined;
  /** Stored and returned, but not enforced yet. */
  readonly rate_limit?: RateLimit | null | undefined;
  readonly breaker_policy?: BreakerPolicy | null | undefined;
  /** Up to 50 labels. Lists can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** Limits the retries to this endpoint: `rate` per second, and `burst` at once. */
export interface RetryBudget {
  readonly rate: number;
  readonly burst: number;
}

/** When to stop sending to a failing endpoint. All four fields are required. */
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
  /** The URL. For an endpoint profile, its present URL. */
  readonly endpoint: string;
  readonly endpoint_id: string | null;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /** The names of the headers. Their values are encrypted and never returned. */
  readonly header_keys: readonly string[];
  /** The instant of a one-shot schedule, before jitter. For example `2026-11-15T08:00:00.000Z`. */
  readonly fire_at: string | null;
  readonly cron: string | null;
  readonly timezone: string | null;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly next_fire_at: string | null;
  /** The next instants at which the schedule fires, at most five. */
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
    /** A stable code for programs. For example `invalid_cron`. */
    readonly code: string;
    readonly message: string;
    /** The field that caused the error. */
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
  /** The names of the headers. Their values are encrypted and never returned. */
  readonly header_keys: readonly string[];
  readonly timeout: string | null;
  readonly retry_policy: RetryPolicy;
  readonly retry_budget: RetryBudget | null;
  readonly rate_limit: RateLimit | null;
  readonly breaker_policy: BreakerPolicy | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Increases with every change. */
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
  /** How long after its due instant the attempt started, in milliseconds. */
  readonly lateness_ms: number;
  /** For example `2026-11-15T08:00:00.000Z`. */
  readonly finished_at: string | null;
  readonly egress_ms: number | null;
  readonly error: string | null;
}

export interface ListSchedulesQuery {
  /** `next_cursor` of the previous page of the same list. */
  readonly cursor?: string | undefined;
  /** The number of items, 1 to 100. The default is 20. A value out of range is replaced and not refused. */
  readonly limit?: number | undefined;
  readonly state?: 'active' | 'paused' | 'canceled' | 'completed' | undefined;
  readonly kind?: 'one_shot' | 'recurring' | undefined;
  /**
   * Lists only schedules with this label, such as `metadata[team]=billing`. Several labels must all match.
   */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface ListScheduleDeliveriesQuery {
  /** `next_cursor` of the previous page of the same list. */
  readonly cursor?: string | undefined;
  /** The number of items, 1 to 100. The default is 20. A value out of range is replaced and not refused. */
  readonly limit?: number | undefined;
}

export interface ListEndpointsQuery {
  /** `next_cursor` of the previous page of the same list. */
  readonly cursor?: string | undefined;
  /** The number of items, 1 to 100. The default is 20. A value out of range is replaced and not refused. */
  readonly limit?: number | undefined;
  readonly include_archived?: boolean | undefined;
}

export interface ListDeliveriesQuery {
  /** `next_cursor` of the previous page of the same list. */
  readonly cursor?: string | undefined;
  /** The number of items, 1 to 100. The default is 20. A value out of range is replaced and not refused. */
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
  /** Lists only deliveries that were created after this instant. */
  readonly created_after?: string | undefined;
  /** Lists only deliveries that were created before this instant. */
  readonly created_before?: string | undefined;
}

export interface ListAttemptsQuery {
  /** `next_cursor` of the previous page of the same list. */
  readonly cursor?: string | undefined;
  /** The number of items, 1 to 100. The default is 20. A value out of range is replaced and not refused. */
  readonly limit?: number | undefined;
}
