/** Between instants and what `<input type=datetime-local>` holds, by the clock of a zone. */
import { offsetAt } from './calendar-month.ts';

/** `2026-11-15T09:00`; nothing for none. */
export function toWallTime(instant: string | null, zone: string): string {
  const at = instant === null ? Number.NaN : Date.parse(instant);
  return Number.isNaN(at) ? '' : new Date(at + offsetAt(zone, at)).toISOString().slice(0, 16);
}

/** A time that the clock shows twice is the first of the two; one that it jumps over is as much later. */
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
