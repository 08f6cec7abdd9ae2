/**
 * Says why a value is not an instant, or not a wall-clock time. A correction keeps what was written and adds or changes
 * only what is missing or wrong. It is offered only if the parser accepts it, and only if its instant is within the
 * bounds of the field.
 */
import {
  daysInMonth,
  formatInstant,
  type Instant,
  instant,
  MS_PER_DAY,
  parseInstant,
  WALL_CLOCK_CHARACTERS,
} from '#src/domain/instant.ts';
import { localInstant, parseLocalTime } from '#src/domain/zone.ts';
import { described, quoted } from './quote.ts';

/** A longer text is not a date and time that somebody wrote. */
const CORRECTED_CHARACTERS_MAX = 60;
/** Unix seconds stay below this number until the year 5138. A larger number counts milliseconds. */
const UNIX_SECONDS_MAX = 1e11;
const WRITABLE_MS_MAX = Date.UTC(9999, 0);

const WRITTEN =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:(?<between>[Tt ]|%20)(?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2}))?(?<fraction>\.\d+)?(?<offset>.*))?$/s;

/** Says where an instant lies that the field does not allow, such as `in the past`. Returns null for an allowed one. */
export type OutOfBounds = (at: Instant) => string | null;

const ANY_INSTANT: OutOfBounds = () => null;

interface Written {
  readonly date: string;
  readonly between: string | undefined;
  readonly hour: string;
  readonly minute: string;
  readonly second: string | undefined;
  readonly fraction: string;
  readonly offset: string;
  /** Which part has a value that no date or time has. */
  readonly impossible: string | null;
}

/** The message about a value that must be an RFC 3339 instant. The example is the morning of the next day. */
export function instantFaultText(
  value: unknown,
  field: string,
  now: Instant,
  outOfBounds: OutOfBounds = ANY_INSTANT,
): string {
  const example = `"${tomorrow(now)}Z"`;
  const unix = unixTime(value);
  if (unix !== null) return unixText(value, field, unix, outOfBounds(unix), example);
  if (typeof value !== 'string')
    return `${field} must be a string such as ${example}, not ${described(value)}.`;
  const given = `${field} ${quoted(value)}`;
  const written = readWritten(value);
  // A fraction that is not written as one is taken for a part of the offset.
  if (written === null || /^[.,]/.test(written.offset))
    return `${given} is not an RFC 3339 instant such as ${example}.`;
  if (written.impossible !== null)
    return `${given} does not exist: ${written.impossible}. Write an instant such as ${example}.`;
  const offset = offsetOf(written.offset);
  const corrected = `${wallClockOf(written)}${written.fraction.slice(0, 4)}${offset ?? ''}`;
  const at = parseInstant(corrected);
  if (at === null)
    return `${given} has no valid offset. Write an instant such as ${example}${field === 'fire_at' ? ', or use local_fire_at with timezone' : ''}.`;
  const reason = formReason(written) ?? offsetReason(written, value);
  const outside = outOfBounds(at);
  if (outside !== null) {
    const read = written.offset === '' ? 'in UTC it is' : 'it is';
    return `${given} ${reason}, and ${read} ${outside}. Write an instant such as ${example}.`;
  }
  if (written.offset !== '') return `${given} ${reason}. Write "${corrected}".`;
  return `${given} ${reason}. Write "${corrected}" for UTC, or end with an offset such as +02:00.`;
}

function unixText(
  value: unknown,
  field: string,
  at: Instant,
  outside: string | null,
  example: string,
): string {
  return outside === null
    ? `${field} is Unix time: ${described(value)}. Write "${formatInstant(at)}".`
    : `${field} is Unix time: ${described(value)} (${formatInstant(at)}) is ${outside}. Write an instant such as ${example}.`;
}

/**
 * The message about a value that must be a wall-clock time without an offset. `timezone` says which instant it is, for
 * the bounds.
 */
export function localTimeFaultText(
  value: unknown,
  field: string,
  now: Instant,
  { timezone = 'UTC', outOfBounds = ANY_INSTANT }: { timezone?: string; outOfBounds?: OutOfBounds } = {},
): string {
  const example = `"${tomorrow(now)}"`;
  if (typeof value !== 'string')
    return `${field} must be a string such as ${example}, not ${described(value)}.`;
  const given = `${field} ${quoted(value)}`;
  const written = readWritten(value);
  if (written === null) return `${given} is not a date and time such as ${example}.`;
  if (written.impossible !== null)
    return `${given} does not exist: ${written.impossible}. Write a time such as ${example}.`;
  const corrected = wallClockOf(written);
  const form = formReason(written);
  const local = parseLocalTime(corrected);
  const outside = local === null ? null : outOfBounds(localInstant(timezone, local));
  if (outside !== null)
    return `${given} ${form ?? 'is not of the form YYYY-MM-DDTHH:MM:SS'}, and it is ${outside}. Write a time such as ${example}.`;
  if (form === null && written.offset !== '' && offsetOf(written.offset) !== null)
    return `${given} has an offset. Write "${corrected}" and give timezone, or use fire_at.`;
  const rest =
    written.fraction === '' ? 'is not of the form YYYY-MM-DDTHH:MM:SS' : 'has a fraction of a second';
  return `${given} ${form ?? rest}. Write "${corrected}".`;
}

/** Returns nine o'clock of the next day in UTC, without an offset. */
function tomorrow(now: Instant): string {
  const nineOClock = (Math.floor(now / MS_PER_DAY) + 1) * MS_PER_DAY + 9 * 3_600_000;
  return formatInstant(instant(nineOClock)).slice(0, WALL_CLOCK_CHARACTERS);
}

function unixTime(value: unknown): Instant | null {
  const number = typeof value === 'string' && /^\d{9,13}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number <= 0) return null;
  const ms = number < UNIX_SECONDS_MAX ? number * 1_000 : number;
  return ms <= WRITABLE_MS_MAX ? instant(ms) : null;
}

function readWritten(text: string): Written | null {
  if (text.length > CORRECTED_CHARACTERS_MAX) return null;
  const groups = WRITTEN.exec(text.trim())?.groups;
  if (groups === undefined) return null;
  const { year = '', month = '', day = '', between, hour = '00', minute = '00', second } = groups;
  const { fraction = '', offset = '' } = groups;
  return {
    date: `${year}-${month}-${day}`,
    between,
    hour,
    minute,
    second,
    fraction,
    offset,
    impossible: impossiblePart(Number(year), Number(month), Number(day), [hour, minute, second ?? '00']),
  };
}

function impossiblePart(
  year: number,
  month: number,
  day: number,
  [hour, minute, second]: readonly [string, string, string],
): string | null {
  const days = daysInMonth(year, month);
  if (days === 0) return 'a month is 01 to 12';
  if (day < 1 || day > days) return `this month has ${days} days`;
  if (Number(hour) > 23) return 'an hour is 00 to 23';
  if (Number(minute) > 59) return 'a minute is 00 to 59';
  return Number(second) > 59 ? 'a second is 00 to 59' : null;
}

function wallClockOf({ date, hour, minute, second }: Written): string {
  return `${date}T${hour}:${minute}:${second ?? '00'}`;
}

function formReason({ between, second }: Written): string | null {
  if (between === undefined) return 'has no time';
  if (between !== 'T' && between !== 't') return 'needs a T between date and time';
  return second === undefined ? 'has no seconds' : null;
}

function offsetReason({ offset }: Written, text: string): string {
  if (offset === '') return 'has no offset';
  return text === text.trim() ? 'has an offset of another form' : 'has a space at an end';
}

/** Returns the offset as RFC 3339 writes it, or null if it is another text. No offset means UTC. */
function offsetOf(written: string): string | null {
  const text = written.trim();
  if (/^(?:Z|UTC|GMT)?$/i.test(text)) return 'Z';
  const [, sign, hours, minutes = '00'] = /^(?:UTC|GMT)?([+-])(\d{2})(?::?(\d{2}))?$/i.exec(text) ?? [];
  return sign === undefined ? null : `${sign}${hours}:${minutes}`;
}
