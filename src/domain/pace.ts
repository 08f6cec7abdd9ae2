/** A steady pace: so many per second, one at a time. Steps are reserved ahead like tokens (see `token-bucket.ts`). */
import { type Instant, instantUpTo } from './instant.ts';

const MS_PER_SECOND = 1_000;

export interface Pace {
  /** When the next step may be taken, in fractions of a millisecond. */
  readonly freeAt: number;
  readonly at: Instant;
}

/** Takes the next step: the pace after, and when the step is to be taken. */
export function step(
  before: Pace | null,
  perSecond: number,
  now: Instant,
): { readonly pace: Pace; readonly readyAt: Instant } {
  const startAt = Math.max(freeAtOf(before, now), now);
  return {
    pace: { freeAt: Math.min(startAt + MS_PER_SECOND / perSecond, Number.MAX_SAFE_INTEGER), at: now },
    readyAt: instantUpTo(startAt),
  };
}

/** Steps reserved before the clock was set back are as far ahead as they were. */
function freeAtOf(pace: Pace | null, now: Instant): number {
  if (pace === null) return now;
  return pace.freeAt - Math.max(pace.at - now, 0);
}

export function isFree(pace: Pace | null, now: Instant): boolean {
  return freeAtOf(pace, now) <= now;
}
