/**
 * The resources of the specification. They are repeated here on purpose, so that tests do not use the code under test.
 */
export type Mode = 'test' | 'live';

export interface RetryPolicy {
  readonly max_attempts: number;
  readonly strategy: string;
  readonly base: string;
  readonly factor: number;
  readonly max: string;
  readonly jitter: boolean;
}

export interface Schedule {
  readonly id: string;
  readonly object: 'schedule';
  readonly name: string | null;
  readonly mode: Mode;
  readonly kind: 'one_shot' | 'recurring';
  readonly state: 'active' | 'paused' | 'canceled' | 'completed';
  readonly endpoint: string;
  readonly endpoint_id: string | null;
  readonly method: string;
  readonly header_keys: readonly string[];
  readonly fire_at: string | null;
  readonly cron: string | null;
  readonly timezone: string | null;
  readonly next_fire_at: string | null;
  readonly next_runs: readonly string[];
  readonly ttl: string | null;
  readonly jitter: string | null;
  readonly idempotency_key: string | null;
  readonly retry_policy: RetryPolicy;
  readonly rate_limit: { readonly per_second: number } | null;
  readonly notify: Notify | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Notify {
  readonly endpoint_id: string | null;
  readonly on: readonly string[];
}

export interface Delivery {
  readonly id: string;
  readonly object: 'delivery';
  readonly schedule_id: string | null;
  readonly mode: Mode;
  readonly url: string;
  readonly method: string;
  readonly occurrence: string | null;
  readonly triggered: boolean;
  readonly status: string;
  readonly scheduled_for: string;
  readonly deadline: string | null;
  readonly next_fire_at: string | null;
  readonly attempt_count: number;
  readonly last_status_code: number | null;
  readonly error: string | null;
  readonly idempotency_key: string;
  readonly replay_of: string | null;
  readonly notification_of: string | null;
  readonly notify: Notify | null;
  readonly endpoint_id: string | null;
  readonly endpoint_version: number | null;
  readonly created_at: string;
  readonly finalized_at: string | null;
}

export interface Attempt {
  readonly id: string;
  readonly object: 'attempt';
  readonly delivery_id: string;
  readonly attempt_no: number;
  readonly outcome: 'success' | 'retryable' | 'terminal';
  readonly status_code: number | null;
  readonly due_at: string;
  readonly fired_at: string;
  readonly lateness_ms: number;
  readonly finished_at: string | null;
  readonly egress_ms: number | null;
  readonly error: string | null;
}

export interface Endpoint {
  readonly id: string;
  readonly object: 'endpoint';
  readonly name: string | null;
  readonly mode: Mode;
  readonly url: string;
  readonly method: string;
  readonly header_keys: readonly string[];
  readonly timeout: string | null;
  readonly retry_policy: RetryPolicy;
  readonly retry_budget: { readonly rate: number; readonly burst: number } | null;
  readonly rate_limit: { readonly per_second: number } | null;
  readonly breaker_policy: object | null;
  readonly standard_webhooks: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly version: number;
  readonly archived: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface List<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface ErrorBody {
  readonly error: {
    readonly type: string;
    readonly code: string;
    readonly message: string;
    readonly param: string | null;
    readonly request_id: string;
  };
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  max_attempts: 8,
  strategy: 'exponential',
  base: '5s',
  factor: 2,
  max: '1h',
  jitter: true,
};

export const URL = 'https://receiver.example/hooks/reminder';
/** The minimal bodies of a one-shot, a recurring schedule and an endpoint profile. */
export const ONE_SHOT = { endpoint: URL, delay: '1h' };
export const RECURRING = { endpoint: URL, cron: '0 9 * * *' };
export const PROFILE = { url: URL };

/** Valid ids that were never minted, since their time is far in the future. */
const NEVER_MINTED = '7zzzzzzzzz0000000000000000';
export const UNKNOWN = {
  schedule: `sch_${NEVER_MINTED}`,
  delivery: `dlv_${NEVER_MINTED}`,
  endpoint: `ep_${NEVER_MINTED}`,
} as const;
