/** Reads a window of time from a query, and divides it into steps. */
import { z } from 'zod';
import { bound } from '#src/control/http/fields.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { HOUR_MS, MINUTE_MS } from '#src/domain/stats.ts';

export const DAY_MS = 24 * HOUR_MS;
const STEPS_MAX = 120;
const STEPS_MS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS);
/** A window must not be further away from now. */
const DISTANCE_MAX_MS = 400 * DAY_MS;

export interface Window {
  readonly from: Instant;
  /** The end is exclusive. */
  readonly until: Instant;
}

export interface SteppedWindow extends Window {
  readonly stepMs: number;
  readonly steps: number;
}

export const WINDOW_QUERY = z.object({ from: bound('down'), until: bound('up') });

/** Checks the window of a query. By default it begins now and lasts `defaultMs`. */
export function requireWindow(
  given: z.output<typeof WINDOW_QUERY>,
  now: Instant,
  { defaultMs, maxMs }: { readonly defaultMs: number; readonly maxMs: number },
): Window {
  const from = given.from ?? now;
  const until = given.until ?? instant(from + defaultMs);
  if (Math.abs(from - now) > DISTANCE_MAX_MS)
    throw new Refusal(
      'invalid_request',
      'from',
      `from must be at most ${DISTANCE_MAX_MS / DAY_MS} days away from now.`,
    );
  if (until <= from || until - from > maxMs)
    throw new Refusal(
      'invalid_request',
      'until',
      `until must be after from, by at most ${maxMs / DAY_MS} days.`,
    );
  return { from, until };
}

/** Extends the window to whole steps. Each step begins at a whole minute. */
export function inSteps({ from, until }: Window): SteppedWindow {
  // One step may be added at each end.
  const stepMs = STEPS_MS.find((ms) => (until - from) / ms <= STEPS_MAX - 1) ?? DAY_MS;
  const first = Math.floor(from / stepMs) * stepMs;
  const steps = Math.min(Math.ceil((until - first) / stepMs), STEPS_MAX);
  return { from: instant(first), until: instant(first + steps * stepMs), stepMs, steps };
}

/** Returns the step that contains an instant. */
export function stepOf({ from, stepMs }: SteppedWindow, at: Instant): number {
  return Math.floor((at - from) / stepMs);
}
