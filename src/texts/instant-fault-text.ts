/**
 * Says why a value is not an instant, or not a wall-clock time. A correction keeps what was written and adds or changes
 * only what is missing or wrong. It is offered only if the parser accepts it.
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
import { described, quoted } from './quote.ts';

/** A longer text is not a date and time that somebody wrote. */
const CORRECTED_CHARACTERS_MAX = 60;
/** Unix seconds stay below this number until the year 5138. A larger number counts milliseconds. */
const UNIX_SECONDS_MAX = 1e11;
const WRITABLE_MS_MAX = Date.UTC(9999, 0);

const WRITTEN =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:(?<between>[Tt ]|%20)(?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2}))?(?<fraction>\.\d+)?(?<offset>.*))?$/s;

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
export function instantFaultText(value: unknown, field: string, now: Instant): string {
  const example = `"${tomorrow(now)}Z"`;
  const unix = unixTime(value);
  if (unix !== null) return `${field} is Unix time: ${described(value)}. Write "${formatInstant(unix)}".`;
  if (typeof value !== 'string')
    return `${field} must be a string such as ${example}, not ${described(value)}.`;
  const given = `${field} ${quoted(value)}`;
  const written = readWritten(value);
  if (written === null) return `${given} is not an RFC 3339 instant such as ${example}.`;
  if (written.impossible !== null)
    return `${given} does not exist: ${written.impossible}. Write an instant such as ${example}.`;
  const offset = offsetOf(written.offset);
  const corrected = `${wallClockOf(written)}${written.fraction.slice(0, 4)}${offset ?? ''}`;
  if (parseInstant(corrected) === null)
    return `${given} has no valid offset. Write an instant such as ${example}${field === 'fire_at' ? ', or use local_fire_at with timezone' : ''}.`;
  const reason =
    formReason(written) ?? (written.offset === '' ? 'has no offset' : 'has an offset of another form');
  if (written.offset !== '') return `${given} ${reason}. Write "${corrected}".`;
  return `${given} ${reason}. Write "${corrected}" for UTC, or end with an offset such as +02:00.`;
}

/** The message about a value that must be a wall-clock time without an offset. */
export function localTimeFaultText(value: unknown, field: string, now: Instant): string {
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

/** Returns the offset as RFC 3339 writes it, or null if it is another text. No offset means UTC. */
function offsetOf(written: string): string | null {
  const text = written.trim();
  if (/^(?:Z|UTC|GMT)?$/i.test(text)) return 'Z';
  const [, sign, hours, minutes = '00'] = /^(?:UTC|GMT)?([+-])(\d{2})(?::?(\d{2}))?$/i.exec(text) ?? [];
  return sign === undefined ? null : `${sign}${hours}:${minutes}`;
}
