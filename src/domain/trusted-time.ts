/**
 * The time by which retention removes history. Removed data cannot come back, so a clock that was set ahead is trusted
 * only after it has run steadily for an hour. Until then the trusted time continues from the last observation, at the
 * speed of the clock.
 *
 * Observations are stored. A process that starts cannot distinguish a wrong clock from a downtime, so it distrusts both
 * for the hour. A restart neither ends that hour nor starts it again. A service that is never up for an hour still
 * removes history, by the time that it was up.
 */
import { type Instant, instant } from './instant.ts';

/** A clock that advanced by more than this since the last observation was set. */
export const STEP_MS = 600_000;
/** A clock that was set ahead is distrusted for this long. */
export const DISTRUST_MS = 3_600_000;

export interface TrustedTime {
  /** The reading of the clock at the last observation. */
  readonly seenAt: Instant;
  /** The trusted time is never later than `seenAt`. */
  readonly trustedAt: Instant;
  /** The end of the distrust; null while the clock is trusted. */
  readonly believedFrom: Instant | null;
}

/** Returns the trusted time after an observation of the clock. `before` is null at the first one. */
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
