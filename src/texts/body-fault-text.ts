/**
 * The message for a refused request body: what is wrong with this value, what is allowed, and what to write instead. It
 * is made only for the one fault that is reported, so a valid request pays nothing for it. The parsers say that a value
 * is wrong, and the texts look at it again to say why.
 */
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import { formatInstant, type Instant, parseInstant } from '#src/domain/instant.ts';
import { FLOOR_MS, horizon, TIMING_FIELDS } from '#src/domain/timing.ts';
import { isZone, localInstant, parseLocalTime } from '#src/domain/zone.ts';
import { cronFaultText } from './cron-fault-text.ts';
import { destinationFaultText } from './destination-fault-text.ts';
import { type DurationRule, durationFaultText } from './duration-fault-text.ts';
import { fieldFaultText } from './field-fault-text.ts';
import { instantFaultText, localTimeFaultText } from './instant-fault-text.ts';
import { described, listed } from './quote.ts';
import { zoneFaultText } from './zone-fault-text.ts';

export interface RefusedBody {
  readonly body: Readonly<Record<string, unknown>>;
  /** Null if the body has no timing fields. */
  readonly now: Instant | null;
  /** Whether the operator allows plain http:// destinations. */
  readonly httpAllowed: boolean;
  /** Whether a time may be given as `delay`; by default it may. */
  readonly takesDelay?: boolean;
}

/** `path` leads to the value at fault. It is empty if the whole body is at fault. */
export function bodyFaultText(code: ErrorCode, path: readonly PropertyKey[], refused: RefusedBody): string {
  const field = String(path[0] ?? '');
  return TEXT_OF_CODE[code]?.(field, refused) ?? valueText(path, refused) ?? ERRORS[code].message;
}

/** Codes that are about more than the form of one value. A null leaves the text to the value. */
const TEXT_OF_CODE: Partial<Record<ErrorCode, (field: string, refused: RefusedBody) => string | null>> = {
  multiple_timing: (_field, { body, takesDelay }) => {
    const given = TIMING_FIELDS.filter((name) => isGiven(body[name]));
    return `${listed(given, 'and')} were given. Give exactly one of ${listed(timingFields(takesDelay), 'and')}.`;
  },
  missing_timing: (_field, { body, takesDelay = true }) =>
    isGiven(body.timezone)
      ? 'timezone was given without a time. Add cron or local_fire_at, such as "cron": "0 9 * * *".'
      : `No time was given. Give one of ${listed(timingFields(takesDelay), 'and')}, such as ${takesDelay ? '"delay": "5m"' : '"cron": "0 9 * * *"'}.`,
  invalid_duration: (field, { takesDelay = true }) =>
    field === 'delay' && !takesDelay ? PUT_DELAY_TEXT : null,
  multiple_endpoint: (field) =>
    field === 'endpoint'
      ? 'This schedule sends to an endpoint profile, so it has no endpoint of its own. Change url of the profile.'
      : 'endpoint and endpoint_id were given. Give endpoint for a URL, or endpoint_id for an endpoint profile.',
  method_on_profile: () =>
    'method was given, but the method comes from the endpoint profile. Leave it out, or change the profile.',
  missing_endpoint: (_field, { body }) =>
    isGiven(body.url)
      ? 'No destination was given. A schedule has its URL in endpoint, not in url.'
      : 'No destination was given. Give endpoint, such as "https://example.com/hook", or endpoint_id.',
  missing_url: (_field, { body }) =>
    isGiven(body.endpoint)
      ? 'An endpoint profile needs a url. It has its URL in url, not in endpoint.'
      : 'An endpoint profile needs a url, such as "https://example.com/hook".',
  sub_floor_delay: (field, { body }) =>
    `${field} ${described(body[field])} is too short: it must be at least 1s. Below that, send the request yourself.`,
  fire_at_in_past: (field, { body, now, takesDelay = true }) =>
    now === null ? null : pastText(field, body, now, takesDelay),
  fire_at_too_far: (field, { body, now }) =>
    now === null
      ? null
      : `${field} ${described(body[field])} is more than 10 years ahead. The latest instant is ${formatInstant(horizon(now))}.`,
};

const PUT_DELAY_TEXT =
  'A schedule with a name cannot have a delay: the same body would mean another instant each time. Give fire_at, such as "2030-01-01T09:00:00Z", local_fire_at or cron.';

export function otherNameText(given: string, name: string): string {
  return `name is ${described(given)}, but the path names "${name}". Leave name out, or rename the object with PATCH.`;
}

function timingFields(takesDelay = true): readonly string[] {
  return TIMING_FIELDS.filter((name) => takesDelay || name !== 'delay');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function pastText(field: string, body: RefusedBody['body'], now: Instant, takesDelay: boolean): string {
  const at = instantOf(field, body);
  const shown = at === null || field === 'fire_at' ? '' : ` (${formatInstant(at)})`;
  const when = outOfBounds(at ?? now, now);
  return `${field} ${described(body[field])}${shown} is ${when}: it is ${formatInstant(now)} now. Give a time at least 1s ahead${takesDelay ? ', or use delay, such as "5m"' : ''}.`;
}

function instantOf(field: string, body: RefusedBody['body']): Instant | null {
  const text = String(body[field]);
  if (field === 'fire_at') return parseInstant(text);
  const local = parseLocalTime(text);
  return local === null ? null : localInstant(zoneOf(body), local);
}

/** Returns UTC for a zone that is wrong. Another message says so. */
function zoneOf({ timezone }: RefusedBody['body']): string {
  return typeof timezone === 'string' && isZone(timezone) ? timezone : 'UTC';
}

/** Says why a schedule cannot have this instant, or returns null. */
function outOfBounds(at: Instant, now: Instant): string | null {
  if (at <= now) return 'in the past';
  if (at < now + FLOOR_MS) return 'less than 1s ahead';
  return at > horizon(now) ? 'more than 10 years ahead' : null;
}

function delayRule(now: Instant): DurationRule {
  return { minMs: FLOOR_MS, maxMs: horizon(now) - now, example: '5m' };
}

function valueText(path: readonly PropertyKey[], { body, now, httpAllowed }: RefusedBody): string | null {
  const field = String(path[0] ?? '');
  const value = body[field];
  switch (field) {
    case 'delay':
      return now === null ? null : durationFaultText(value, field, delayRule(now));
    case 'fire_at':
      return now === null ? null : instantFaultText(value, field, now, (at) => outOfBounds(at, now));
    case 'local_fire_at':
      return now === null
        ? null
        : localTimeFaultText(value, field, now, {
            timezone: zoneOf(body),
            outOfBounds: (at) => outOfBounds(at, now),
          });
    case 'cron':
      return cronFaultText(value, field);
    case 'timezone':
      return zoneFaultText(value, field);
    case 'endpoint':
    case 'url':
      return destinationFaultText(value, field, httpAllowed);
    default:
      return fieldFaultText(path, memberAt(value, path.slice(1)));
  }
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (within, key) =>
      typeof within === 'object' && within !== null && Object.hasOwn(within, key)
        ? (within as Readonly<Record<PropertyKey, unknown>>)[key]
        : undefined,
    value,
  );
}
