import { parseDuration } from './duration.ts';
import { type Instant, instant } from './instant.ts';

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly strategy: 'exponential';
  /** Durations are kept as they were sent, because the API returns them unchanged. */
  readonly base: string;
  readonly factor: number;
  readonly max: string;
  /** The API accepts and returns it. Backoff is deterministic. */
  readonly jitter: boolean;
}

const HOUR_MS = 3_600_000;
const NS_PER_MS = 1_000_000;

export const RETRY_BOUNDS = {
  maxAttempts: { min: 1, max: 50 },
  baseMs: { min: 0, max: 24 * HOUR_MS },
  factor: { min: 1, max: 100 },
  maxMs: { min: 0, max: 168 * HOUR_MS },
} as const;

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxAttempts: 8,
  strategy: 'exponential',
  base: '5s',
  factor: 2,
  max: '1h',
  jitter: true,
};

/** Returns the wait after the end of attempt `attemptNo`, which counts from 1. */
export function backoffMs(policy: RetryPolicy, attemptNo: number): number {
  const baseMs = Number(parseDuration(policy.base) ?? 0n) / NS_PER_MS;
  const maxMs = Number(parseDuration(policy.max) ?? 0n) / NS_PER_MS;
  return Math.floor(Math.min(maxMs, baseMs * policy.factor ** attemptNo));
}

/** Returns the due instant of the attempt after `attemptNo`, which ended at `endedAt`. */
export function retryDueAt(policy: RetryPolicy, attemptNo: number, endedAt: Instant): Instant {
  return instant(endedAt + backoffMs(policy, attemptNo));
}
