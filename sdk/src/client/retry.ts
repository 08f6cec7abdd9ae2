/**
 * Decides which calls are retried, and how long to wait before a retry.
 *
 * Every call can be repeated safely. Calls that create or change something have an `Idempotency-Key`, the same for each
 * attempt. Other calls are idempotent by nature: reads, PUT, pause, resume, cancel and archive. Transient failures are
 * therefore retried: no answer, a failure of the service, and an earlier attempt of the same call that is still in
 * progress. A refusal is not retried.
 */
import type { SchedError } from './errors.ts';

export const RETRIES_DEFAULT = 3;
export const RETRIES_MAX = 10;

const BACKOFF_MS_BASE = 200;
const BACKOFF_MS_MAX = 5_000;
/** The longest `Retry-After` that is respected. */
const RETRY_AFTER_MS_MAX = 30_000;

export function isRetryable({ type, code, status }: SchedError): boolean {
  return type === 'connection_error' || code === 'idempotency_in_progress' || (status ?? 0) >= 500;
}

/**
 * Exponential backoff with full jitter, so that clients that failed together do not retry together. `random` is from 0
 * to 1, and `attempts` is the number of attempts made so far.
 */
export function backoffMs(attempts: number, random: number, retryAfterMs = 0): number {
  const ceiling = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_BASE * 2 ** (attempts - 1));
  return Math.max(random * ceiling, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
}

/** Parses seconds or a date. Any other value counts as 0. */
export function parseRetryAfter(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
