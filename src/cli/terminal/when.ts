/** Instants in the words of a person: how far away, and what a clock on the wall shows. */
import { formatInstant, type Instant, instant } from '#src/domain/instant.ts';

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;
/** From here on hours tell nothing. */
const DAYS_ONLY_FROM_MS = 10 * 86_400_000;

/** `in 3 h 20 min`, `2 d 4 h ago`, `now`: two units at most. */
export function relative(at: number, now: number): string {
  const distanceMs = Math.abs(at - now);
  if (distanceMs < 1_000) return 'now';
  const text = distance(distanceMs);
  return at > now ? `in ${text}` : `${text} ago`;
}

function distance(ms: number): string {
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  const [large, small] = UNITS.slice(first);
  if (large === undefined) return '0 s';
  const whole = Math.floor(ms / large.ms);
  const rest = small === undefined ? 0 : Math.floor((ms % large.ms) / small.ms);
  if (rest === 0 || small === undefined || ms >= DAYS_ONLY_FROM_MS) return `${whole} ${large.name}`;
  return `${whole} ${large.name} ${rest} ${small.name}`;
}

/** For a column of instants: `2026-11-15 08:00:00Z`, with milliseconds where there are any. */
export function shortInstant(at: Instant): string {
  return formatInstant(at).replace('T', ' ').replace('.000Z', 'Z');
}

/** `+02:00`, `-03:30`, `+00:19:32` of days before zones. */
export function offsetText(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1_000;
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  const shown = parts[2] === 0 ? parts.slice(0, 2) : parts;
  return `${offsetMs < 0 ? '-' : '+'}${shown.map((part) => String(part).padStart(2, '0')).join(':')}`;
}

/** The date of a wall clock's reading. */
export function dateText(local: number): string {
  return formatInstant(instant(local)).slice(0, 'YYYY-MM-DD'.length);
}

/** The time of a wall clock's reading, seconds where there are any. */
export function timeText(local: number): string {
  const time = formatInstant(instant(local)).slice('YYYY-MM-DDT'.length, -'.000Z'.length);
  return time.endsWith(':00') ? time.slice(0, 'HH:MM'.length) : time;
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** `Mon 2027-03-29 09:00 +02:00`. */
export function localText(local: number, offsetMs: number): string {
  const weekday = WEEKDAYS[new Date(local).getUTCDay()] ?? '';
  return `${weekday} ${dateText(local)} ${timeText(local)} ${offsetText(offsetMs)}`;
}
