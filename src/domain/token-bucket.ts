/**
 * A token bucket with reservations. When it is empty, the caller reserves the next future token and learns its instant,
 * so the number of tokens becomes negative. Waiting deliveries therefore come at the rate of the bucket, each exactly
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
  /** A negative number counts the reserved tokens that have not come yet. */
  readonly tokens: number;
  readonly at: Instant;
}

/** A new bucket is full, and so is one whose terms were changed. */
function refilled(bucket: Bucket | null, terms: BucketTerms, now: Instant): Bucket {
  if (bucket === null || bucket.terms.rate !== terms.rate || bucket.terms.burst !== terms.burst) {
    return { terms, tokens: terms.burst, at: now };
  }
  // A clock that was set back adds no tokens and causes no wait.
  const elapsedMs = Math.max(now - bucket.at, 0);
  const tokens = Math.min(bucket.tokens + (elapsedMs * terms.rate) / MS_PER_SECOND, terms.burst);
  return { terms, tokens, at: now };
}

/**
 * Takes one token. Returns the bucket after that, and the instant of the token. The instant is null when no token can
 * ever come.
 */
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

/** Returns the number of available tokens and the instant of the next one, which is null when none can ever come. */
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

/** Takes available tokens. */
export function takeTokens(bucket: Bucket | null, terms: BucketTerms, count: number, now: Instant): Bucket {
  const before = refilled(bucket, terms, now);
  return { ...before, tokens: before.tokens - count };
}

/** Returns true when the bucket equals a new one, so that it need not be kept. */
export function isFull(bucket: Bucket | null, now: Instant): boolean {
  return bucket === null || refilled(bucket, bucket.terms, now).tokens >= bucket.terms.burst;
}
