/**
 * The commonest mistakes, each with the message that it gets. A message says what is wrong with the value, what is
 * allowed, and what to write. Where it names a correction, the corrected request is sent too and must be accepted.
 */
import { describe, expect, it } from 'vitest';
import { type Answer, planted, type Sending } from './client.ts';
import { created, createdProfile, expectError, expectStatus, ordered } from './expectations.ts';
import { useSched } from './harness.ts';
import { type Delivery, type ErrorBody, type List, ONE_SHOT, PROFILE, UNKNOWN, URL } from './resources.ts';

const { api, anonymous } = useSched();

const DAY_MS = 86_400_000;
/** The day after tomorrow, so that a test at midnight does not fail. */
const SOON = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
/** The example of a message is nine o'clock of the next day. Any day is accepted here. */
const EXAMPLE = /"\d{4}-\d{2}-\d{2}T09:00:00(Z?)"/g;
const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

function messageOf({ json }: Answer): string {
  const { message } = (json as ErrorBody).error;
  return message.replaceAll(EXAMPLE, '"<tomorrow>$1"').replaceAll(INSTANT, '<instant>');
}

/** The fields are added to a valid body. Undefined removes a field. */
type Row = readonly [
  fields: object,
  status: number,
  code: string,
  param: string | null,
  message: string,
  corrected?: object,
];

const NO_DELAY = { delay: undefined };
const DAILY = { cron: '0 9 * * *', ...NO_DELAY };

const TIMES: readonly Row[] = [
  [
    { ...NO_DELAY, cron: '0 25 * * *' },
    422,
    'invalid_cron',
    'cron',
    'cron "0 25 * * *" is not valid: the hour has "25", but only 0 to 23 are allowed.',
  ],
  [
    { ...NO_DELAY, cron: '@daily' },
    422,
    'invalid_cron',
    'cron',
    'cron "@daily" is not valid: nicknames are not supported. Write "0 0 * * *".',
    { cron: '0 0 * * *' },
  ],
  [
    { ...NO_DELAY, cron: '0 0 9 * * *' },
    422,
    'invalid_cron',
    'cron',
    'cron "0 0 9 * * *" is not valid: it has 6 fields but needs five (minute, hour, day of month, month, day of week), such as "0 9 * * MON-FRI". Seconds are not supported: leave out their field.',
    { cron: '0 9 * * MON-FRI' },
  ],
  [
    { ...NO_DELAY, cron: '0 9 L * *' },
    422,
    'invalid_cron',
    'cron',
    'cron "0 9 L * *" is not valid: the day of month has "L", but L, W, # and ? are not supported. Write * for any day.',
  ],
  [
    { ...NO_DELAY, cron: '0 9 * * FRI-MON' },
    422,
    'invalid_cron',
    'cron',
    'cron "0 9 * * FRI-MON" is not valid: the day of week has the range "FRI-MON", which ends before it starts. Split it in two, separated by a comma.',
    { cron: '0 9 * * FRI-SUN,MON' },
  ],
  [
    { ...NO_DELAY, cron: '0 9 30 2 *' },
    422,
    'invalid_cron',
    'cron',
    'cron "0 9 30 2 *" is not valid: no year has such a date.',
  ],
  [
    { ...NO_DELAY, cron: '' },
    422,
    'invalid_cron',
    'cron',
    'cron "" is not valid: it is empty. Write five fields (minute, hour, day of month, month, day of week), such as "0 9 * * MON-FRI".',
  ],
  [
    { ...NO_DELAY, cron: 5 },
    422,
    'invalid_cron',
    'cron',
    'cron must be a string with five fields, such as "0 9 * * MON-FRI", not the number 5.',
  ],
  [
    { ...DAILY, timezone: 'Europe/Berln' },
    422,
    'invalid_cron',
    'timezone',
    'timezone "Europe/Berln" is not an IANA time zone. Did you mean "Europe/Berlin"?',
    { timezone: 'Europe/Berlin' },
  ],
  [
    { ...DAILY, timezone: 'America/New York' },
    422,
    'invalid_cron',
    'timezone',
    'timezone "America/New York" is not an IANA time zone. Did you mean "America/New_York"?',
    { timezone: 'America/New_York' },
  ],
  [
    { ...DAILY, timezone: 'PST' },
    422,
    'invalid_cron',
    'timezone',
    'timezone "PST" is not an IANA time zone. Did you mean "America/Los_Angeles"?',
    { timezone: 'America/Los_Angeles' },
  ],
  [
    { ...DAILY, timezone: '+02:00' },
    422,
    'invalid_cron',
    'timezone',
    'timezone must be an IANA time zone such as "Europe/Berlin". "+02:00" is an offset: name the place, whose clock may change.',
  ],
  [
    { ...DAILY, timezone: 'Mars/Base' },
    422,
    'invalid_cron',
    'timezone',
    'timezone "Mars/Base" is not an IANA time zone. Write a name such as "Europe/Berlin".',
  ],
  [
    { delay: '1d' },
    400,
    'invalid_duration',
    'delay',
    'delay "1d" is not a duration: days are not a unit. Write "24h".',
    { delay: '24h' },
  ],
  [
    { delay: '30' },
    400,
    'invalid_duration',
    'delay',
    'delay "30" is not a duration: it has no unit. Write "30s".',
    { delay: '30s' },
  ],
  [
    { delay: 30 },
    400,
    'invalid_duration',
    'delay',
    'delay must be a string with a unit, not the number 30. Write "30s".',
    { delay: '30s' },
  ],
  [
    { delay: 30_000 },
    400,
    'invalid_duration',
    'delay',
    'delay must be a string with a unit, not the number 30000. Write "30000ms" or "30000s".',
    { delay: '30000ms' },
  ],
  [
    { delay: 'PT30S' },
    400,
    'invalid_duration',
    'delay',
    'delay "PT30S" is not a duration: ISO 8601 is not supported. Write "30s".',
    { delay: '30s' },
  ],
  [
    { delay: '5 minutes' },
    400,
    'invalid_duration',
    'delay',
    'delay "5 minutes" is not a duration: "minutes" is not a unit. Write "5m".',
    { delay: '5m' },
  ],
  [
    { delay: '1h 30m' },
    400,
    'invalid_duration',
    'delay',
    'delay "1h 30m" is not a duration: it has a space. Write "1h30m".',
    { delay: '1h30m' },
  ],
  [
    { delay: 'soon' },
    400,
    'invalid_duration',
    'delay',
    'delay "soon" is not a duration: it needs a number and a unit. Use h, m, s and ms, such as "5m".',
    { delay: '5m' },
  ],
  [
    { delay: '500ms' },
    422,
    'sub_floor_delay',
    'delay',
    'delay "500ms" is too short: it must be at least 1s. Below that, send the request yourself.',
    { delay: '1s' },
  ],
  [
    { delay: '-5m' },
    422,
    'sub_floor_delay',
    'delay',
    'delay "-5m" is too short: it must be at least 1s. Below that, send the request yourself.',
  ],
  [
    { delay: '100000h' },
    422,
    'fire_at_too_far',
    'delay',
    'delay "100000h" is more than 10 years ahead. The latest instant is <instant>.',
  ],
  [
    { ttl: '1d' },
    400,
    'invalid_duration',
    'ttl',
    'ttl "1d" is not a duration: days are not a unit. Write "24h".',
    { ttl: '24h' },
  ],
  [
    { jitter: '-30s' },
    400,
    'invalid_duration',
    'jitter',
    'jitter "-30s" is out of bounds: it must be at least 0, such as "30s".',
    { jitter: '30s' },
  ],
  [
    { ...NO_DELAY, fire_at: `${SOON}T12:00:00` },
    400,
    'invalid_fire_at',
    'fire_at',
    `fire_at "${SOON}T12:00:00" has no offset. Write "${SOON}T12:00:00Z" for UTC, or end with an offset such as +02:00.`,
    { fire_at: `${SOON}T12:00:00Z` },
  ],
  [
    { ...NO_DELAY, fire_at: `${SOON} 12:00:00Z` },
    400,
    'invalid_fire_at',
    'fire_at',
    `fire_at "${SOON} 12:00:00Z" needs a T between date and time. Write "${SOON}T12:00:00Z".`,
    { fire_at: `${SOON}T12:00:00Z` },
  ],
  [
    { ...NO_DELAY, fire_at: SOON },
    400,
    'invalid_fire_at',
    'fire_at',
    `fire_at "${SOON}" has no time. Write "${SOON}T00:00:00Z" for UTC, or end with an offset such as +02:00.`,
    { fire_at: `${SOON}T00:00:00Z` },
  ],
  [
    { ...NO_DELAY, fire_at: `${SOON}T12:00:00+0200` },
    400,
    'invalid_fire_at',
    'fire_at',
    `fire_at "${SOON}T12:00:00+0200" has an offset of another form. Write "${SOON}T12:00:00+02:00".`,
    { fire_at: `${SOON}T12:00:00+02:00` },
  ],
  [
    { ...NO_DELAY, fire_at: Date.parse(`${SOON}T12:00:00Z`) / 1_000 },
    400,
    'invalid_fire_at',
    'fire_at',
    `fire_at is Unix time: the number ${Date.parse(`${SOON}T12:00:00Z`) / 1_000}. Write "<instant>".`,
    { fire_at: `${SOON}T12:00:00.000Z` },
  ],
  [
    { ...NO_DELAY, fire_at: '2027-02-30T12:00:00Z' },
    400,
    'invalid_fire_at',
    'fire_at',
    'fire_at "2027-02-30T12:00:00Z" does not exist: this month has 28 days. Write an instant such as "<tomorrow>Z".',
  ],
  [
    { ...NO_DELAY, fire_at: 'tomorrow' },
    400,
    'invalid_fire_at',
    'fire_at',
    'fire_at "tomorrow" is not an RFC 3339 instant such as "<tomorrow>Z".',
  ],
  [
    { ...NO_DELAY, fire_at: '2020-01-01T00:00:00Z' },
    422,
    'fire_at_in_past',
    'fire_at',
    'fire_at "2020-01-01T00:00:00Z" is in the past: it is <instant> now. Give a time at least 1s ahead, or use delay, such as "5m".',
  ],
  [
    { ...NO_DELAY, fire_at: '2060-01-01T00:00:00Z' },
    422,
    'fire_at_too_far',
    'fire_at',
    'fire_at "2060-01-01T00:00:00Z" is more than 10 years ahead. The latest instant is <instant>.',
  ],
  [
    { ...NO_DELAY, local_fire_at: `${SOON}T12:00:00+02:00` },
    400,
    'invalid_duration',
    'local_fire_at',
    `local_fire_at "${SOON}T12:00:00+02:00" has an offset. Write "${SOON}T12:00:00" and give timezone, or use fire_at.`,
    { local_fire_at: `${SOON}T12:00:00` },
  ],
  [
    { ...NO_DELAY, local_fire_at: '2020-01-01T00:00:00', timezone: 'Europe/Berlin' },
    422,
    'fire_at_in_past',
    'local_fire_at',
    'local_fire_at "2020-01-01T00:00:00" (<instant>) is in the past: it is <instant> now. Give a time at least 1s ahead, or use delay, such as "5m".',
  ],
  [
    { fire_at: `${SOON}T12:00:00Z` },
    400,
    'multiple_timing',
    'fire_at',
    'delay and fire_at were given. Give exactly one of delay, fire_at, local_fire_at and cron.',
  ],
  [
    NO_DELAY,
    422,
    'missing_timing',
    null,
    'No time was given. Give one of delay, fire_at, local_fire_at and cron, such as "delay": "5m".',
    { delay: '5m' },
  ],
];

const DESTINATIONS: readonly Row[] = [
  [
    { endpoint: 'http://10.0.0.5/hook' },
    422,
    'url_blocked',
    'endpoint',
    'endpoint uses http:// ("http://10.0.0.5"), but only https:// is allowed, and this address is not public. The operator can allow both with SCHED_EGRESS_ALLOW and SCHED_EGRESS_ALLOW_HTTP.',
  ],
  [
    { endpoint: 'http://localhost:3000/hook' },
    422,
    'url_blocked',
    'endpoint',
    'endpoint uses http:// ("http://localhost:3000"), but only https:// is allowed. To send to your own machine, use "sched dev". In the service, the operator can allow it with SCHED_EGRESS_ALLOW and SCHED_EGRESS_ALLOW_HTTP.',
  ],
  [
    { endpoint: 'http://example.com/hook?token=secret' },
    422,
    'url_blocked',
    'endpoint',
    'endpoint uses http:// ("http://example.com"), but only https:// is allowed. Write "https://example.com".',
    { endpoint: 'https://example.com' },
  ],
  [
    { endpoint: 'example.com/hook' },
    422,
    'url_blocked',
    'endpoint',
    'endpoint must be an absolute https:// URL such as "https://example.com/hook". It has no scheme: begin with "https://example.com".',
    { endpoint: 'https://example.com' },
  ],
  [
    { endpoint: 'https://user:hunter2@example.com/' },
    422,
    'url_blocked',
    'endpoint',
    'endpoint has a user name or password before the host. Leave them out, and send them in headers, such as Authorization.',
  ],
  [
    { endpoint: 'ftp://example.com/' },
    422,
    'url_blocked',
    'endpoint',
    'endpoint must be an absolute https:// URL such as "https://example.com/hook". It has the scheme "ftp".',
    { endpoint: 'https://example.com/hook' },
  ],
  [
    { endpoint_id: UNKNOWN.endpoint },
    400,
    'multiple_endpoint',
    'endpoint_id',
    'endpoint and endpoint_id were given. Give endpoint for a URL, or endpoint_id for an endpoint profile.',
  ],
  [
    { endpoint: undefined },
    422,
    'missing_endpoint',
    'endpoint',
    'No destination was given. Give endpoint, such as "https://example.com/hook", or endpoint_id.',
    { endpoint: 'https://example.com/hook' },
  ],
  [
    { endpoint: undefined, url: URL },
    422,
    'missing_endpoint',
    'endpoint',
    'No destination was given. A schedule has its URL in endpoint, not in url.',
    { endpoint: URL },
  ],
  [
    { endpoint: undefined, endpoint_id: UNKNOWN.endpoint },
    422,
    'invalid_endpoint',
    'endpoint_id',
    'No endpoint profile has this id in this project and mode. A test key sees no live data, and a live key no test data.',
  ],
  [
    { endpoint: undefined, endpoint_id: UNKNOWN.schedule },
    422,
    'invalid_endpoint',
    'endpoint_id',
    `endpoint_id "${UNKNOWN.schedule}" names another kind of object (schedule). The id of every endpoint profile begins with ep_.`,
  ],
  [
    { endpoint: undefined, endpoint_id: 'billing' },
    422,
    'invalid_endpoint',
    'endpoint_id',
    'endpoint_id is not of the right form: the id of every endpoint profile is ep_ and 26 lower-case letters and digits. Copy it unchanged.',
  ],
  [
    { method: 'post' },
    400,
    'invalid_method',
    'method',
    'method must be POST, PUT, PATCH, GET or DELETE, not "post". Write "POST".',
    { method: 'POST' },
  ],
  [
    { method: 'HEAD' },
    400,
    'invalid_method',
    'method',
    'method must be POST, PUT, PATCH, GET or DELETE, not "HEAD". Leave it out for POST.',
  ],
];

const CONTENTS: readonly Row[] = [
  [
    { body: { hello: planted('body') } },
    400,
    'invalid_request',
    'body',
    'body must be a string, not an object. Send JSON as text, as JSON.stringify writes it: "{\\"hello\\":\\"world\\"}".',
    { body: '{"hello":"world"}' },
  ],
  [
    { body: 5 },
    400,
    'invalid_request',
    'body',
    'body must be a string, not a number. Write it in quotes.',
    { body: '5' },
  ],
  [
    { body: 'x'.repeat(262_145) },
    413,
    'payload_too_large',
    'body',
    'body has 262,145 characters. At most 262,144 are allowed. Send a reference, and let the receiver fetch the data.',
  ],
  [
    { headers: { 'X-Count': 42 } },
    400,
    'invalid_request',
    'headers',
    'headers.X-Count must be a string, not a number. Write it in quotes.',
    { headers: { 'X-Count': '42' } },
  ],
  [
    { headers: ['X-A: b'] },
    400,
    'invalid_request',
    'headers',
    'headers must be an object of strings such as {"X-Tenant": "acme"}, not an array.',
    { headers: { 'X-Tenant': 'acme' } },
  ],
  [
    { headers: { 'X-Long': 'x'.repeat(16_384) } },
    413,
    'payload_too_large',
    'headers',
    'headers has 16,390 bytes of names and values. At most 16,384 are allowed.',
  ],
  [
    { metadata: { count: 42 } },
    400,
    'invalid_request',
    'metadata',
    'metadata.count must be a string, not a number. Write "42".',
    { metadata: { count: '42' } },
  ],
  [
    { metadata: { 'a b': null } },
    400,
    'invalid_request',
    'metadata',
    'metadata["a b"] must be a string, not null. Leave it out.',
  ],
  [
    { metadata: { user: { id: 1 } } },
    400,
    'invalid_request',
    'metadata',
    'metadata.user must be a string, not an object. Give its text, such as the result of JSON.stringify.',
  ],
  [
    { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`l${i}`, 'x'])) },
    422,
    'too_many_labels',
    'metadata',
    'metadata has 51 labels. At most 50 are allowed.',
  ],
  [
    { metadata: { a: '\0' } },
    400,
    'invalid_request',
    'metadata',
    'metadata.a has a character that cannot be stored: NUL, or half of a surrogate pair. Leave it out.',
  ],
  [
    { idempotency_key: 'x'.repeat(256) },
    400,
    'invalid_request',
    'idempotency_key',
    'idempotency_key has 256 characters. It must have 1 to 255 visible ASCII characters, such as "invoice-4711".',
    { idempotency_key: 'invoice-4711' },
  ],
];

const POLICIES: readonly Row[] = [
  [
    { retry_policy: { max_attempts: 100 } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.max_attempts must be a whole number from 1 to 50, such as 8, not 100.',
    { retry_policy: { max_attempts: 8 } },
  ],
  [
    { retry_policy: { max_attempts: '5' } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.max_attempts must be a whole number from 1 to 50, such as 8, not the string "5". Write 5 without quotes.',
    { retry_policy: { max_attempts: 5 } },
  ],
  [
    { retry_policy: { max_attempts: 2.5 } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.max_attempts must be a whole number from 1 to 50, such as 8, not 2.5.',
  ],
  [
    { retry_policy: { base: '2d' } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.base "2d" is not a duration: days are not a unit. Use h, m, s and ms, such as "5s".',
    { retry_policy: { base: '5s' } },
  ],
  [
    { retry_policy: { base: '48h' } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.base "48h" is out of bounds: it must be at least 0 and at most 24h, such as "5s".',
  ],
  [
    { retry_policy: { factor: 0.5 } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.factor must be a number from 1 to 100, such as 2, not 0.5.',
    { retry_policy: { factor: 2 } },
  ],
  [
    { retry_policy: { strategy: 'linear' } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.strategy must be "exponential", not "linear". No other strategy exists.',
    { retry_policy: { strategy: 'exponential' } },
  ],
  [
    { retry_policy: { jitter: 'yes' } },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy.jitter must be true or false, not "yes".',
    { retry_policy: { jitter: true } },
  ],
  [
    { retry_policy: 5 },
    422,
    'invalid_retry_policy',
    'retry_policy',
    'retry_policy must be an object such as {"max_attempts": 8, "base": "5s"}, not the number 5.',
    { retry_policy: { max_attempts: 8, base: '5s' } },
  ],
  [
    { rate_limit: 5 },
    422,
    'invalid_rate_limit',
    'rate_limit',
    'rate_limit must be an object such as {"per_second": 5}, not the number 5.',
    { rate_limit: { per_second: 5 } },
  ],
  [
    { rate_limit: {} },
    422,
    'invalid_rate_limit',
    'rate_limit',
    'rate_limit.per_second is missing. Give rate_limit as {"per_second": 5}.',
    { rate_limit: { per_second: 5 } },
  ],
];

/** Rows of endpoint profiles. */
const PROFILES: readonly Row[] = [
  [
    { url: undefined },
    422,
    'missing_url',
    'url',
    'An endpoint profile needs a url, such as "https://example.com/hook".',
    { url: 'https://example.com/hook' },
  ],
  [
    { url: undefined, endpoint: URL },
    422,
    'missing_url',
    'url',
    'An endpoint profile needs a url. It has its URL in url, not in endpoint.',
    { url: URL },
  ],
  [
    { timeout: 30 },
    422,
    'invalid_timeout',
    'timeout',
    'timeout must be a string with a unit, not the number 30. Write "30s".',
    { timeout: '30s' },
  ],
  [
    { timeout: '2h' },
    422,
    'invalid_timeout',
    'timeout',
    'timeout "2h" is out of bounds: it must be above 0 and at most 1h, such as "10s".',
    { timeout: '10s' },
  ],
  [
    { retry_budget: { rate: -1, burst: 10 } },
    422,
    'invalid_retry_budget',
    'retry_budget',
    'retry_budget.rate must be a number of at least 0, such as 10, not -1.',
    { retry_budget: { rate: 10, burst: 10 } },
  ],
  [
    { rate_limit: { per_second: '5' } },
    422,
    'invalid_rate_limit',
    'rate_limit',
    'rate_limit.per_second must be a number of at least 0, such as 5, not the string "5". Write 5 without quotes.',
    { rate_limit: { per_second: 5 } },
  ],
  [
    { breaker_policy: { threshold: 5 } },
    422,
    'invalid_breaker_policy',
    'breaker_policy',
    'breaker_policy.base_open is missing. Give breaker_policy as {"threshold": 5, "base_open": "30s", "max_open": "1h", "probe_timeout": "30s"}.',
    { breaker_policy: { threshold: 5, base_open: '30s', max_open: '1h', probe_timeout: '30s' } },
  ],
  [
    { breaker_policy: { threshold: 0, base_open: '30s', max_open: '1h', probe_timeout: '30s' } },
    422,
    'invalid_breaker_policy',
    'breaker_policy',
    'breaker_policy.threshold must be a whole number from 1 to 1000, such as 5, not 0.',
  ],
];

function named(rows: readonly Row[]): readonly (readonly [string, Row])[] {
  return rows.map((row) => [JSON.stringify(row[0]).slice(0, 80), row]);
}

async function expectRow(path: string, body: object, row: Row): Promise<void> {
  const [fields, status, code, param, message, corrected] = row;
  const answer = await api.post(path, { ...body, ...fields });
  expectError(answer, status, code, param);
  expect(messageOf(answer)).toBe(message);
  if (corrected !== undefined) expectStatus(await api.post(path, { ...body, ...fields, ...corrected }), 201);
}

describe('POST /v1/schedules', () => {
  it.each(named([...TIMES, ...DESTINATIONS, ...CONTENTS, ...POLICIES]))('%s', async (_name, row) => {
    await expectRow('/v1/schedules', ONE_SHOT, row);
  });
});

describe('POST /v1/endpoints', () => {
  it.each(named(PROFILES))('%s', async (_name, row) => {
    await expectRow('/v1/endpoints', PROFILE, row);
  });
});

/** Requests whose fault is not a field of a body. */
const REQUESTS: readonly (readonly [
  method: string,
  path: string,
  sending: Sending,
  status: number,
  code: string,
  param: string | null,
  message: string,
])[] = [
  [
    'POST',
    '/v1/schedules',
    { raw: `{"body": "${planted('raw')}",}` },
    400,
    'invalid_json',
    null,
    'The request body is not valid JSON at line 1, column 24: the last comma is one too many.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: `{\n  'delay': "5m"\n}` },
    400,
    'invalid_json',
    null,
    'The request body is not valid JSON at line 2, column 3: strings need double quotes.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: 'endpoint=https://example.com' },
    400,
    'invalid_json',
    null,
    'The request body is not valid JSON at line 1, column 1: it must begin with {, such as {"delay": "5m"}.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: '{"delay": "5m"' },
    400,
    'invalid_json',
    null,
    'The request body is not valid JSON at line 1, column 15: it ends too early.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: '[]' },
    400,
    'invalid_json',
    null,
    'The request body must be a JSON object such as {"delay": "5m"}, not an array.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: '' },
    400,
    'invalid_json',
    null,
    'The request body is empty. Send a JSON object such as {"delay": "5m"}.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: Buffer.from([0x7b, 0xff, 0x7d]) },
    400,
    'invalid_json',
    null,
    'The request body is not valid UTF-8. Send JSON as UTF-8.',
  ],
  [
    'POST',
    '/v1/schedules',
    { raw: JSON.stringify(ONE_SHOT), headers: { 'idempotency-key': 'k'.repeat(256) } },
    400,
    'idempotency_key_too_long',
    null,
    'Idempotency-Key has 256 characters. At most 255 are allowed: use a UUID.',
  ],
  [
    'GET',
    '/v1/schedules',
    { headers: { 'sched-version': 'v1' } },
    400,
    'invalid_version',
    'Sched-Version',
    'Sched-Version is not a date. Write it as YYYY-MM-DD, such as 2026-11-15, or leave the header out.',
  ],
  [
    'GET',
    '/v1/deliveries?status=failed',
    {},
    400,
    'invalid_request',
    'status',
    'status must be scheduled, claimed, retry_scheduled, succeeded, dead_letter, expired, paused or canceled, not "failed".',
  ],
  [
    'GET',
    '/v1/schedules?state=cancelled',
    {},
    400,
    'invalid_request',
    'state',
    'state must be active, paused, canceled or completed, not "cancelled". Did you mean canceled?',
  ],
  [
    'GET',
    '/v1/deliveries?created_after=2026-11-01',
    {},
    400,
    'invalid_request',
    'created_after',
    'created_after "2026-11-01" has no time. Write "2026-11-01T00:00:00Z" for UTC, or end with an offset such as +02:00.',
  ],
  [
    'GET',
    '/v1/endpoints?include_archived=yes',
    {},
    400,
    'invalid_request',
    'include_archived',
    'include_archived must be true or false, not "yes".',
  ],
  [
    'GET',
    '/v1/schedules?cursor=2',
    {},
    400,
    'invalid_cursor',
    'cursor',
    'This cursor does not belong to the list "schedules" of this API key. Use next_cursor of a page of this list, unchanged, or leave cursor out for the first page.',
  ],
  [
    'GET',
    `/v1/schedules/${UNKNOWN.schedule}`,
    {},
    404,
    'not_found',
    null,
    'No schedule has this id in this project and mode. A test key sees no live data, and a live key no test data.',
  ],
  [
    'GET',
    `/v1/schedules/${UNKNOWN.delivery}`,
    {},
    404,
    'not_found',
    null,
    `The id "${UNKNOWN.delivery}" names another kind of object (delivery). The id of every schedule begins with sch_.`,
  ],
  [
    'GET',
    '/v1/schedules/undefined',
    {},
    404,
    'not_found',
    null,
    'The id is "undefined": no id was filled in. Copy the id of the schedule.',
  ],
  [
    'GET',
    '/v1/deliveries/dlv_123',
    {},
    404,
    'not_found',
    null,
    'The id is incomplete or changed: the id of every delivery is dlv_ and 26 lower-case letters and digits. Copy it unchanged.',
  ],
  [
    'DELETE',
    `/v1/schedules/${UNKNOWN.schedule}`,
    {},
    404,
    'not_found',
    null,
    'There is no "DELETE /v1/schedules/{id}". To end a schedule, use POST /v1/schedules/{id}/cancel.',
  ],
  [
    'PUT',
    `/v1/schedules/${UNKNOWN.schedule}`,
    { raw: '{}' },
    404,
    'not_found',
    null,
    'There is no "PUT /v1/schedules/{id}". To change a schedule, use PATCH /v1/schedules/{id}. To change its time, use POST /v1/schedules/{id}/reschedule.',
  ],
  [
    'DELETE',
    `/v1/endpoints/${UNKNOWN.endpoint}`,
    {},
    404,
    'not_found',
    null,
    'There is no "DELETE /v1/endpoints/{id}". To retire an endpoint profile, use POST /v1/endpoints/{id}/archive.',
  ],
  [
    'GET',
    `/v1/schedules/${UNKNOWN.schedule}/pause`,
    {},
    404,
    'not_found',
    null,
    'There is no "GET /v1/schedules/{id}/pause". This path has POST.',
  ],
  [
    'POST',
    '/v1/schedule',
    { raw: '{}' },
    404,
    'not_found',
    null,
    'There is no "POST /v1/schedule". Did you mean /v1/schedules?',
  ],
  [
    'POST',
    '/v1/schedules/',
    { raw: '{}' },
    404,
    'not_found',
    null,
    'There is no "POST /v1/schedules/". Leave out the slash at the end.',
  ],
  [
    'POST',
    '/schedules?key=secret',
    { raw: '{}' },
    404,
    'not_found',
    null,
    'There is no "POST /schedules". Did you mean /v1/schedules?',
  ],
  ['GET', '/v1/jobs', {}, 404, 'not_found', null, 'There is no "GET /v1/jobs". GET /docs lists all paths.'],
  [
    'GET',
    '/v1/schedules/%zz',
    {},
    404,
    'not_found',
    null,
    'The path has a % that is not followed by two hexadecimal digits. Write %25 for it.',
  ],
];

it.each(REQUESTS.map((row) => [`${row[0]} ${row[1]} ${row[6].slice(0, 60)}`, row] as const))(
  '%s',
  async (_name, [method, path, sending, status, code, param, message]) => {
    const answer = await api.send(method, path, sending);
    expectError(answer, status, code, param);
    expect(messageOf(answer)).toBe(message);
  },
);

const SEND = 'Send the header "Authorization: Bearer <key>".';
const BEGINS = 'begins with sk_test_ or sk_live_.';

it.each([
  [undefined, 'missing_api_key', `No API key was given. ${SEND}`],
  ['Bearer ', 'missing_api_key', `The Authorization header has no key after Bearer. ${SEND}`],
  [
    'sk_test_e2eE2EcafeCAFE0123456789',
    'missing_api_key',
    `The Authorization header has no scheme before the key. ${SEND}`,
  ],
  [
    'Basic dXNlcjpwYXNz',
    'missing_api_key',
    `The Authorization header has another scheme than Bearer. ${SEND}`,
  ],
  ['Bearer whsec_abc', 'invalid_api_key', `This is a signing secret, not an API key. An API key ${BEGINS}`],
  ['Bearer sk_test_abc', 'invalid_api_key', 'This API key is incomplete. Copy the whole key.'],
  [
    'Bearer $SCHED_API_KEY',
    'invalid_api_key',
    `The API key begins with a quote or a placeholder. Send the key itself: it ${BEGINS}`,
  ],
  ['Bearer eyJhbGciOi', 'invalid_api_key', `This is not an API key of this service. A key ${BEGINS}`],
  [
    `Bearer sk_test_${'x'.repeat(32)}`,
    'invalid_api_key',
    'This API key is unknown or revoked. "sched key create" creates a new one.',
  ],
])('Authorization: %s', async (authorization, code, message) => {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await anonymous.send('GET', '/v1/schedules', { headers });
  expectError(answer, 401, code);
  expect(messageOf(answer)).toBe(message);
});

describe('the state of the object', () => {
  it('an ended schedule says how it ended', async () => {
    const { id } = await created(api, ONE_SHOT);
    await ordered(api, id, 'cancel');
    const answer = await api.post(`/v1/schedules/${id}/reschedule`, { delay: '5m' });
    expectError(answer, 409, 'schedule_not_active');
    expect(messageOf(answer)).toBe(
      'This schedule is canceled, so it cannot be rescheduled. Create a new schedule.',
    );
  });

  it('a delivery that cannot be replayed says its status', async () => {
    const { id } = await created(api, ONE_SHOT);
    const list = await api.get<List<Delivery>>(`/v1/schedules/${id}/deliveries`);
    const path = `/v1/deliveries/${list.json.data[0]?.id}/replay`;
    const scheduled = await api.post(path);
    expectError(scheduled, 409, 'not_replayable');
    expect(messageOf(scheduled)).toBe(
      'This delivery is scheduled: it has not ended. Only a delivery that is succeeded, dead_letter or expired can be replayed. Wait until it ends.',
    );
    await ordered(api, id, 'cancel');
    expect(messageOf(await api.post(path))).toBe(
      'This delivery is canceled: it was never to be sent again. Only a delivery that is succeeded, dead_letter or expired can be replayed. Create a new schedule.',
    );
  });

  it('a profile in use, and an archived one, say what to do', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const schedule = await created(api, { endpoint_id: id, delay: '1h' });
    const used = await api.post(`/v1/endpoints/${id}/archive`);
    expectError(used, 409, 'profile_in_use');
    expect(messageOf(used)).toBe(
      'An active or paused schedule still uses this endpoint profile. Cancel those schedules first, then archive the profile.',
    );
    const url = await api.patch(`/v1/schedules/${schedule.id}`, { endpoint: URL });
    expectError(url, 400, 'multiple_endpoint', 'endpoint');
    expect(messageOf(url)).toBe(
      'This schedule sends to an endpoint profile, so it has no endpoint of its own. Change url of the profile.',
    );
    const method = await api.patch(`/v1/schedules/${schedule.id}`, { method: 'PUT' });
    expectError(method, 400, 'method_on_profile', 'method');
    expect(messageOf(method)).toBe(
      'method was given, but the method comes from the endpoint profile. Leave it out, or change the profile.',
    );
    await ordered(api, schedule.id, 'cancel');
    expectStatus(await api.post(`/v1/endpoints/${id}/archive`), 200);
    const archived = await api.post('/v1/schedules', { endpoint_id: id, delay: '1h' });
    expectError(archived, 422, 'endpoint_archived', 'endpoint_id');
    expect(messageOf(archived)).toBe(
      `The endpoint profile "${id}" is archived, so no new schedule can use it. Use another profile, or create one.`,
    );
  });

  it('a key that was used for another request says so', async () => {
    const keyed = api.with({ 'idempotency-key': planted('key') });
    expectStatus(await keyed.post('/v1/schedules', ONE_SHOT), 201);
    const answer = await keyed.post('/v1/schedules', { ...ONE_SHOT, delay: '2h' });
    expectError(answer, 409, 'idempotency_key_reuse');
    expect(messageOf(answer)).toBe(
      'This Idempotency-Key was used for a different request in the last 24 hours: another method, path or body. Use a new key for each request, and the same key only to repeat one unchanged.',
    );
  });
});

it('a request that is too large says the limit', async () => {
  const answer = await api.send('POST', '/v1/schedules', { raw: `{"body":"${'x'.repeat(1_048_576)}"}` });
  expectError(answer, 413, 'payload_too_large');
  expect(messageOf(answer)).toBe(
    'The request body has more than 1,048,576 bytes. Send a reference to large data instead.',
  );
});
