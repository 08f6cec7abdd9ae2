/**
 * A rate limiter without burst: one token at a time, at a steady rate. Tokens are reserved ahead, as those of a token
 * bucket are (see `token-bucket.ts`).
 */
import { type Instant, instantUpTo } from './instant.ts';

const MS_PER_SECOND = 1_000;

export interface RateLimiter {
  /** The time of the next free token, in fractions of a millisecond. */
  readonly freeAt: number;
  readonly at: Instant;
}

/** Takes the next token. Returns the limiter after that, and the instant from which the token may be used. */
export function takeToken(
  before: RateLimiter | null,
  perSecond: number,
  now: Instant,
): { readonly limiter: RateLimiter; readonly readyAt: Instant } {
  const startAt = Math.max(freeAtOf(before, now), now);
  return {
    limiter: { freeAt: Math.min(startAt + MS_PER_SECOND / perSecond, Number.MAX_SAFE_INTEGER), at: now },
    readyAt: instantUpTo(startAt),
  };
}

/** After the clock was set back, reserved tokens are still as far ahead as they were. */
function freeAtOf(limiter: RateLimiter | null, now: Instant): number {
  if (limiter === null) return now;
  return limiter.freeAt - Math.max(limiter.at - now, 0);
}

/** Returns true when the next token may be used at once. */
export function isFree(limiter: RateLimiter | null, now: Instant): boolean {
  return freeAtOf(limiter, now) <= now;
}
