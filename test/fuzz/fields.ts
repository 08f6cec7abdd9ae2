/** The fields of every body: valid values, and the error code for each wrong type. */
import type { ErrorCode } from '#src/domain/errors.ts';
import {
  anyObject,
  anyValue,
  hostileName,
  hostileWord,
  type Json,
  type Members,
  notObject,
  notString,
  notStringMap,
  object,
  text,
} from './json-text.ts';
import type { Prng } from './prng.ts';

const HOUR_MS = 3_600_000;

/** Names that do not resolve, because no request of the fuzzer may leave the machine. */
const URLS: readonly string[] = [
  'https://fuzz.invalid/hook',
  'https://fuzz.invalid:8443/a/b?c=d#e',
  'https://127.0.0.1/private',
  'https://[::1]/private',
  'https://\u00fcml\u00e4ut.invalid/\u00e9',
  'HTTPS://FUZZ.INVALID/%00%ff',
  'https://fuzz.invalid/\u{1f680}',
  `https://fuzz.invalid/${'p'.repeat(2_000)}`,
];
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'america/new_york',
  'Asia/Kolkata',
];
const CRONS = [
  '0 9 * * MON-FRI',
  '0 0 1 1 *',
  '*/15 * * * *',
  '30 2 29 2 *',
  '5/15 1-5 1,15 */2 0-7',
  '59 23 31 12 *',
];
const DURATIONS = [
  '30s',
  '1h30m',
  '24h',
  '1.5h',
  '300ms',
  '2us',
  '+5m',
  '0',
  '1h2m3s4ms',
  '2562047h47m16.854775807s',
];
const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

export function url(prng: Prng): string {
  return prng.pick(URLS);
}

function wellFormed(word: string): string {
  return word.toWellFormed().replaceAll('\0', '.');
}

function metadata(prng: Prng): Json {
  const count = prng.chance(0.02) ? 50 : prng.int(4);
  const names = new Set(
    Array.from({ length: count }, (_, i) => `${wellFormed(hostileName(prng))}${prng.chance(0.5) ? i : ''}`),
  );
  const values = () => (prng.chance(0.01) ? 'v'.repeat(20_000) : wellFormed(hostileWord(prng)));
  return object([...names].map((name) => [name, text(values())] as const));
}

function headers(prng: Prng, secret: string): Json {
  const names = new Set(Array.from({ length: prng.int(4) }, () => hostileName(prng).slice(0, 200)));
  return object([...names].map((name) => [name, text(`${secret}${hostileWord(prng)}`)] as const));
}

function retryPolicy(prng: Prng): Json {
  const all: Members = [
    ['max_attempts', prng.pick(['1', '50', '8.0', 'null'])],
    ['strategy', '"exponential"'],
    ['base', prng.pick(['"0"', '"24h"', '"5s"', 'null'])],
    ['factor', prng.pick(['1', '100', '1.000001'])],
    ['max', prng.pick(['"0s"', '"168h"', '"1h"'])],
    ['jitter', prng.pick(['true', 'false', 'null'])],
    [hostileName(prng), anyValue(prng, 1)],
  ];
  return object(
    prng.some(all, 0.5).filter(([name], i, some) => some.findIndex(([other]) => other === name) === i),
  );
}

function rateLimit(prng: Prng): Json {
  return `{"per_second":${prng.pick(['0', '-0', '1e308', '5e-324', '10', '0.5'])}}`;
}

/** One of the four timing fields, an hour or more ahead where possible. */
export function timing(prng: Prng): Members {
  const ahead = new Date(Date.now() + HOUR_MS * prng.between(30, 50_000)).toISOString();
  return prng.weighted<Members>([
    [4, [['delay', text(prng.pick(['1h', '24h', '87000h', '+90m', '1h0m0.000000001s']))]]],
    [
      2,
      [['fire_at', text(prng.pick([ahead, ahead.replace('Z', '+00:00'), ahead.replace('.', '.123456789')]))]],
    ],
    [
      1,
      [
        ['local_fire_at', text(ahead.slice(0, 19))],
        ['timezone', text(prng.pick(ZONES))],
      ],
    ],
    [
      2,
      [
        ['cron', text(prng.pick(CRONS))],
        ['timezone', prng.chance(0.2) ? 'null' : text(prng.pick(ZONES))],
      ],
    ],
  ]);
}

/** A valid body. Without `endpointId` it has an inline endpoint. */
export function scheduleCreate(prng: Prng, secret: string, endpointId: string | null): Members {
  const isProfileBacked = endpointId !== null && prng.chance(0.3);
  const optional: Members = [
    ['headers', headers(prng, secret)],
    ['body', text(`${secret}${wellFormed(hostileWord(prng))}`)],
    ['ttl', text(prng.pick([...DURATIONS, '-5m']))],
    ['idempotency_key', text(prng.pick(['a', 'k y', '~'.repeat(255), '__proto__']))],
    ['retry_policy', retryPolicy(prng)],
    ['rate_limit', rateLimit(prng)],
    ['jitter', text(prng.pick(DURATIONS))],
    ['metadata', metadata(prng)],
    [prng.pick(['__proto__', 'constructor', 'unknown', 'toJSON', 'then']), anyValue(prng, 2)],
  ];
  return [
    ...(isProfileBacked
      ? ([['endpoint_id', text(endpointId)]] as const)
      : ([
          ['endpoint', text(url(prng))],
          ['method', prng.chance(0.5) ? 'null' : text(prng.pick(METHODS))],
        ] as const)),
    ...timing(prng),
    ...prng.some(optional, 0.3),
  ];
}

export function scheduleUpdate(prng: Prng, isInline: boolean): Members {
  const all: Members = [
    ...(isInline
      ? ([
          ['endpoint', text(url(prng))],
          ['method', text(prng.pick(METHODS))],
        ] as const)
      : []),
    ['ttl', prng.chance(0.2) ? 'null' : text(prng.pick(DURATIONS))],
    ['retry_policy', prng.chance(0.2) ? 'null' : retryPolicy(prng)],
    ['metadata', prng.chance(0.2) ? 'null' : metadata(prng)],
    ['delay', '5'],
    ['__proto__', anyObject(prng, 1)],
  ];
  return prng.some(all, 0.4);
}

export function endpointWrite(prng: Prng, secret: string, isCreate: boolean): Members {
  const optional: Members = [
    ['method', text(prng.pick(METHODS))],
    ['headers', headers(prng, secret)],
    ['timeout', prng.pick(['"1h"', '"1ns"', '"30s"', 'null'])],
    ['retry_policy', prng.chance(0.2) ? 'null' : retryPolicy(prng)],
    ['retry_budget', prng.pick(['{"rate":0,"burst":0}', '{"rate":1e308,"burst":5e-324}', 'null'])],
    ['rate_limit', prng.chance(0.2) ? 'null' : rateLimit(prng)],
    [
      'breaker_policy',
      prng.pick(['{"threshold":1000,"base_open":"24h","max_open":"1ns","probe_timeout":"1s"}', 'null']),
    ],
    ['standard_webhooks', prng.pick(['true', 'false', 'null'])],
    ['metadata', metadata(prng)],
    ['__proto__', anyObject(prng, 1)],
  ];
  return [
    ...(isCreate || prng.chance(0.3) ? ([['url', text(url(prng))]] as const) : []),
    ...prng.some(optional, 0.3),
  ];
}

type Wrong = (prng: Prng) => Json;

/** The error code of each field, with values of a wrong type. */
export const WRONG_TYPES: Readonly<Record<string, readonly [code: ErrorCode, wrong: Wrong]>> = {
  endpoint: ['url_blocked', notString],
  url: ['url_blocked', notString],
  endpoint_id: ['invalid_endpoint', notString],
  method: ['invalid_method', (prng) => (prng.chance(0.5) ? notString(prng) : text(`x${hostileWord(prng)}`))],
  headers: ['invalid_request', notStringMap],
  body: ['invalid_request', (prng) => (prng.chance(0.2) ? text('a\ud800') : notString(prng))],
  delay: ['invalid_duration', notString],
  fire_at: ['invalid_fire_at', notString],
  local_fire_at: ['invalid_duration', notString],
  cron: ['invalid_cron', notString],
  timezone: ['invalid_cron', notString],
  ttl: ['invalid_duration', (prng) => (prng.chance(0.5) ? notString(prng) : text(`${hostileWord(prng)}x`))],
  idempotency_key: ['invalid_request', (prng) => (prng.chance(0.3) ? text('a\u0000') : notString(prng))],
  jitter: ['invalid_duration', notString],
  retry_policy: ['invalid_retry_policy', notObject],
  timeout: ['invalid_timeout', notString],
  retry_budget: [
    'invalid_retry_budget',
    (prng) => (prng.chance(0.3) ? '{"rate":1e999,"burst":1}' : notObject(prng)),
  ],
  rate_limit: [
    'invalid_rate_limit',
    (prng) => (prng.chance(0.3) ? '{"per_second":-1e308}' : notObject(prng)),
  ],
  breaker_policy: [
    'invalid_breaker_policy',
    (prng) => (prng.chance(0.3) ? '{"threshold":5}' : notObject(prng)),
  ],
  standard_webhooks: ['invalid_request', (prng) => prng.pick(['0', '1', '"true"', '[]', '{}'])],
  metadata: ['invalid_request', (prng) => (prng.chance(0.2) ? '{"a":"\\u0000"}' : notStringMap(prng))],
};

export const SCHEDULE_FIELDS = [
  'endpoint',
  'endpoint_id',
  'method',
  'headers',
  'body',
  'delay',
  'fire_at',
  'local_fire_at',
  'cron',
  'timezone',
  'ttl',
  'idempotency_key',
  'retry_policy',
  'rate_limit',
  'jitter',
  'metadata',
] as const;
export const UPDATE_FIELDS = ['endpoint', 'method', 'ttl', 'retry_policy', 'metadata'] as const;
export const TIMING_FIELDS = ['delay', 'fire_at', 'local_fire_at', 'cron'] as const;
export const ENDPOINT_FIELDS = [
  'url',
  'method',
  'headers',
  'timeout',
  'retry_policy',
  'retry_budget',
  'rate_limit',
  'breaker_policy',
  'standard_webhooks',
  'metadata',
] as const;

/** Values of the right type that are only just invalid, with their fields and error codes. */
export const NEAR_MISSES: readonly (readonly [field: string, value: Json, code: ErrorCode])[] = [
  ['delay', '"0.999999999s"', 'sub_floor_delay'],
  ['delay', '"-1h"', 'sub_floor_delay'],
  ['delay', '"1d"', 'invalid_duration'],
  ['delay', '"5"', 'invalid_duration'],
  ['delay', '"1h "', 'invalid_duration'],
  ['delay', '"87700h"', 'fire_at_too_far'],
  ['delay', '"2562047h47m16.854775808s"', 'invalid_duration'],
  ['fire_at', '"2020-01-01T00:00:00Z"', 'fire_at_in_past'],
  ['fire_at', '"9999-12-31T23:59:59-23:59"', 'fire_at_too_far'],
  ['fire_at', '"0000-01-01T00:00:00+23:59"', 'fire_at_in_past'],
  ['fire_at', '"2030-02-30T00:00:00Z"', 'invalid_fire_at'],
  ['fire_at', '"2030-01-01 00:00:00Z"', 'invalid_fire_at'],
  ['fire_at', '"2030-01-01T00:00:00"', 'invalid_fire_at'],
  ['local_fire_at', '"2030-01-01T00:00"', 'invalid_duration'],
  ['local_fire_at', '"0000-01-01T00:00:00"', 'fire_at_in_past'],
  ['local_fire_at', '"9999-12-31T23:59:59"', 'fire_at_too_far'],
  ['cron', '"* * * * * *"', 'invalid_cron'],
  ['cron', '"@daily"', 'invalid_cron'],
  ['cron', '"0 0 30 2 *"', 'invalid_cron'],
  ['cron', '"60 * * * *"', 'invalid_cron'],
  ['cron', '"*/0 * * * *"', 'invalid_cron'],
  ['cron', `"${'*,'.repeat(2_000)}* * * * *"`, 'invalid_cron'],
  ['timezone', '"+05:30"', 'invalid_cron'],
  ['timezone', '"Europe/Nowhere"', 'invalid_cron'],
  ['timezone', '"__proto__"', 'invalid_cron'],
  ['timezone', '"UTC\\u0000"', 'invalid_cron'],
  ['endpoint', '"http://fuzz.invalid/"', 'url_blocked'],
  ['endpoint', '"https://user:password@fuzz.invalid/"', 'url_blocked'],
  ['endpoint', '"javascript:alert(1)"', 'url_blocked'],
  ['endpoint', '"https://fuzz.invalid/\\u0000"', 'url_blocked'],
  ['endpoint', '"https://fuzz.invalid/\\ud800"', 'url_blocked'],
  ['endpoint', `"https://fuzz.invalid/${'p'.repeat(8_192)}"`, 'url_blocked'],
  ['endpoint_id', '"ep_"', 'invalid_endpoint'],
  ['endpoint_id', '"__proto__"', 'invalid_endpoint'],
  ['endpoint_id', '"ep_0\\u0000\\ud800"', 'invalid_endpoint'],
  ['method', '"post"', 'invalid_method'],
  ['ttl', '"1h1"', 'invalid_duration'],
  ['jitter', '"-1ns"', 'invalid_duration'],
  ['idempotency_key', `"${'k'.repeat(256)}"`, 'invalid_request'],
  ['idempotency_key', '"\\u00e9"', 'invalid_request'],
  ['retry_policy', '{"max_attempts":0}', 'invalid_retry_policy'],
  ['retry_policy', '{"max_attempts":51}', 'invalid_retry_policy'],
  ['retry_policy', '{"max_attempts":1e999}', 'invalid_retry_policy'],
  ['retry_policy', '{"max_attempts":"8"}', 'invalid_retry_policy'],
  ['retry_policy', '{"factor":0.999999}', 'invalid_retry_policy'],
  ['retry_policy', '{"base":"24h0m0.000000001s"}', 'invalid_retry_policy'],
  ['retry_policy', '{"strategy":"linear"}', 'invalid_retry_policy'],
  ['rate_limit', '{"per_second":1e999}', 'invalid_rate_limit'],
  ['rate_limit', '{}', 'invalid_rate_limit'],
  ['metadata', `{${Array.from({ length: 51 }, (_, i) => `"k${i}":""`).join(',')}}`, 'too_many_labels'],
  ['metadata', '{"\\ud800":"a"}', 'invalid_request'],
  ['headers', `{"a":"${'v'.repeat(16_384)}"}`, 'payload_too_large'],
  ['body', `"${'b'.repeat(262_145)}"`, 'payload_too_large'],
  ['body', '"\\udc00"', 'invalid_request'],
];
