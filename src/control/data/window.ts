/** A window of time, as it is asked for and as it is cut into steps. */
import { readInstant } from '#src/api/query.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { HOUR_MS, MINUTE_MS } from '#src/domain/stats.ts';

export const DAY_MS = 24 * HOUR_MS;
const STEPS_MAX = 120;
const STEPS_MS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS);
/** Nothing is looked at further from now than this. */
const DISTANCE_MAX_MS = 400 * DAY_MS;

export interface Window {
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
}

export interface SteppedWindow extends Window {
  readonly stepMs: number;
  readonly steps: number;
}

/** `from` and `until` of a query; what is left out lies `defaultMs` away from the other, or from now. */
export function readWindow(
  query: URLSearchParams,
  now: Instant,
  { defaultMs, maxMs }: { readonly defaultMs: number; readonly maxMs: number },
): Window {
  const from = readInstant(query, 'from', 'down') ?? now;
  const until = readInstant(query, 'until', 'up') ?? instant(from + defaultMs);
  if (Math.abs(from - now) > DISTANCE_MAX_MS)
    throw new Refusal('invalid_request', 'from', 'from is too far away from now.');
  if (until <= from || until - from > maxMs)
    throw new Refusal(
      'invalid_request',
      'until',
      `until must lie after from, by ${maxMs / DAY_MS} days at most.`,
    );
  return { from, until };
}

/** The same window and what little more makes its steps whole, each beginning at a whole minute. */
export function inSteps({ from, until }: Window): SteppedWindow {
  // One step may be added at each end.
  const stepMs = STEPS_MS.find((ms) => (until - from) / ms <= STEPS_MAX - 1) ?? DAY_MS;
  const first = Math.floor(from / stepMs) * stepMs;
  const steps = Math.min(Math.ceil((until - first) / stepMs), STEPS_MAX);
  return { from: instant(first), until: instant(first + steps * stepMs), stepMs, steps };
}

/** Which step an instant lies in. */
export function stepOf({ from, stepMs }: SteppedWindow, at: Instant): number {
  return Math.floor((at - from) / stepMs);
}
