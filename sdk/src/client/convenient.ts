/**
 * Convenient values for fields of the API. A duration may be a number of milliseconds, and an instant may be a `Date`
 * or an object of Temporal. They are converted to the texts of the API before a request is sent. Texts are passed on
 * unchanged: the service validates them.
 */
import { describeValue, isDate, isFields, isIterable } from '../describe-value.ts';
import { withJsonBody } from './payload.ts';

/** The instants of Temporal: `Temporal.Instant` and `Temporal.ZonedDateTime`. */
export interface TemporalInstant {
  readonly epochMilliseconds: number;
}

/** The fields that are durations, by the object that they are in. */
const DURATIONS = {
  body: ['delay', 'ttl', 'jitter', 'timeout'],
  retry_policy: ['base', 'max'],
  breaker_policy: ['base_open', 'max_open', 'probe_timeout'],
} as const;
const INSTANTS = ['fire_at', 'created_after', 'created_before'] as const;

type Place = keyof typeof DURATIONS;
type DurationField = (typeof DURATIONS)[Place][number];
type InstantField = (typeof INSTANTS)[number];
type Policy = Exclude<Place, 'body'>;

/** The fields of an API object with convenient values. */
export type Convenient<T> = { readonly [K in keyof T]: ConvenientValue<K, T[K]> };

/** Only a text is a duration: `jitter` of a retry policy is true or false. */
type ConvenientValue<K, V> = K extends DurationField
  ? string extends V
    ? V | number
    : V
  : K extends InstantField
    ? V | Date | TemporalInstant
    : K extends Policy
      ? V extends object
        ? Convenient<V>
        : V
      : V;

type Fields = Readonly<Record<string, unknown>>;

const sentAsIs = new WeakSet<object>();

/**
 * Marks a body that already has the texts of the API. The command line sends the JSON of its user unchanged, so that
 * the service judges it.
 */
export function asIs<T extends object>(body: T): T {
  sentAsIs.add(body);
  return body;
}

/** Returns the body of a new schedule with the texts of the API. Only a new schedule may have `json`. */
export function toApiSchedule(schedule: Fields): Fields {
  return sentAsIs.has(schedule) ? schedule : withJsonBody(toApiFields(schedule));
}

/** Returns any other body with the texts of the API. */
export function toApiBody(body: Fields): Fields {
  return sentAsIs.has(body) ? body : toApiFields(body);
}

export function toApiFields(body: Fields, place: Place = 'body'): Fields {
  const durations: readonly string[] = DURATIONS[place];
  return mapFields(body, (field, value) => {
    const name = place === 'body' ? field : `${place}.${field}`;
    if (durations.includes(field) && typeof value === 'number') return formatDuration(name, value);
    if (place !== 'body') return value;
    if (isInstantField(field)) return toInstantText(field, value);
    checkMap(field, value);
    return isPolicy(field) && isFields(value) ? toApiFields(value, field) : value;
  });
}

/** Returns the query with the texts of the API. */
export function toApiQuery(query: Fields): Fields {
  return mapFields(query, (field, value) => (isInstantField(field) ? toInstantText(field, value) : value));
}

/** An object without a prototype, so that a field named `__proto__` stays a field. */
function mapFields(fields: Fields, convert: (field: string, value: unknown) => unknown): Fields {
  const converted = Object.create(null) as Record<string, unknown>;
  for (const [field, value] of Object.entries(fields)) converted[field] = convert(field, value);
  return converted;
}

const MAPS: ReadonlySet<string> = new Set(['headers', 'metadata']);

/** JSON would have nothing of a `Headers` or a `Map`. The service explains any other mistake. */
function checkMap(field: string, value: unknown): void {
  if (!MAPS.has(field) || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value) || !isIterable(value)) return;
  throw new TypeError(`${field} must be a plain object. It got ${describeValue(value)}.`);
}

function isPolicy(field: string): field is Policy {
  return field !== 'body' && Object.hasOwn(DURATIONS, field);
}

function isInstantField(field: string): boolean {
  return (INSTANTS as readonly string[]).includes(field);
}

const NS_PER_MS = 1_000_000;
/** Go's durations are 64-bit nanoseconds. */
const NS_MAX = 2n ** 63n - 1n;
const UNITS = [
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
] as const;

/** Formats milliseconds as the API writes them: `1h30m`, `1.5s`, `250ms`. Fractions are rounded to nanoseconds. */
export function formatDuration(field: string, ms: number): string {
  if (!Number.isFinite(ms))
    throw new TypeError(`${field} is ${ms}. Pass milliseconds, or a text such as "5m".`);
  if (ms < 0) throw new TypeError(`${field} is ${ms} ms, but it must not be negative.`);
  const whole = Math.trunc(ms);
  let rest = BigInt(whole) * BigInt(NS_PER_MS) + BigInt(Math.round((ms - whole) * NS_PER_MS));
  if (rest > NS_MAX) throw new TypeError(`${field} is ${ms} ms, but it must be below 292 years.`);
  if (rest < BigInt(NS_PER_MS) * 1_000n) return rest === 0n ? '0s' : `${decimal(rest, 6)}ms`;
  let text = '';
  for (const [unit, ns] of UNITS) {
    if (rest >= ns) text += `${rest / ns}${unit}`;
    rest %= ns;
  }
  return rest === 0n ? text : `${text}${decimal(rest, 9)}s`;
}

/** Returns `value` / 10^`places` without final zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}

/** The length of a text of `toISOString` within the years 0 to 9999. */
const ISO_LENGTH = 24;
const INSTANT_FORM = 'Pass a Date, or a text such as "2027-01-01T09:00:00Z".';

/** Passes on a text, null and undefined. */
function toInstantText(field: string, value: unknown): unknown {
  if (typeof value === 'string' || value === null || value === undefined) return value;
  const date = isDate(value) ? value : toDate(value);
  if (date === null) throw new TypeError(`${field} is ${describeValue(value)}. ${INSTANT_FORM}`);
  if (Number.isNaN(date.getTime())) throw new TypeError(`${field} is an invalid Date. ${INSTANT_FORM}`);
  const text = date.toISOString();
  if (text.length === ISO_LENGTH) return text;
  throw new TypeError(
    `${field} is a Date outside the years 0 to 9999. A Date counts milliseconds: did you pass microseconds?`,
  );
}

function toDate(value: unknown): Date | null {
  const ms = (value as Partial<TemporalInstant>).epochMilliseconds;
  return typeof ms === 'number' ? new Date(ms) : null;
}
