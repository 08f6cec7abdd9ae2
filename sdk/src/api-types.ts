/**
 * The requests and answers of the service. `npm run sdk:types` writes this file from docs/openapi.json. Do not edit it.
 *
 * A fixed set of values is a union, so that an editor offers the values and a `switch` can be checked. A newer service
 * may send other values, so keep a `default`. A field that is `undefined` is not sent. On a change, `null` clears a
 * field.
 */

/**
 * A request to send, with its destination and time. It needs exactly one destination (`endpoint` or
 * `endpoint_id`) and exactly one timing (`delay`, `fire_at`, `local_fire_at` or `cron`).
 */
export interface ScheduleCreate {
  /**
   * A name for the schedule, unique in this project and mode as long as it has not ended. Up to 255 letters,
   * digits, `.`, `_`, `:` and `-`, beginning with a letter or digit. For example `nightly-report`.
   */
  readonly name?: string | null | undefined;
  /**
   * The HTTPS URL to send to, without credentials. Its address is checked at every connection and must be
   * public. For example `https://example.com/hooks/reminder`.
   */
  readonly endpoint?: string | null | undefined;
  /**
   * The endpoint profile to send to, instead of `endpoint`. URL, method and timeout come from the profile.
   * For example `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id?: string | null | undefined;
  /** The HTTP method of the request. The default is POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * Custom headers. They are encrypted at rest, and their values are never returned. Names and values
   * together have at most 16,384 bytes. Names such as `Host` that belong to the connection dead-letter the
   * delivery.
   */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /**
   * The request body, as text. It is sent unchanged as UTF-8, encrypted at rest and never returned. A body
   * that is JSON is sent as `application/json`, unless a header says otherwise. For example
   * `{"hello":"world"}`.
   */
  readonly body?: string | null | undefined;
  /**
   * The time from now until the request is sent, for a one-shot schedule. At least 1s, and at most 10 years.
   * For example `5m`.
   */
  readonly delay?: string | null | undefined;
  /**
   * The instant to send at, in RFC 3339 with an offset or Z. At least 1 second and at most 10 years ahead.
   * For example `2030-01-01T09:00:00+01:00`.
   */
  readonly fire_at?: string | null | undefined;
  /**
   * The local time to send at, as `YYYY-MM-DDTHH:MM:SS` in `timezone`. A time that a clock change skips moves
   * forward by the gap. Of a time that occurs twice, the first is taken. For example `2030-01-01T09:00:00`.
   */
  readonly local_fire_at?: string | null | undefined;
  /**
   * A cron expression for a recurring schedule, with five fields: minute, hour, day of month, month, day of
   * week. For example `0 9 * * MON-FRI`.
   */
  readonly cron?: string | null | undefined;
  /** The IANA time zone of `local_fire_at` and `cron`. The default is UTC. For example `Europe/Berlin`. */
  readonly timezone?: string | null | undefined;
  /**
   * A delivery expires this long after its scheduled instant, and no retry is made after that. By default it
   * never expires. For example `24h`.
   */
  readonly ttl?: string | null | undefined;
  /**
   * The receiver gets it as the header `Idempotency-Key` and deduplicates on it. A recurring schedule appends
   * the instant of each occurrence. The default is the id of the delivery, or of the recurring schedule. For
   * example `invoice-4711`.
   */
  readonly idempotency_key?: string | null | undefined;
  /** When failed attempts are repeated. The default is the policy of the endpoint profile. */
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  /** Limits how many deliveries per second this schedule sends to its endpoint. */
  readonly rate_limit?: RateLimit | null | undefined;
  /**
   * Each occurrence is moved by up to this time, earlier or later. The shift of an occurrence is always the
   * same. The default is no shift. For example `30s`.
   */
  readonly jitter?: string | null | undefined;
  /**
   * Who is told how each delivery ended. The default is `notify` of the endpoint profile. `"on": []` tells
   * nobody.
   */
  readonly notify?: NotifyInput | null | undefined;
  /** Up to 50 labels, each a name and a value. The list of schedules can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * When failed attempts are repeated. The retry after attempt n is due min(`max`, `base` × `factor`^n) after
 * the end of that attempt. Fields that are left out have their defaults.
 */
export interface RetryPolicyInput {
  /** The number of attempts, the first one included. The default is 8. */
  readonly max_attempts?: number | null | undefined;
  /** How the waits grow. Only `exponential` exists. For example `exponential`. */
  readonly strategy?: 'exponential' | null | undefined;
  /** The wait that `factor` multiplies. 0 to 24h. The default is 5s. For example `5s`. */
  readonly base?: string | null | undefined;
  /** Each wait is this many times as long as the one before. The default is 2. */
  readonly factor?: number | null | undefined;
  /** The longest wait between two attempts. 0 to 168h. The default is 1h. For example `1h`. */
  readonly max?: string | null | undefined;
  /** It is stored and returned, but has no effect: the backoff is exact. The default is true. */
  readonly jitter?: boolean | null | undefined;
}

/** How many deliveries per second an endpoint gets. */
export interface RateLimit {
  /** The largest number of deliveries per second. 0 means no limit. */
  readonly per_second: number;
}

/**
 * Who is told how a delivery ended. When a delivery ends with one of these outcomes, Sched sends a
 * notification to the endpoint profile.
 */
export interface NotifyInput {
  /**
   * The endpoint profile that gets the notifications. It must not be archived. It may be left out if `on` is
   * empty. For example `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id?: string | null | undefined;
  /** The outcomes that are told, each at most once. With an empty list nobody is told. */
  readonly on: readonly ('succeeded' | 'dead_letter' | 'expired')[];
}

/**
 * The fields to change. The others stay as they are. `null` clears `name`, `ttl`, `retry_policy`, `notify`
 * and `metadata`. Use reschedule to change the timing.
 */
export interface ScheduleUpdate {
  /**
   * A name for the schedule, unique in this project and mode as long as it has not ended. Up to 255 letters,
   * digits, `.`, `_`, `:` and `-`, beginning with a letter or digit. For example `nightly-report`.
   */
  readonly name?: string | null | undefined;
  /**
   * The HTTPS URL to send to, without credentials. Its address is checked at every connection and must be
   * public. For example `https://example.com/hooks/reminder`.
   */
  readonly endpoint?: string | null | undefined;
  /** The HTTP method of the request. The default is POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * A delivery expires this long after its scheduled instant, and no retry is made after that. By default it
   * never expires. For example `24h`.
   */
  readonly ttl?: string | null | undefined;
  /** When failed attempts are repeated. The default is the policy of the endpoint profile. */
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  /**
   * Who is told how each delivery ended. The default is `notify` of the endpoint profile. `"on": []` tells
   * nobody.
   */
  readonly notify?: NotifyInput | null | undefined;
  /** Up to 50 labels, each a name and a value. The list of schedules can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** The new timing. It needs exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`. */
export interface ScheduleReschedule {
  /**
   * The time from now until the request is sent, for a one-shot schedule. At least 1s, and at most 10 years.
   * For example `5m`.
   */
  readonly delay?: string | null | undefined;
  /**
   * The instant to send at, in RFC 3339 with an offset or Z. At least 1 second and at most 10 years ahead.
   * For example `2030-01-01T09:00:00+01:00`.
   */
  readonly fire_at?: string | null | undefined;
  /**
   * The local time to send at, as `YYYY-MM-DDTHH:MM:SS` in `timezone`. A time that a clock change skips moves
   * forward by the gap. Of a time that occurs twice, the first is taken. For example `2030-01-01T09:00:00`.
   */
  readonly local_fire_at?: string | null | undefined;
  /**
   * A cron expression for a recurring schedule, with five fields: minute, hour, day of month, month, day of
   * week. For example `0 9 * * MON-FRI`.
   */
  readonly cron?: string | null | undefined;
  /** The IANA time zone of `local_fire_at` and `cron`. The default is UTC. For example `Europe/Berlin`. */
  readonly timezone?: string | null | undefined;
}

/**
 * A destination and its policy. A create needs `url`. In a PATCH, fields that are left out do not change, and
 * `null` resets a field to its default.
 */
export interface EndpointWrite {
  /**
   * A name for the endpoint profile, unique in this project and mode as long as it has not ended. Up to 255
   * letters, digits, `.`, `_`, `:` and `-`, beginning with a letter or digit. For example `billing-hooks`.
   */
  readonly name?: string | null | undefined;
  /**
   * The HTTPS URL to send to, without credentials. Its address is checked at every connection and must be
   * public. For example `https://example.com/hooks/reminder`.
   */
  readonly url?: string | null | undefined;
  /** The HTTP method of the request. The default is POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE' | null | undefined;
  /**
   * Custom headers. They are encrypted at rest, and their values are never returned. Names and values
   * together have at most 16,384 bytes. Names such as `Host` that belong to the connection dead-letter the
   * delivery.
   */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /** The longest time of one attempt, above 0 and at most 1h. The default is 30s. For example `10s`. */
  readonly timeout?: string | null | undefined;
  /** When failed attempts are repeated, for schedules that have no policy of their own. */
  readonly retry_policy?: RetryPolicyInput | null | undefined;
  /** Limits the retries to this endpoint. */
  readonly retry_budget?: RetryBudget | null | undefined;
  /** It is stored and returned, but not enforced yet. */
  readonly rate_limit?: RateLimit | null | undefined;
  /** When to stop sending to this endpoint because it fails. */
  readonly breaker_policy?: BreakerPolicy | null | undefined;
  /**
   * How many bytes to keep of an answer that is not 2xx. The first bytes are encrypted and kept with the
   * attempt. 0 keeps none. The default is set by the operator.
   */
  readonly response_excerpt?: number | null | undefined;
  /** Who is told how deliveries ended, for schedules that have no `notify` of their own. */
  readonly notify?: NotifyInput | null | undefined;
  /**
   * Whether requests are signed for [Standard Webhooks](https://www.standardwebhooks.com) too. They then
   * carry the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` beside those of Sched. Every
   * signing secret in force must be `whsec_` and base64. The default is false.
   */
  readonly standard_webhooks?: boolean | null | undefined;
  /** Up to 50 labels, each a name and a value. The list of schedules can be filtered by them. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * A token bucket for the retries to this endpoint. A retry without a token waits for one. The default is a
 * rate of 10 and a burst of 100.
 */
export interface RetryBudget {
  /** The retries per second. */
  readonly rate: number;
  /** The retries that may be made at once. */
  readonly burst: number;
}

/**
 * When to stop sending to a failing endpoint, and for how long. All four fields are required. The default
 * opens after 5 failures, for 30s to 1h.
 */
export interface BreakerPolicy {
  /** The breaker opens after this many failures in a row. */
  readonly threshold: number;
  /** How long the breaker stays open at first. Above 0 and at most 24h. For example `30s`. */
  readonly base_open: string;
  /**
   * How long it stays open at most. The time doubles with each failed probe. Above 0 and at most 24h. For
   * example `1h`.
   */
  readonly max_open: string;
  /** How long other deliveries wait for the result of a probe. Above 0 and at most 24h. For example `30s`. */
  readonly probe_timeout: string;
}

/** The body of a notification: how a delivery ended. */
export interface Notification {
  /** How the delivery ended. */
  readonly type: 'delivery.succeeded' | 'delivery.dead_letter' | 'delivery.expired';
  /**
   * The id of the notification, which is a delivery itself. It is sent as `Sched-Delivery-Id`, and is the
   * same for every attempt. For example `dlv_01m7hnxsxtzqgw5m2r7n9x0abc`.
   */
  readonly id: string;
  /** When the delivery ended, and the notification was created. For example `2026-11-16T08:00:10.170Z`. */
  readonly created_at: string;
  /** What ended, and how. */
  readonly data: {
    /** The delivery that ended, as the API shows it. */
    readonly delivery: Delivery;
    /** The schedule of the delivery, as it is when the notification is sent. */
    readonly schedule: {
      /** The id of the schedule. For example `sch_01m7f3gs00zqgw5m2r7n9x0abc`. */
      readonly id: string;
      /** The name of the schedule, or null. For example `nightly-report`. */
      readonly name: string | null;
      /** The labels: names and values. */
      readonly metadata: Readonly<Record<string, string>>;
    };
    /**
     * The last attempts of the delivery, at most 10. Those with a lower number come first. The list is empty
     * if no attempt was made.
     */
    readonly attempts: readonly Attempt[];
    /** The beginning of the answer to the last attempt. Null if none was kept. */
    readonly response: {
      /** The status of the answer. */
      readonly status_code: number;
      /**
       * The first bytes of the body: text if they are UTF-8, else base64. For example `upstream timed out`.
       */
      readonly excerpt: string;
      /** How `excerpt` is written. */
      readonly encoding: 'utf-8' | 'base64';
      /** Whether the answer was longer. */
      readonly truncated: boolean;
    } | null;
  };
}

/** Who is told how a delivery ended, and with which outcomes. */
export interface Notify {
  /**
   * The endpoint profile that gets the notifications. Null only if `on` is empty. For example
   * `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id: string | null;
  /** The outcomes that are told, each at most once. With an empty list nobody is told. */
  readonly on: readonly ('succeeded' | 'dead_letter' | 'expired')[];
}

/** One occurrence of a schedule, or a notification of how one ended. It is sent until it ends. */
export interface Delivery {
  /**
   * The id of the delivery. The receiver gets it as `Sched-Delivery-Id`. For example
   * `dlv_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly id: string;
  /** The type of this object, always `delivery`. */
  readonly object: 'delivery';
  /**
   * The schedule that it belongs to. Null for a notification. For example `sch_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly schedule_id: string | null;
  /** The mode of the API key: `test` or `live`. */
  readonly mode: 'test' | 'live';
  /** The URL that it is sent to. For example `https://example.com/hooks/reminder`. */
  readonly url: string;
  /** The HTTP method of the request. */
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /**
   * `scheduled`, `retry_scheduled` and `paused` deliveries wait, and `claimed` ones are being sent.
   * `succeeded`, `dead_letter`, `expired` and `canceled` are final.
   */
  readonly status:
    | 'scheduled'
    | 'claimed'
    | 'retry_scheduled'
    | 'succeeded'
    | 'dead_letter'
    | 'expired'
    | 'paused'
    | 'canceled';
  /**
   * The nominal instant: that of the recurrence or the one-shot schedule, before jitter, and also if the
   * delivery was moved. The receiver gets it as `Sched-Occurrence`. Null if it was triggered, and for a
   * notification. For example `2026-11-16T08:00:00.000Z`.
   */
  readonly occurrence: string | null;
  /** Whether it was sent by `trigger`, beside the recurrence. */
  readonly triggered: boolean;
  /** The instant at which the first attempt was due. For example `2026-11-16T08:00:00.000Z`. */
  readonly scheduled_for: string;
  /** After this instant no attempt is made. Null without a `ttl`. For example `2026-11-16T08:00:00.000Z`. */
  readonly deadline: string | null;
  /**
   * When the next attempt is due. Null unless the delivery waits for one. For example
   * `2026-11-16T08:00:00.000Z`.
   */
  readonly next_fire_at: string | null;
  /** The number of attempts that have started. */
  readonly attempt_count: number;
  /** The status that the receiver answered last, or null without an answer. */
  readonly last_status_code: number | null;
  /**
   * Why the last attempt failed, or why the delivery ended. Null if nothing failed. For example `connection
   * refused`.
   */
  readonly error: string | null;
  /**
   * The key that the receiver gets as `Idempotency-Key`. It is the same for every attempt and every replay.
   * For example `invoice-4711:2026-11-16T08:00:00.000Z`.
   */
  readonly idempotency_key: string;
  /**
   * The original delivery if this one is a replay, else null. For example `dlv_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly replay_of: string | null;
  /**
   * The delivery whose end this notification tells. Null for any other. For example
   * `dlv_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly notification_of: string | null;
  /** Who is told how this delivery ends. It was fixed when the delivery was created. */
  readonly notify: Notify | null;
  /** The endpoint profile that it is sent with, or null. For example `ep_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly endpoint_id: string | null;
  /** The version of that endpoint profile, or null. */
  readonly endpoint_version: number | null;
  /** When the delivery was created. For example `2026-11-16T08:00:00.000Z`. */
  readonly created_at: string;
  /** When the delivery ended. Null before. For example `2026-11-16T08:00:00.000Z`. */
  readonly finalized_at: string | null;
}

/** One HTTP request of a delivery. */
export interface Attempt {
  /** The id of the attempt. For example `att_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly id: string;
  /** The type of this object, always `attempt`. */
  readonly object: 'attempt';
  /** The delivery that it belongs to. For example `dlv_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly delivery_id: string;
  /** Counts from 1. The receiver gets it as `Sched-Attempt`. */
  readonly attempt_no: number;
  /**
   * `success`: answered with 2xx. `retryable`: failed, or still in flight. `terminal`: failed, and no retry
   * can help.
   */
  readonly outcome: 'success' | 'retryable' | 'terminal';
  /** The status that the receiver answered, or null without an answer. */
  readonly status_code: number | null;
  /** When the attempt was due. For example `2026-11-16T08:00:00.000Z`. */
  readonly due_at: string;
  /** When the attempt started. For example `2026-11-16T08:00:00.000Z`. */
  readonly fired_at: string;
  /** How long after its due instant the attempt started, in milliseconds. */
  readonly lateness_ms: number;
  /** When the attempt ended. Null while it is in flight. For example `2026-11-16T08:00:00.000Z`. */
  readonly finished_at: string | null;
  /** How long the request took, in milliseconds. Null while in flight. */
  readonly egress_ms: number | null;
  /** Why the attempt failed, or null. For example `timeout`. */
  readonly error: string | null;
}

/** The body that a webhook channel of an alert gets. */
export interface Alert {
  /**
   * `alert.opened`: an incident began. `alert.reminder`: it still lasts. `alert.closed`: it is over.
   * `alert.test`: somebody tests the channel.
   */
  readonly type: 'alert.opened' | 'alert.reminder' | 'alert.closed' | 'alert.test';
  /**
   * The id of the message, which is sent as `Sched-Delivery-Id`. It is the same for every attempt. The
   * message is no delivery, and no list has it. For example `dlv_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly id: string;
  /** When the message was created. For example `2026-11-16T08:00:01.000Z`. */
  readonly created_at: string;
  /** What the message says. */
  readonly data: {
    /** What happened, in one line. For example `Breaker open: https://example.com/…`. */
    readonly title: string;
    /**
     * What happened, and what to do. For example `The circuit breaker of https://example.com/… opened,
     * because its attempts kept failing.`.
     */
    readonly text: string;
    /**
     * The page of the dashboard about it. Null if the service does not know its own address. For example
     * `https://sched.example.com/dashboard`.
     */
    readonly url: string | null;
    /** The name of the project. For example `billing`. */
    readonly project: string;
    /** The mode: `test` or `live`. */
    readonly mode: 'test' | 'live';
    /** The incident. Null for `alert.test`. */
    readonly incident: {
      /** The id of the incident. For example `inc_01m7hnxsxtzqgw5m2r7n9x0abc`. */
      readonly id: string;
      /** The condition that became true. For example `alc_01m7f3gs00zqgw5m2r7n9x0abc`. */
      readonly condition_id: string;
      /**
       * `breaker_opened`: the circuit breaker of an endpoint opened. `deliveries_failed`: too many deliveries
       * ended as dead letters or expired. `occurrences_skipped`: recurring schedules skipped occurrences.
       */
      readonly kind: 'breaker_opened' | 'deliveries_failed' | 'occurrences_skipped';
      /**
       * The id of the endpoint profile, or origin and path of the URL of schedules without one. Null if the
       * incident is about no single endpoint. For example `https://example.com/hooks/reminder`.
       */
      readonly endpoint: string | null;
      /** When the incident began. For example `2026-11-16T08:00:00.000Z`. */
      readonly opened_at: string;
      /** When it was over. Null before. For example `2026-11-16T08:20:00.000Z`. */
      readonly closed_at: string | null;
    } | null;
  };
}

/** A request that is sent once or repeatedly. Header values and the body are never returned. */
export interface Schedule {
  /** The id of the schedule. For example `sch_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly id: string;
  /** The type of this object, always `schedule`. */
  readonly object: 'schedule';
  /** The name of the schedule, or null. For example `nightly-report`. */
  readonly name: string | null;
  /** The mode of the API key: `test` or `live`. */
  readonly mode: 'test' | 'live';
  /** `one_shot` fires once. `recurring` fires at every occurrence of `cron`. */
  readonly kind: 'one_shot' | 'recurring';
  /**
   * `active` and `paused` schedules can be changed. `canceled` and `completed` are final. A one-shot schedule
   * is completed when its delivery has ended.
   */
  readonly state: 'active' | 'paused' | 'canceled' | 'completed';
  /**
   * The URL that requests are sent to. With an endpoint profile, its present URL. For example
   * `https://example.com/hooks/reminder`.
   */
  readonly endpoint: string;
  /**
   * The endpoint profile, or null if the schedule has its own URL. For example
   * `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id: string | null;
  /** The HTTP method of the request. */
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /** The names of the custom headers. Their values are encrypted and never returned. */
  readonly header_keys: readonly string[];
  /**
   * The instant of a one-shot schedule, before jitter. Null for a recurring one. For example
   * `2026-11-16T08:00:00.000Z`.
   */
  readonly fire_at: string | null;
  /** The cron expression of a recurring schedule. Null for a one-shot one. For example `0 9 * * MON-FRI`. */
  readonly cron: string | null;
  /**
   * The time zone of `cron` or `local_fire_at`. Null for `delay` and `fire_at`. For example `Europe/Berlin`.
   */
  readonly timezone: string | null;
  /**
   * When the next request is due. Null if none is, for example while paused. For example
   * `2026-11-16T08:00:00.000Z`.
   */
  readonly next_fire_at: string | null;
  /** The next instants at which the schedule fires, at most five, with clock changes and jitter. */
  readonly next_runs: readonly string[];
  /** How long after its instant a delivery expires. Null: never. For example `24h`. */
  readonly ttl: string | null;
  /** How far an occurrence may be moved. Null: not at all. For example `30s`. */
  readonly jitter: string | null;
  /** The key that was given for the receiver, or null. For example `invoice-4711`. */
  readonly idempotency_key: string | null;
  /** The policy in force: of the schedule, else of its endpoint profile, else the default. */
  readonly retry_policy: RetryPolicy;
  /** The rate limit of the schedule, or null. */
  readonly rate_limit: RateLimit | null;
  /** The own `notify` of the schedule. Null if it has none: that of the endpoint profile then applies. */
  readonly notify: Notify | null;
  /** The labels: names and values. */
  readonly metadata: Readonly<Record<string, string>>;
  /** When the schedule was created. For example `2026-11-16T08:00:00.000Z`. */
  readonly created_at: string;
  /** When the schedule was last changed. For example `2026-11-16T08:00:00.000Z`. */
  readonly updated_at: string;
}

/**
 * When failed attempts are repeated. The retry after attempt n is due min(`max`, `base` × `factor`^n) after
 * the end of that attempt.
 */
export interface RetryPolicy {
  /** The number of attempts, the first one included. */
  readonly max_attempts: number;
  /** How the waits grow, always `exponential`. */
  readonly strategy: 'exponential';
  /** The wait that `factor` multiplies. For example `5s`. */
  readonly base: string;
  /** Each wait is this many times as long as the one before. */
  readonly factor: number;
  /** The longest wait between two attempts. For example `1h`. */
  readonly max: string;
  /** The value that was sent. It has no effect: the backoff is exact. */
  readonly jitter: boolean;
}

/** Every answer that is not 2xx has this form. */
export interface ErrorBody {
  /** The error. */
  readonly error: {
    /** The kind of the error. Branch on it. `rate_limit_error` is reserved. */
    readonly type:
      | 'authentication_error'
      | 'not_found_error'
      | 'invalid_request_error'
      | 'idempotency_error'
      | 'api_error'
      | 'rate_limit_error';
    /** What exactly was wrong. Codes are stable, and new ones may be added. */
    readonly code:
      | 'missing_api_key'
      | 'invalid_api_key'
      | 'not_found'
      | 'invalid_request'
      | 'unknown_field'
      | 'invalid_json'
      | 'invalid_duration'
      | 'invalid_fire_at'
      | 'multiple_timing'
      | 'multiple_endpoint'
      | 'method_on_profile'
      | 'invalid_method'
      | 'invalid_cursor'
      | 'invalid_version'
      | 'payload_too_large'
      | 'idempotency_key_too_long'
      | 'idempotency_key_reuse'
      | 'idempotency_in_progress'
      | 'not_replayable'
      | 'not_cancelable'
      | 'name_taken'
      | 'delivery_in_progress'
      | 'profile_in_use'
      | 'schedule_not_active'
      | 'missing_timing'
      | 'missing_endpoint'
      | 'sub_floor_delay'
      | 'fire_at_in_past'
      | 'fire_at_too_far'
      | 'invalid_cron'
      | 'invalid_name'
      | 'invalid_response_excerpt'
      | 'invalid_notify'
      | 'invalid_signature'
      | 'too_many_labels'
      | 'url_blocked'
      | 'invalid_retry_policy'
      | 'missing_url'
      | 'invalid_endpoint'
      | 'endpoint_archived'
      | 'invalid_timeout'
      | 'invalid_retry_budget'
      | 'invalid_rate_limit'
      | 'invalid_breaker_policy'
      | 'internal_error'
      | 'unavailable';
    /** What was wrong and what to do, for people. It may change. For example `delay must be at least 1s.`. */
    readonly message: string;
    /** The field or parameter at fault, or null. It is always the outer field. For example `cron`. */
    readonly param: string | null;
    /**
     * The id of the request, as in the header `Sched-Request-Id`. For example
     * `req_01m7f3gs00zqgw5m2r7n9x0abc`.
     */
    readonly request_id: string;
  };
}

/** One page of a list of Schedule objects. */
export interface ScheduleList {
  /** The type of this object, always `list`. */
  readonly object: 'list';
  /** The items of this page. */
  readonly data: readonly Schedule[];
  /** Whether there are more items. */
  readonly has_more: boolean;
  /**
   * Send it as `cursor` to get the next page. Null on the last page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly next_cursor: string | null;
}

/** The answer to a request with `dry_run=true`, which writes nothing. */
export interface Plan {
  /** The type of this object, always `plan`. */
  readonly object: 'plan';
  /** What the request would do. */
  readonly action: 'create' | 'change' | 'none';
  /** The names of the fields that differ, without their values. */
  readonly fields: readonly string[];
}

/** One page of a list of Delivery objects. */
export interface DeliveryList {
  /** The type of this object, always `list`. */
  readonly object: 'list';
  /** The items of this page. */
  readonly data: readonly Delivery[];
  /** Whether there are more items. */
  readonly has_more: boolean;
  /**
   * Send it as `cursor` to get the next page. Null on the last page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly next_cursor: string | null;
}

/** An endpoint profile: a destination with its policy, for many schedules. */
export interface Endpoint {
  /** The id of the endpoint profile. For example `ep_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly id: string;
  /** The type of this object, always `endpoint`. */
  readonly object: 'endpoint';
  /** The name of the profile, or null. For example `billing-hooks`. */
  readonly name: string | null;
  /** The mode of the API key: `test` or `live`. */
  readonly mode: 'test' | 'live';
  /** The URL that requests are sent to. For example `https://example.com/hooks/reminder`. */
  readonly url: string;
  /** The HTTP method of the request. */
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /** The names of the custom headers. Their values are encrypted and never returned. */
  readonly header_keys: readonly string[];
  /** The longest time of one attempt. Null: the default of 30s. For example `10s`. */
  readonly timeout: string | null;
  /** The policy of schedules that have none of their own. */
  readonly retry_policy: RetryPolicy;
  /** The limit of retries. Null: the default. */
  readonly retry_budget: RetryBudget | null;
  /** The rate limit that was sent, or null. It is not enforced yet. */
  readonly rate_limit: RateLimit | null;
  /** The circuit breaker. Null: the default. */
  readonly breaker_policy: BreakerPolicy | null;
  /** How many bytes are kept of an answer that is not 2xx. Null: as many as the operator has set. */
  readonly response_excerpt: number | null;
  /** Who is told how deliveries ended, for schedules that have no `notify` of their own. */
  readonly notify: Notify | null;
  /** Whether requests are signed for Standard Webhooks too. */
  readonly standard_webhooks: boolean;
  /** The labels: names and values. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Starts at 1 and increases with every change. */
  readonly version: number;
  /** New schedules cannot use an archived profile. */
  readonly archived: boolean;
  /** When the profile was created. For example `2026-11-16T08:00:00.000Z`. */
  readonly created_at: string;
  /** When the profile was last changed. For example `2026-11-16T08:00:00.000Z`. */
  readonly updated_at: string;
}

/** One page of a list of Endpoint objects. */
export interface EndpointList {
  /** The type of this object, always `list`. */
  readonly object: 'list';
  /** The items of this page. */
  readonly data: readonly Endpoint[];
  /** Whether there are more items. */
  readonly has_more: boolean;
  /**
   * Send it as `cursor` to get the next page. Null on the last page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly next_cursor: string | null;
}

/** One page of a list of Attempt objects. */
export interface AttemptList {
  /** The type of this object, always `list`. */
  readonly object: 'list';
  /** The items of this page. */
  readonly data: readonly Attempt[];
  /** Whether there are more items. */
  readonly has_more: boolean;
  /**
   * Send it as `cursor` to get the next page. Null on the last page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly next_cursor: string | null;
}

/** The beginning of an answer that was not 2xx. */
export interface AttemptResponse {
  /** The type of this object, always `attempt_response`. */
  readonly object: 'attempt_response';
  /** The status of the answer. */
  readonly status_code: number;
  /** The header `Content-Type` of the answer, or null. For example `text/plain`. */
  readonly content_type: string | null;
  /** The first bytes of the body. For example `upstream timed out`. */
  readonly excerpt: string;
  /** How `excerpt` is written: as text, or as base64 if the bytes are not UTF-8. */
  readonly encoding: 'utf-8' | 'base64';
  /** Whether the body was longer. */
  readonly truncated: boolean;
}

/** One page of a list of RecentAttempt objects. */
export interface RecentAttemptList {
  /** The type of this object, always `list`. */
  readonly object: 'list';
  /** The items of this page. */
  readonly data: readonly RecentAttempt[];
  /** Whether there are more items. */
  readonly has_more: boolean;
  /**
   * Send it as `cursor` to get the next page. Null on the last page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly next_cursor: string | null;
}

/** An attempt that has ended, with the destination of its delivery. */
export interface RecentAttempt {
  /** The id of the attempt. For example `att_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly id: string;
  /** The type of this object, always `attempt`. */
  readonly object: 'attempt';
  /** The delivery that it belongs to. For example `dlv_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly delivery_id: string;
  /** Counts from 1. The receiver gets it as `Sched-Attempt`. */
  readonly attempt_no: number;
  /**
   * `success`: answered with 2xx. `retryable`: failed, or still in flight. `terminal`: failed, and no retry
   * can help.
   */
  readonly outcome: 'success' | 'retryable' | 'terminal';
  /** The status that the receiver answered, or null without an answer. */
  readonly status_code: number | null;
  /** When the attempt was due. For example `2026-11-16T08:00:00.000Z`. */
  readonly due_at: string;
  /** When the attempt started. For example `2026-11-16T08:00:00.000Z`. */
  readonly fired_at: string;
  /** How long after its due instant the attempt started, in milliseconds. */
  readonly lateness_ms: number;
  /** When the attempt ended. Null while it is in flight. For example `2026-11-16T08:00:00.000Z`. */
  readonly finished_at: string | null;
  /** How long the request took, in milliseconds. Null while in flight. */
  readonly egress_ms: number | null;
  /** Why the attempt failed, or null. For example `timeout`. */
  readonly error: string | null;
  /** The schedule that its delivery belongs to. For example `sch_01m7f3gs00zqgw5m2r7n9x0abc`. */
  readonly schedule_id: string | null;
  /** The present name of that schedule, or null. For example `nightly-report`. */
  readonly schedule_name: string | null;
  /** The URL that its delivery is sent to. For example `https://example.com/hooks/reminder`. */
  readonly url: string;
  /** The HTTP method of the request. */
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  /**
   * The endpoint profile that its delivery is sent with, or null. For example
   * `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id: string | null;
}

export interface ListSchedulesQuery {
  /**
   * `next_cursor` of the previous page of the same list. Leave it out for the first page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly cursor?: string | undefined;
  /** The number of items on a page. A value out of range is replaced and not refused. The default is 20. */
  readonly limit?: number | undefined;
  /** Lists only schedules in this state. */
  readonly state?: 'active' | 'paused' | 'canceled' | 'completed' | undefined;
  /** Lists only schedules of this kind. */
  readonly kind?: 'one_shot' | 'recurring' | undefined;
  /**
   * Lists only schedules with exactly this name: the one that has not ended, and those that had it when they
   * ended. For example `daily-report`.
   */
  readonly name?: string | undefined;
  /**
   * Lists only schedules of this endpoint profile. An unknown id gives an empty list. For example
   * `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id?: string | undefined;
  /**
   * Lists only schedules whose URL contains this text. Upper and lower case of the letters A to Z are the
   * same. With an endpoint profile, its present URL counts. For example `example.com/hooks`.
   */
  readonly q?: string | undefined;
  /**
   * Lists only schedules with these labels, sent as `metadata[team]=billing`. Several labels must all match.
   */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface PutScheduleQuery {
  /** Writes nothing, and answers what would happen (`Plan`). The default is false. */
  readonly dry_run?: boolean | undefined;
}

export interface ListScheduleDeliveriesQuery {
  /**
   * `next_cursor` of the previous page of the same list. Leave it out for the first page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly cursor?: string | undefined;
  /** The number of items on a page. A value out of range is replaced and not refused. The default is 20. */
  readonly limit?: number | undefined;
}

export interface ListEndpointsQuery {
  /**
   * `next_cursor` of the previous page of the same list. Leave it out for the first page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly cursor?: string | undefined;
  /** The number of items on a page. A value out of range is replaced and not refused. The default is 20. */
  readonly limit?: number | undefined;
  /** Also lists archived profiles. The default is false. */
  readonly include_archived?: boolean | undefined;
}

export interface PutEndpointQuery {
  /** Writes nothing, and answers what would happen (`Plan`). The default is false. */
  readonly dry_run?: boolean | undefined;
}

export interface ListDeliveriesQuery {
  /**
   * `next_cursor` of the previous page of the same list. Leave it out for the first page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly cursor?: string | undefined;
  /** The number of items on a page. A value out of range is replaced and not refused. The default is 20. */
  readonly limit?: number | undefined;
  /** Lists only deliveries with this status. */
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
  /**
   * Lists only deliveries of this schedule. An unknown id gives an empty list. For example
   * `sch_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly schedule_id?: string | undefined;
  /**
   * Lists only deliveries of this endpoint profile. An unknown id gives an empty list. For example
   * `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id?: string | undefined;
  /**
   * Lists only replays of this delivery. An unknown id gives an empty list. For example
   * `dlv_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly replay_of?: string | undefined;
  /**
   * Lists only notifications of how this delivery ended. An unknown id gives an empty list. For example
   * `dlv_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly notification_of?: string | undefined;
  /** Lists only deliveries that were created after this instant. For example `2026-11-15T00:00:00Z`. */
  readonly created_after?: string | undefined;
  /** Lists only deliveries that were created before this instant. For example `2026-11-15T00:00:00Z`. */
  readonly created_before?: string | undefined;
}

export interface ListAttemptsQuery {
  /**
   * `next_cursor` of the previous page of the same list. Leave it out for the first page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly cursor?: string | undefined;
  /** The number of items on a page. A value out of range is replaced and not refused. The default is 20. */
  readonly limit?: number | undefined;
}

export interface ListRecentAttemptsQuery {
  /**
   * `next_cursor` of the previous page of the same list. Leave it out for the first page. For example
   * `q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj`.
   */
  readonly cursor?: string | undefined;
  /** The number of items on a page. A value out of range is replaced and not refused. The default is 20. */
  readonly limit?: number | undefined;
  /** Lists only attempts with this outcome. */
  readonly outcome?: 'success' | 'retryable' | 'terminal' | undefined;
  /**
   * Lists only attempts of this endpoint profile. An unknown id gives an empty list. For example
   * `ep_01m7f3gs00zqgw5m2r7n9x0abc`.
   */
  readonly endpoint_id?: string | undefined;
}
