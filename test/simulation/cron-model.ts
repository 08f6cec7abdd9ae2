/**
 * A model of the cron expressions that the simulation uses. It searches minute by minute, which is slow but
 * easy to verify.
 */
const MINUTE_MS = 60_000;
const MINUTES_SEARCHED_MAX = 8 * 24 * 60;

/** Zones without daylight saving time, with their offset from UTC. */
const OFFSET_MINUTES: Readonly<Record<string, number>> = { UTC: 0, 'Asia/Kolkata': 330, 'Asia/Tokyo': 540 };

/** Understands `*`, `*` with a step, `a`, `a-b` and lists of them. */
function matches(field: string, value: number): boolean {
  return field.split(',').some((part) => {
    const [range = '', step = '1'] = part.split('/');
    const [from = 0, to = from] = range === '*' ? [0, 99] : range.split('-').map(Number);
    return value >= from && value <= to && (value - from) % Number(step) === 0;
  });
}

function isOccurrence(cron: string, offsetMinutes: number, at: number): boolean {
  const [minute = '', hour = '', , , weekday = ''] = cron.split(' ');
  const local = new Date(at + offsetMinutes * MINUTE_MS);
  return (
    matches(minute, local.getUTCMinutes()) &&
    matches(hour, local.getUTCHours()) &&
    matches(weekday, local.getUTCDay())
  );
}

/** The first occurrence after `after`, or null where the model does not know the zone or finds none. */
export function firstAfter(cron: string, timezone: string, after: number): number | null {
  const offset = OFFSET_MINUTES[timezone];
  if (offset === undefined) return null;
  let at = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  for (let searched = 0; searched < MINUTES_SEARCHED_MAX; searched++, at += MINUTE_MS) {
    if (isOccurrence(cron, offset, at)) return at;
  }
  return null;
}
