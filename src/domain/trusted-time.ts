/**
 * The time that history is removed by. What is removed by mistake does not come back, so a clock that was set ahead is
 * believed only after it has held for an hour. Until then the trusted time goes on from what was seen last, by as much
 * as passes.
 *
 * What was seen is stored. A process that starts cannot tell a clock that is wrong from a service that was down: it
 * distrusts both for the hour. A restart in between neither ends that hour nor begins it anew. A service that is never
 * up for an hour removes history all the same, by the time that it was up.
 */
import { type Instant, instant } from './instant.ts';

/** A clock that moved on by more than this since it was seen last was set. */
export const STEP_MS = 600_000;
/** How long a clock that was set ahead has to hold. */
export const DISTRUST_MS = 3_600_000;

export interface TrustedTime {
  /** What the clock showed when it was looked at last. */
  readonly seenAt: Instant;
  /** Never ahead of `seenAt`. */
  readonly trustedAt: Instant;
  /** When the clock will have held long enough; null while it is believed. */
  readonly believedFrom: Instant | null;
}

/** The trusted time after another look at the clock; `before` is null when nobody has ever looked. */
export function observeClock(before: TrustedTime | null, now: Instant): TrustedTime {
  const believed = { seenAt: now, trustedAt: now, believedFrom: null };
  if (before === null || now <= before.trustedAt + STEP_MS) return believed;
  const { seenAt, trustedAt, believedFrom } = before;
  const passedMs = now - seenAt;
  if (believedFrom === null || passedMs < 0 || passedMs > STEP_MS) {
    return { seenAt: now, trustedAt, believedFrom: instant(now + DISTRUST_MS) };
  }
  if (now >= believedFrom) return believed;
  return { seenAt: now, trustedAt: instant(trustedAt + passedMs), believedFrom };
}
