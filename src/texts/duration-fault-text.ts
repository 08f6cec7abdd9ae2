/**
 * Says why a value is not a duration, or is out of its bounds. A correction is made from what other systems write (days,
 * words, ISO 8601, a clock), and is offered only if the parser accepts it within the same bounds.
 */
import {
  type DurationBounds,
  formatDuration,
  isDurationWithin,
  NS_PER_MS,
  parseDuration,
} from '#src/domain/duration.ts';
import { described, HINT_CHARACTERS_MAX, quoted } from './quote.ts';

export interface DurationRule extends DurationBounds {
  /** A duration that is accepted. */
  readonly example: string;
}

/** Only this much of a text is corrected. Longer ones are not durations that somebody wrote. */
const CORRECTED_CHARACTERS_MAX = 40;

/** Words that people write for a unit, with our unit and how many of it. */
const UNITS: ReadonlyMap<string, readonly [unit: string, count: bigint]> = new Map(
  (
    [
      ['ns', 1, 'ns nanosecond nanoseconds'],
      ['us', 1, 'us \u00b5s microsecond microseconds'],
      ['ms', 1, 'ms msec msecs millis millisecond milliseconds'],
      ['s', 1, 's sec secs second seconds'],
      ['m', 1, 'm min mins minute minutes'],
      ['h', 1, 'h hr hrs hour hours'],
      ['h', 24, 'd day days'],
      ['h', 168, 'w wk week weeks'],
    ] as const
  ).flatMap(([unit, count, words]) => words.split(' ').map((word) => [word, [unit, BigInt(count)]] as const)),
);
const COMPONENT = /([\d.]+)([^\d.]+)/gy;
const WITHOUT_UNIT = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const WELL_FORMED = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)\p{L}+)+$/u;
const CLOCK = /^(\d{1,4}):(\d{2})(?::(\d{2}))?$/;
const ISO = /^P(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/i;

export function durationFaultText(value: unknown, field: string, rule: DurationRule): string {
  if (typeof value === 'number') return numberText(value, field, rule);
  if (typeof value !== 'string')
    return `${field} must be a string such as "${rule.example}", not ${described(value)}.`;
  const nanoseconds = parseDuration(value);
  if (nanoseconds !== null)
    return `${field} ${quoted(value)} is out of bounds: it must be ${boundsText(rule)}, such as "${rule.example}".`;
  const corrected = durationCorrection(value, rule);
  const reason = reasonOf(value);
  if (corrected !== null)
    return `${field} ${quoted(value)} is not a duration: ${reason}. Write ${quoted(corrected, HINT_CHARACTERS_MAX)}.`;
  return `${field} ${quoted(value)} is not a duration: ${reason}. Use h, m, s and ms, such as "${rule.example}".`;
}

/** A bare number is usually meant as seconds, or as milliseconds if it is round. */
function numberText(value: number, field: string, rule: DurationRule): string {
  const must = `${field} must be a string with a unit, not ${described(value)}.`;
  const units = value >= 1_000 && value % 1_000 === 0 ? ['ms', 's'] : ['s'];
  const written = units.map((unit) => `${value}${unit}`).filter((text) => isDurationWithin(text, rule));
  if (written.length === 0) return `${must} Use h, m, s and ms, such as "${rule.example}".`;
  return `${must} Write ${written.map((text) => `"${text}"`).join(' or ')}.`;
}

function boundsText({ aboveMs, minMs, maxMs }: DurationRule): string {
  const lower = aboveMs === undefined ? null : `above ${msText(aboveMs)}`;
  const least = minMs === undefined ? null : `at least ${msText(minMs)}`;
  const most = maxMs === undefined ? null : `at most ${msText(maxMs)}`;
  return [lower, least, most].filter((bound) => bound !== null).join(' and ');
}

function msText(ms: number): string {
  return ms === 0 ? '0' : shortDuration(BigInt(ms) * NS_PER_MS);
}

/** Formats like Go, without the parts that are zero: `1h30m` and not `1h30m0s`. */
function shortDuration(nanoseconds: bigint): string {
  return formatDuration(nanoseconds)
    .replace(/([hm])0s$/, '$1')
    .replace(/h0m$/, 'h');
}

function reasonOf(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return 'it is empty';
  if (text.length > CORRECTED_CHARACTERS_MAX) return 'it is too long';
  if (WITHOUT_UNIT.test(trimmed)) return 'it has no unit';
  if (/^-?P[\dT]/i.test(trimmed)) return 'ISO 8601 is not supported';
  if (CLOCK.test(trimmed)) return 'it is written like a clock';
  if (text.includes(',')) return 'it has a comma';
  const units = [...text.matchAll(/[\d.] *(\p{L}+)/gu)].map(([, unit = '']) => unit);
  const wrong = units.find((unit) => parseDuration(`1${unit}`) === null);
  if (units.length === 0) return 'it needs a number and a unit';
  if (wrong !== undefined) return unitReason(wrong);
  if (/\s/.test(text)) return 'it has a space';
  return WELL_FORMED.test(text) ? 'it is too large' : 'its form is wrong';
}

function unitReason(unit: string): string {
  const [, count] = UNITS.get(unit.toLowerCase()) ?? ['', 0n];
  if (count === 24n) return 'days are not a unit';
  if (count === 168n) return 'weeks are not a unit';
  if (/^(?:mo|months?|y|yr|years?)$/i.test(unit)) return 'months and years are not units';
  return `${quoted(unit, 20)} is not a unit`;
}

/** Returns the duration that was probably meant, or null if there is none within the bounds. */
export function durationCorrection(text: string, bounds: DurationBounds): string | null {
  const corrected = correctionOf(text);
  return corrected !== null && isDurationWithin(corrected, bounds) ? corrected : null;
}

function correctionOf(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === '' || text.length > CORRECTED_CHARACTERS_MAX) return null;
  // A capital M may stand for months, and a comma before three digits for thousands.
  if (/\dM/.test(trimmed) && !ISO.test(trimmed)) return null;
  if (/,\d{3}(?!\d)/.test(trimmed)) return null;
  const plain = WITHOUT_UNIT.test(trimmed)
    ? `${trimmed}s`
    : trimmed.replaceAll(/\s/g, '').replaceAll(',', '.');
  const sum = isoSum(plain) ?? clockSum(plain) ?? componentSum(plain);
  return sum === null ? null : shortDuration(sum);
}

function isoSum(text: string): bigint | null {
  const [, weeks, days, hours, minutes, seconds] = ISO.exec(text) ?? [];
  const parts = [weeks && `${weeks}w`, days && `${days}d`, hours && `${hours}h`, minutes && `${minutes}m`];
  const written = [...parts, seconds && `${seconds}s`].filter((part) => part !== undefined).join('');
  return written === '' ? null : componentSum(written);
}

function clockSum(text: string): bigint | null {
  const [, hours, minutes, seconds = '0'] = CLOCK.exec(text) ?? [];
  return hours === undefined ? null : parseDuration(`${hours}h${minutes}m${seconds}s`);
}

function componentSum(text: string): bigint | null {
  const isNegative = text.startsWith('-');
  const unsigned = text.replace(/^[+-]/, '').toLowerCase();
  let sum = 0n;
  let end = 0;
  for (const [whole, number = '', word = ''] of unsigned.matchAll(COMPONENT)) {
    const [unit, count] = UNITS.get(word) ?? [];
    const one = unit === undefined ? null : parseDuration(`${number}${unit}`);
    if (one === null || count === undefined) return null;
    sum += one * count;
    end += whole.length;
  }
  if (end === 0 || end !== unsigned.length) return null;
  return isNegative ? -sum : sum;
}
