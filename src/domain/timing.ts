/** The four ways to give a time: a delay, an instant, a wall-clock time, a cron expression. */
import { cachedCron } from './cron.ts';
import { msCeil, parseDuration } from './duration.ts';
import type { ErrorCode } from './errors.ts';
import { type Instant, instant, parseInstant } from './instant.ts';
import { hasOccurrence } from './occurrence.ts';
import type { Timing } from './schedule.ts';
import { isZone, localInstant, parseLocalTime } from './zone.ts';

export const TIMING_FIELDS = ['delay', 'fire_at', 'local_fire_at', 'cron'] as const;
export type TimingField = (typeof TIMING_FIELDS)[number];

/** The earliest time of a schedule is this far ahead. */
export const FLOOR_MS = 1_000;
const FLOOR_NS = 1_000_000_000n;
const HORIZON_YEARS = 10;
/** Ten years are always longer than this. */
const WITHIN_HORIZON_MS = HORIZON_YEARS * 365 * 86_400_000;

export const DEFAULT_TIMEZONE = 'UTC';

export interface Fault {
  readonly code: ErrorCode;
  readonly param: string;
}

export type TimingRead =
  | { readonly ok: true; readonly timing: Timing }
  | { readonly ok: false; readonly fault: Fault };

/** Returns the latest instant that a schedule may have at `now`. */
export function horizon(now: Instant): Instant {
  const at = new Date(now);
  at.setUTCFullYear(at.getUTCFullYear() + HORIZON_YEARS);
  return instant(at.getTime());
}

/**
 * Reads one timing field. `timezone` applies to `local_fire_at` and `cron`, and must be a real time zone there. `kept` is
 * an instant that need not lie ahead.
 */
export function readTiming(
  field: TimingField,
  text: string,
  timezone: string | null,
  now: Instant,
  kept: Instant | null = null,
): TimingRead {
  const zone = timezone ?? DEFAULT_TIMEZONE;
  switch (field) {
    case 'delay':
      return readDelay(text, now);
    case 'fire_at': {
      const at = parseInstant(text);
      return at === null ? refused('invalid_fire_at', field) : oneShot(field, at, null, now, kept);
    }
    case 'local_fire_at': {
      const local = parseLocalTime(text);
      if (local === null) return refused('invalid_duration', field);
      return isZone(zone)
        ? oneShot(field, localInstant(zone, local), zone, now, kept)
        : refused('invalid_cron', 'timezone');
    }
    case 'cron': {
      const cron = cachedCron(text);
      if (cron === null) return refused('invalid_cron', field);
      if (!isZone(zone)) return refused('invalid_cron', 'timezone');
      if (!hasOccurrence(cron, zone, now, horizon(now))) return refused('invalid_cron', field);
      return { ok: true, timing: { kind: 'recurring', cron: text, timezone: zone } };
    }
  }
}

function readDelay(text: string, now: Instant): TimingRead {
  const nanoseconds = parseDuration(text);
  if (nanoseconds === null) return refused('invalid_duration', 'delay');
  if (nanoseconds < FLOOR_NS) return refused('sub_floor_delay', 'delay');
  return oneShot('delay', instant(now + msCeil(nanoseconds)), null, now);
}

function oneShot(
  field: TimingField,
  fireAt: Instant,
  timezone: string | null,
  now: Instant,
  kept: Instant | null = null,
): TimingRead {
  if (fireAt === kept) return { ok: true, timing: { kind: 'one_shot', fireAt, timezone } };
  if (fireAt < now + FLOOR_MS) return refused('fire_at_in_past', field);
  // Most instants are near. For them the comparison needs no calendar.
  if (fireAt > now + WITHIN_HORIZON_MS && fireAt > horizon(now)) return refused('fire_at_too_far', field);
  return { ok: true, timing: { kind: 'one_shot', fireAt, timezone } };
}

function refused(code: ErrorCode, param: string): TimingRead {
  return { ok: false, fault: { code, param } };
}
