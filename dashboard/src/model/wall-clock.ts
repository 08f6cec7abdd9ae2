/** Converts between instants and wall times of a zone, as `<input type=datetime-local>` has them. */
import { offsetAt } from './calendar-month.ts';

/** A wall time such as `2026-11-15T09:00`. Empty without an instant. */
export function toWallTime(instant: string | null, zone: string): string {
  const at = instant === null ? Number.NaN : Date.parse(instant);
  return Number.isNaN(at) ? '' : new Date(at + offsetAt(zone, at)).toISOString().slice(0, 16);
}

/** A time that occurs twice is the first one. A time that the clock skips is moved by the length of the gap. */
export function toInstant(wall: string, zone: string): string | null {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return null;
  const offsets = [offsetAt(zone, asUtc - DAY_MS), offsetAt(zone, asUtc + DAY_MS)];
  const candidates = offsets.map((offset) => asUtc - offset).sort((a, b) => a - b);
  const exact = candidates.find((at) => at + offsetAt(zone, at) === asUtc);
  const [, late = asUtc] = candidates;
  return new Date(exact ?? late).toISOString();
}

const DAY_MS = 24 * 60 * 60_000;
