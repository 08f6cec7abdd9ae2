/** Formats instants for people: as a distance from now, and as a wall-clock time. */
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { dateText, offsetText, timeText } from '#src/texts/run-text.ts';

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;
/** Hours are left out from this distance on. */
const DAYS_ONLY_FROM_MS = 10 * 86_400_000;

/** Returns `in 3 h 20 min`, `2 d 4 h ago` or `now`, with at most two units. */
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

/** Returns `2026-11-15 08:00:00Z`, with milliseconds unless they are zero. */
export function shortInstant(at: Instant): string {
  return formatInstant(at).replace('T', ' ').replace('.000Z', 'Z');
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** Returns `Mon 2027-03-29 09:00 +02:00`. */
export function localText(local: number, offsetMs: number): string {
  const weekday = WEEKDAYS[new Date(local).getUTCDay()] ?? '';
  return `${weekday} ${dateText(local)} ${timeText(local)} ${offsetText(offsetMs)}`;
}
