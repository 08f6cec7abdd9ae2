/**
 * Durations in the format of Go. `parseDuration` follows Go's `time.ParseDuration` step by step, including its float
 * arithmetic for fractions, so that both read the same text as the same nanosecond.
 */

const UNIT_NS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // the micro sign
  ['\u03bcs', 1_000n], // the Greek letter mu
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const UNIT_CHARACTERS_MAX = 2;
/**
 * Longer texts are refused, because the caller chooses their cost. Only zeros or repeated units could make a valid text
 * longer.
 */
export const DURATION_CHARACTERS_MAX = 1_000;

export const NS_PER_MS = 1_000_000n;
const NS_MAX = 2n ** 63n - 1n;
/** The magnitude of the smallest int64. Go accepts no larger number in a component. */
const MAGNITUDE_MAX = 2n ** 63n;
const MAGNITUDE_MAX_DIGITS = MAGNITUDE_MAX.toString();

const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function endOfUnit(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== DOT && !isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function skipZeros(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && text.charCodeAt(at) === ZERO) at += 1;
  return at;
}

function exceedsMagnitude(digits: string): boolean {
  if (digits.length !== MAGNITUDE_MAX_DIGITS.length) return digits.length > MAGNITUDE_MAX_DIGITS.length;
  return digits > MAGNITUDE_MAX_DIGITS;
}

/** Returns the digits of text[from, to) as an integer. Returns null when it exceeds 2^63. */
function leadingInt(text: string, from: number, to: number): bigint | null {
  const significant = skipZeros(text, from, to);
  if (to - significant > MAGNITUDE_MAX_DIGITS.length) return null;
  const digits = text.slice(significant, to);
  return exceedsMagnitude(digits) ? null : BigInt(digits);
}

/**
 * Returns the fraction digits of text[from, to) of a unit in whole nanoseconds. Go reads as many digits as fit 2^63 and
 * drops the rest. It scales by a float that it multiplied up digit by digit, and truncates.
 */
function leadingFraction(text: string, from: number, to: number, unitNs: bigint): bigint {
  const significant = skipZeros(text, from, to);
  let end = Math.min(to, significant + MAGNITUDE_MAX_DIGITS.length);
  if (exceedsMagnitude(text.slice(significant, end))) end -= 1;
  if (end === significant) return 0n;
  let scale = 1;
  for (let digit = from; digit < end; digit += 1) scale *= 10;
  const fraction = Number(text.slice(significant, end));
  return BigInt(Math.trunc(fraction * (Number(unitNs) / scale)));
}

/** Returns nanoseconds, or null when Go would refuse the text. */
export function parseDuration(text: string): bigint | null {
  if (text.length > DURATION_CHARACTERS_MAX) return null;
  const sign = text.charCodeAt(0);
  let at = sign === MINUS || sign === PLUS ? 1 : 0;
  if (at === text.length) return null;
  if (at === text.length - 1 && text.charCodeAt(at) === ZERO) return 0n;

  let total = 0n;
  while (at < text.length) {
    const wholeEnd = endOfDigits(text, at);
    const hasDot = text.charCodeAt(wholeEnd) === DOT;
    const fractionStart = hasDot ? wholeEnd + 1 : wholeEnd;
    const fractionEnd = hasDot ? endOfDigits(text, fractionStart) : wholeEnd;
    if (wholeEnd === at && fractionEnd === fractionStart) return null;

    const unitEnd = endOfUnit(text, fractionEnd);
    const unitNs =
      unitEnd - fractionEnd > UNIT_CHARACTERS_MAX ? undefined : UNIT_NS.get(text.slice(fractionEnd, unitEnd));
    const whole = leadingInt(text, at, wholeEnd);
    if (unitNs === undefined || whole === null) return null;
    total += whole * unitNs + leadingFraction(text, fractionStart, fractionEnd, unitNs);
    // Go's own sum can wrap around to zero when two components are 2^63 each. Such a text is refused here.
    if (total > MAGNITUDE_MAX) return null;
    at = unitEnd;
  }

  if (sign === MINUS) return -total;
  return total > NS_MAX ? null : total;
}

/** Formats like Go's `Duration.String()`: `1h30m0s`, `1.5s`, `300ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (magnitude < 1_000n) return `${sign}${magnitude}ns`;
  if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 3)}\u00b5s`;
  if (magnitude < 1_000_000_000n) return `${sign}${decimal(magnitude, 6)}ms`;
  const minutes = magnitude / 60_000_000_000n;
  const seconds = `${decimal(magnitude % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Returns `value` / 10^`places` in decimal, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const whole = digits.slice(0, -places);
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Returns whole milliseconds, truncated toward zero. Returns null when the text is not a duration. */
export function durationMs(text: string): number | null {
  const nanoseconds = parseDuration(text);
  return nanoseconds === null ? null : Number(nanoseconds / NS_PER_MS);
}

/** Returns whole milliseconds, rounded up, so that a wait is never shorter than requested. */
export function durationMsCeil(text: string): number | null {
  const nanoseconds = parseDuration(text);
  return nanoseconds === null ? null : msCeil(nanoseconds);
}

export function msCeil(nanoseconds: bigint): number {
  const truncated = nanoseconds / NS_PER_MS;
  return Number(truncated * NS_PER_MS < nanoseconds ? truncated + 1n : truncated);
}

/** The bounds of a duration. `aboveMs` is exclusive, the others are inclusive. */
export interface DurationBounds {
  readonly aboveMs?: number;
  readonly minMs?: number;
  readonly maxMs?: number;
}

/** Returns whether the text is a duration within these bounds. */
export function isDurationWithin(text: string, { aboveMs, minMs, maxMs }: DurationBounds): boolean {
  const nanoseconds = parseDuration(text);
  return (
    nanoseconds !== null &&
    (aboveMs === undefined || nanoseconds > BigInt(aboveMs) * NS_PER_MS) &&
    (minMs === undefined || nanoseconds >= BigInt(minMs) * NS_PER_MS) &&
    (maxMs === undefined || nanoseconds <= BigInt(maxMs) * NS_PER_MS)
  );
}
