/**
 * A token bucket that reserves ahead. Whoever finds it empty takes the next token that will come and is told
 * when that is: the bucket goes into debt. So waiting ones come at the pace of the bucket, each exactly
 * once, instead of all asking again together.
 */
import { type Instant, instantUpTo } from './instant.ts';

const MS_PER_SECOND = 1_000;

export interface BucketTerms {
  /** Tokens per second. */
  readonly rate: number;
  readonly burst: number;
}

export interface Bucket {
  readonly terms: BucketTerms;
  /** Below zero: so many are reserved that have not come yet. */
  readonly tokens: number;
  readonly at: Instant;
}

/** A bucket whose terms were changed begins anew, and so does none. */
function refilled(bucket: Bucket | null, terms: BucketTerms, now: Instant): Bucket {
  if (bucket === null || bucket.terms.rate !== terms.rate || bucket.terms.burst !== terms.burst) {
    return { terms, tokens: terms.burst, at: now };
  }
  // A clock that was set back adds nothing, and is not waited for either.
  const elapsedMs = Math.max(now - bucket.at, 0);
  const tokens = Math.min(bucket.tokens + (elapsedMs * terms.rate) / MS_PER_SECOND, terms.burst);
  return { terms, tokens, at: now };
}

/** Takes one token: the bucket after, and when the token is there. Null: none can ever come. */
export function reserveToken(
  bucket: Bucket | null,
  terms: BucketTerms,
  now: Instant,
): { readonly bucket: Bucket; readonly readyAt: Instant | null } {
  const before = refilled(bucket, terms, now);
  const missing = 1 - before.tokens;
  if (missing > 0 && terms.rate === 0) return { bucket: before, readyAt: null };
  const waitMs = missing <= 0 ? 0 : (missing * MS_PER_SECOND) / terms.rate;
  return { bucket: { ...before, tokens: before.tokens - 1 }, readyAt: instantUpTo(now + waitMs) };
}

/** How many tokens are there, and when there will be one more; null when none can ever come. Takes none. */
export function availableTokens(
  bucket: Bucket | null,
  terms: BucketTerms,
  now: Instant,
): { readonly count: number; readonly nextAt: Instant | null } {
  const { tokens } = refilled(bucket, terms, now);
  const count = Math.max(Math.floor(tokens), 0);
  if (terms.rate === 0) return { count, nextAt: null };
  return { count, nextAt: instantUpTo(now + ((count + 1 - tokens) * MS_PER_SECOND) / terms.rate) };
}

/** Takes tokens that are there. */
export function takeTokens(bucket: Bucket | null, terms: BucketTerms, count: number, now: Instant): Bucket {
  const before = refilled(bucket, terms, now);
  return { ...before, tokens: before.tokens - count };
}

/** Whether it is as good as new: nothing is lost by forgetting it. */
export function isFull(bucket: Bucket | null, now: Instant): boolean {
  return bucket === null || refilled(bucket, bucket.terms, now).tokens >= bucket.terms.burst;
}
