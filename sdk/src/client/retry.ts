/**
 * When a call is made again, and how long it waits before.
 *
 * Every call may be repeated. Those that would make or change something anew carry an `Idempotency-Key`, the same
 * one each time. The others are idempotent by nature: reading, and the orders to pause, resume, cancel and
 * archive, which say how things shall be. So what could have been bad luck is tried again: no answer, a failure
 * of the service, and a twin of this very call that is still in progress. A refusal is not.
 */
import type { SchedError } from './errors.ts';

export const RETRIES_DEFAULT = 3;
export const RETRIES_MAX = 10;

const BACKOFF_MS_BASE = 200;
const BACKOFF_MS_MAX = 5_000;
/** A service that asks for more than this gets this. */
const RETRY_AFTER_MS_MAX = 30_000;

export function isRetryable({ type, code, status }: SchedError): boolean {
  return type === 'connection_error' || code === 'idempotency_in_progress' || (status ?? 0) >= 500;
}

/**
 * Exponential with full jitter, so that clients which failed together do not come back together. `random` is from
 * 0 to 1; `attempts` counts those made so far.
 */
export function backoffMs(attempts: number, random: number, retryAfterMs = 0): number {
  const ceiling = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_BASE * 2 ** (attempts - 1));
  return Math.max(random * ceiling, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
}

/** Seconds, or a date; what is neither counts for nothing. */
export function parseRetryAfter(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
