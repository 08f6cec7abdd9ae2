/**
 * Says what is wrong with a field of a request body that is not a time or a URL. A value of `headers`, the `body` and the
 * `idempotency_key` are never repeated. A header's name is.
 */
import { DEFAULT_METHOD, METHODS } from '#src/domain/destination.ts';
import {
  BREAKER_BOUNDS,
  DEFAULT_BREAKER_POLICY,
  RESPONSE_EXCERPT_BYTES_MAX,
  TIMEOUT_MAX_MS,
} from '#src/domain/endpoint-profile.ts';
import { HEADERS_BYTES_MAX } from '#src/domain/headers.ts';
import { LABELS_MAX } from '#src/domain/labels.ts';
import { isName } from '#src/domain/name.ts';
import { Names } from '#src/domain/nearest-name.ts';
import { BODY_CHARACTERS_MAX } from '#src/domain/payload.ts';
import { DEFAULT_RETRY_POLICY, RETRY_BOUNDS } from '#src/domain/retry.ts';
import { type DurationRule, durationFaultText } from './duration-fault-text.ts';
import { wrongIdText } from './id-fault-text.ts';
import { notifyFaultText } from './notify-fault-text.ts';
import { counted, described, HINT_CHARACTERS_MAX, listed, quoted, typeNamed } from './quote.ts';

interface NumberRule {
  readonly isWhole: boolean;
  readonly min: number;
  readonly max?: number;
  readonly example: number;
}

const OPEN_WINDOW: DurationRule = { aboveMs: 0, maxMs: BREAKER_BOUNDS.windowMaxMs, example: '30s' };

const DURATIONS: ReadonlyMap<string, DurationRule> = new Map<string, DurationRule>([
  ['ttl', { example: '24h' }],
  ['jitter', { minMs: 0, example: '30s' }],
  ['timeout', { aboveMs: 0, maxMs: TIMEOUT_MAX_MS, example: '10s' }],
  [
    'retry_policy.base',
    { minMs: RETRY_BOUNDS.baseMs.min, maxMs: RETRY_BOUNDS.baseMs.max, example: DEFAULT_RETRY_POLICY.base },
  ],
  [
    'retry_policy.max',
    { minMs: RETRY_BOUNDS.maxMs.min, maxMs: RETRY_BOUNDS.maxMs.max, example: DEFAULT_RETRY_POLICY.max },
  ],
  ['breaker_policy.base_open', { ...OPEN_WINDOW, example: DEFAULT_BREAKER_POLICY.baseOpen }],
  ['breaker_policy.max_open', { ...OPEN_WINDOW, example: DEFAULT_BREAKER_POLICY.maxOpen }],
  ['breaker_policy.probe_timeout', { ...OPEN_WINDOW, example: DEFAULT_BREAKER_POLICY.probeTimeout }],
]);

const NUMBERS: ReadonlyMap<string, NumberRule> = new Map<string, NumberRule>([
  [
    'retry_policy.max_attempts',
    { isWhole: true, ...RETRY_BOUNDS.maxAttempts, example: DEFAULT_RETRY_POLICY.maxAttempts },
  ],
  ['retry_policy.factor', { isWhole: false, ...RETRY_BOUNDS.factor, example: DEFAULT_RETRY_POLICY.factor }],
  ['response_excerpt', { isWhole: true, min: 0, max: RESPONSE_EXCERPT_BYTES_MAX, example: 4_096 }],
  ['retry_budget.rate', { isWhole: false, min: 0, example: 10 }],
  ['retry_budget.burst', { isWhole: false, min: 0, example: 100 }],
  ['rate_limit.per_second', { isWhole: false, min: 0, example: 5 }],
  [
    'breaker_policy.threshold',
    { isWhole: true, ...BREAKER_BOUNDS.threshold, example: DEFAULT_BREAKER_POLICY.threshold },
  ],
]);

/** Objects that are accepted, for a field that is not an object, or whose members are missing. */
const OBJECTS: ReadonlyMap<string, string> = new Map([
  ['retry_policy', '{"max_attempts": 8, "base": "5s"}'],
  ['retry_budget', '{"rate": 10, "burst": 100}'],
  ['rate_limit', '{"per_second": 5}'],
  ['breaker_policy', '{"threshold": 5, "base_open": "30s", "max_open": "1h", "probe_timeout": "30s"}'],
]);

type StringMapField = 'headers' | 'metadata';

/** Returns the message about the value at `path`, or null for a field that has no rule here. */
export function fieldFaultText(path: readonly PropertyKey[], value: unknown): string | null {
  const field = path.map(String).join('.');
  if (path[0] === 'notify') return notifyFaultText(path[1]?.toString(), value);
  const duration = DURATIONS.get(field);
  const number = NUMBERS.get(field);
  const object = OBJECTS.get(field);
  if (value === undefined && path.length > 1) return missingMember(path);
  if (duration !== undefined) return durationFaultText(value, field, duration);
  if (number !== undefined) return numberFault(value, field, number);
  if (object !== undefined) return `${field} must be an object such as ${object}, not ${described(value)}.`;
  switch (field) {
    case 'retry_policy.strategy':
      return `${field} must be "${DEFAULT_RETRY_POLICY.strategy}", not ${described(value)}. No other strategy exists.`;
    case 'retry_policy.jitter':
    case 'standard_webhooks':
      return `${field} must be true or false, not ${described(value)}.`;
    case 'method':
      return methodFault(value);
    case 'endpoint_id':
      return typeof value === 'string'
        ? wrongIdText(value, 'ep', field)
        : `${field} must be the id of an endpoint profile as a string, not ${typeNamed(value)}.`;
    case 'headers':
    case 'metadata':
      return stringMapFault(value, field);
    case 'body':
      return bodyFault(value);
    case 'name':
      return nameFaultText(value);
    case 'idempotency_key':
      return idempotencyKeyFault(value);
    default:
      return null;
  }
}

/** The message about a name in a body or in a path. */
export function nameFaultText(value: unknown): string {
  const must =
    'name must have up to 255 letters, digits, ".", "_", ":" and "-", and begin with a letter or digit';
  if (typeof value !== 'string') return `${must}, such as "nightly-report", not ${typeNamed(value)}.`;
  const proposed = value
    .normalize('NFKD')
    .replaceAll(/[^\w.:-]+/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|-+$/g, '');
  const example = isName(proposed) ? proposed.slice(0, HINT_CHARACTERS_MAX) : 'nightly-report';
  return `${must}, such as "${example}", not ${quoted(value)}.`;
}

function missingMember(path: readonly PropertyKey[]): string {
  const [field = '', member = ''] = path.map(String);
  return `${field}.${member} is missing. Give ${field} as ${OBJECTS.get(field)}.`;
}

function numberFault(value: unknown, field: string, { isWhole, min, max, example }: NumberRule): string {
  const kind = isWhole ? 'a whole number' : 'a number';
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const must = `${field} must be ${kind} ${bounds}, such as ${example}`;
  if (typeof value !== 'string') return `${must}, not ${described(value).replace(/^the number /, '')}.`;
  const number = /^\d{1,6}$/.test(value) ? Number(value) : null;
  const fits = number !== null && number >= min && (max === undefined || number <= max);
  return fits
    ? `${must}, not the string ${quoted(value)}. Write ${number} without quotes.`
    : `${must}, not the string ${quoted(value)}.`;
}

const METHOD_NAMES = new Names(METHODS);

function methodFault(value: unknown): string {
  const must = `method must be ${listed(METHODS, 'or')}`;
  if (typeof value !== 'string') return `${must}, such as "${DEFAULT_METHOD}", not ${described(value)}.`;
  const meant = METHOD_NAMES.nearest(value.trim());
  return `${must}, not ${quoted(value)}.${meant === null ? ` Leave it out for ${DEFAULT_METHOD}.` : ` Write "${meant}".`}`;
}

function stringMapFault(value: unknown, field: StringMapField): string {
  const example = field === 'headers' ? '{"X-Tenant": "acme"}' : '{"team": "billing"}';
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `${field} must be an object of strings such as ${example}, not ${typeNamed(value)}.`;
  const map = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(map);
  const wrong = names.find((name) => typeof map[name] !== 'string');
  if (wrong !== undefined) return memberFault(field, wrong, map[wrong]);
  if (field === 'headers') return headersTooLarge(map as Readonly<Record<string, string>>);
  if (names.length > LABELS_MAX)
    return `metadata has ${counted(names.length)} labels. At most ${LABELS_MAX} are allowed.`;
  const unstorable = names.find((name) => !isStorable(name) || !isStorable(String(map[name]))) ?? '';
  return `${memberName(field, unstorable)} has a character that cannot be stored: NUL, or half of a surrogate pair. Leave it out.`;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Names a member by its path, as far as its name is plain. */
function memberName(field: string, name: string): string {
  return /^[\w-]{1,40}$/.test(name) ? `${field}.${name}` : `${field}[${quoted(name, HINT_CHARACTERS_MAX)}]`;
}

function memberFault(field: StringMapField, name: string, value: unknown): string {
  const is = `${memberName(field, name)} must be a string, not ${typeNamed(value)}.`;
  if (value === null) return `${is} Leave it out.`;
  if (typeof value === 'object') return `${is} Give its text, such as the result of JSON.stringify.`;
  // The value of a header may be a secret, also as a number.
  const canShow = field === 'metadata' && (typeof value === 'number' || typeof value === 'boolean');
  return canShow ? `${is} Write "${value}".` : `${is} Write it in quotes.`;
}

function headersTooLarge(headers: Readonly<Record<string, string>>): string {
  const bytes = Object.keys(headers).reduce(
    (sum, name) => sum + Buffer.byteLength(name) + Buffer.byteLength(headers[name] ?? ''),
    0,
  );
  return `headers has ${counted(bytes)} bytes of names and values. At most ${counted(HEADERS_BYTES_MAX)} are allowed.`;
}

function bodyFault(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return `body must be a string, not ${typeNamed(value)}. Send JSON as text, as JSON.stringify writes it: "{\\"hello\\":\\"world\\"}".`;
  if (typeof value !== 'string') return `body must be a string, not ${typeNamed(value)}. Write it in quotes.`;
  if (!value.isWellFormed())
    return 'body has half of a surrogate pair, which UTF-8 cannot carry. Send binary data as base64.';
  return `body has ${counted(charactersOf(value))} characters. At most ${counted(BODY_CHARACTERS_MAX)} are allowed. Send a reference, and let the receiver fetch the data.`;
}

/** Counts a surrogate pair as one character, as the limit does. */
function charactersOf(text: string): number {
  let lowSurrogates = 0;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) lowSurrogates++;
  return text.length - lowSurrogates;
}

const KEY_CHARACTERS_MAX = 255;

/** The message about the header `Idempotency-Key`. It is a different key from the field, with the same length. */
export function longIdempotencyHeaderText(characters: number): string {
  return `Idempotency-Key has ${counted(characters)} characters. At most ${KEY_CHARACTERS_MAX} are allowed: use a UUID.`;
}

function idempotencyKeyFault(value: unknown): string {
  const rule = `1 to ${KEY_CHARACTERS_MAX} visible ASCII characters, such as "invoice-4711"`;
  if (typeof value !== 'string')
    return `idempotency_key must be a string of ${rule}, not ${typeNamed(value)}.`;
  if (value === '') return `idempotency_key is empty. Give ${rule}, or leave it out.`;
  if (value.length > KEY_CHARACTERS_MAX)
    return `idempotency_key has ${counted(value.length)} characters. It must have ${rule}.`;
  if (value !== value.trim()) return `idempotency_key begins or ends with a space. It must have ${rule}.`;
  return `idempotency_key has a character that a header cannot carry. It must have ${rule}.`;
}

/** `only`: the parameter that the call has. */
export function unknownParameterText(name: string, only: string): string {
  return `This call has no parameter ${quoted(name)}. Its only parameter is ${only}.`;
}
