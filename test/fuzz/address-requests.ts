/** Hostile paths, queries and headers. None of them may change anything. */

import {
  answeredWith,
  buildRequest,
  type Expected,
  type FuzzRequest,
  type Headers,
  type RequestContext,
  refusedAs,
} from './fuzz-request.ts';
import { anyObject, hostileWord } from './json-text.ts';
import type { Prng } from './prng.ts';

const PATHS: readonly string[] = [
  '/',
  '//',
  '/v1',
  '/v1/',
  '/v1//schedules',
  '//v1/schedules',
  '/V1/schedules',
  '/v1/schedules/',
  '/v1/%73chedules',
  '/v1/schedules%2F',
  '/v1/schedules/%2e%2e/endpoints',
  '/v1/../v1/schedules',
  '/v1/schedules/%00',
  '/v1/schedules/%zz',
  '/v1/schedules/%',
  '/v1/schedules/%ff%fe',
  '/v1/schedules/%25zz',
  '/v1/schedules/%E0%A4%A',
  '/v1/schedules/sch_',
  '/v1/schedules/sch_00000000000000000000000000',
  '/v1/schedules/sch_00000000000000000000000000/pause',
  '/v1/schedules/ep_00000000000000000000000000',
  '/v1/schedules/__proto__',
  '/v1/schedules/constructor/deliveries',
  `/v1/schedules/${'x'.repeat(129)}`,
  `/v1/schedules/${'x'.repeat(8_000)}`,
  `/v1/${'a/'.repeat(3_000)}`,
  '/v1/schedules;a=b',
  '/v1/schedules#fragment',
  '/v1/deliveries/dlv_00000000000000000000000000/attempts',
  '/v1/deliveries/dlv_00000000000000000000000000/replay',
  '/v1/endpoints/ep_00000000000000000000000000/archive',
  '/v1/unknown',
  '/healthz/x',
  '/docs/../../etc/passwd',
  '/docs/%2e%2e/%2e%2e/package.json',
  '*',
  'http://127.0.0.1/v1/unknown',
  'http://fuzz.invalid/v1/schedules/x',
  '/v1/schedules/\u00ff',
];
const METHODS = [
  'GET',
  'POST',
  'PATCH',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
  'QUERY',
  'M-SEARCH',
];

/**
 * The bodies here are refused by every route, so a path that happens to be a route must not create anything.
 */
export function strangePath(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const method = prng.pick(METHODS);
  const hasBody = method !== 'GET' && method !== 'HEAD' && prng.chance(0.5);
  const path = prng.chance(0.8) ? prng.pick(PATHS) : `/v1/schedules/${encodedJunk(prng)}`;
  const request = { method, path, body: hasBody ? Buffer.from('{"endpoint":7}') : null };
  // A byte above ASCII makes the request line invalid. The connection is closed after the answer to invalid
  // HTTP.
  return buildRequest(context, request, { kind: 'strange path', operation: null });
}

function encodedJunk(prng: Prng): string {
  return [...prng.bytes(prng.int(40))].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

const LISTS = [
  ['/v1/schedules', 'listSchedules'],
  ['/v1/endpoints', 'listEndpoints'],
  ['/v1/deliveries', 'listDeliveries'],
  ['/v1/attempts', 'listRecentAttempts'],
] as const;
const NAMES = [
  'cursor',
  'limit',
  'state',
  'kind',
  'status',
  'schedule_id',
  'endpoint_id',
  'replay_of',
  'outcome',
  'name',
  'q',
  'created_after',
  'created_before',
  'include_archived',
  'metadata',
  'metadata[]',
  'metadata[][]',
  'metadata[a',
  'metadata]a[',
  'metadata[a][b]',
  'metadata[__proto__]',
  'metadata[constructor]',
  '__proto__',
  'constructor',
  '__proto__[limit]',
  '',
];
const VALUES = [
  '',
  '0',
  '-1',
  '1e999',
  'NaN',
  'true',
  'active',
  'Active',
  'null',
  '%00',
  '%zz',
  '%ff',
  '%F0%9F%9A%80',
  '+',
  '2026-11-15T08:00:00+01:00',
  '9999-12-31T23:59:59-23:59',
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '2026-02-30T00:00:00Z',
  'sch_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  'ep_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  'dlv_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  'retryable',
  '%5C%25_',
  'eyJhIjoxfQ==',
  'AAAAAAAAc2NoXzdzenp6enp6enp6enp6enp6enp6enp6enp6',
  'A'.repeat(127),
  'A'.repeat(129),
  'A'.repeat(6_000),
  '[object Object]',
  '"',
  '=',
];

export function strangeQuery(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const [path, operation] = prng.pick(LISTS);
  const count = prng.chance(0.05) ? prng.between(50, 400) : prng.int(5);
  const pairs = Array.from({ length: count }, () => `${prng.pick(NAMES)}=${prng.pick(VALUES)}`).map((pair) =>
    pair.replaceAll(' ', '%20'),
  );
  const query = pairs.join(prng.pick(['&', '&&', '&', ';'])).slice(0, 12_000);
  return buildRequest(
    context,
    { method: 'GET', path: `${path}?${query}`, body: null },
    { kind: 'strange query', operation },
  );
}

const PLAIN_CREATE = Buffer.from('{"endpoint":"https://fuzz.invalid/","delay":"24h"}');

/**
 * Invalid credentials, keys and versions. Where the request would be valid without them, the error code is
 * known.
 */
export function strangeHeaders(context: RequestContext): FuzzRequest {
  const { prng, key } = context;
  const odd = () =>
    prng.pick(['\u0080\u00ff', ' ', 'a'.repeat(4_000), '{}', ',,', '\t', hostileLatin1(prng)]);
  const create = (headers: Headers, expected: Expected | null, authorization?: string | null): FuzzRequest =>
    buildRequest(
      context,
      {
        method: 'POST',
        path: '/v1/schedules',
        headers,
        body: PLAIN_CREATE,
        ...(authorization !== undefined && { authorization }),
      },
      { kind: 'strange header', operation: 'createSchedule', expected },
    );
  return prng.weighted<() => FuzzRequest>([
    [1, () => create([], refusedAs('missing_api_key', null), null)],
    [
      1,
      () =>
        create(
          [],
          refusedAs('missing_api_key', null),
          prng.pick(['', 'Bearer', 'Bearer ', `Basic ${key}`, key, `Bearer${key}`, `\u00a0Bearer ${key}`]),
        ),
    ],
    [2, () => create([], refusedAs('invalid_api_key', null), `Bearer x${key}${odd()}y`)],
    [1, () => create([], refusedAs('invalid_api_key', null), `Bearer ${key} ${key}`)],
    [1, () => create([], refusedAs('invalid_api_key', null), `Bearer ${key.toUpperCase()}`)],
    [
      1,
      () =>
        create(
          [['Idempotency-Key', 'k'.repeat(prng.between(256, 9_000))]],
          refusedAs('idempotency_key_too_long', null),
        ),
    ],
    [
      2,
      () =>
        create(
          [
            [
              'Sched-Version',
              prng.pick([
                '2026-02-30',
                '2026-1-1',
                'latest',
                `${odd()}v`,
                '0000-00-00',
                '2026-11-15x',
                '2026-11-15, 2026-11-15',
              ]),
            ],
          ],
          refusedAs('invalid_version', 'Sched-Version'),
        ),
    ],
    [1, () => ({ ...create([['Sched-Version', '0001-01-01']], answeredWith(201)) })],
    [
      1,
      () =>
        create(
          Array.from(
            { length: prng.between(10, 200) },
            (_, i) => [`X-Junk-${i}`, odd().slice(0, 40)] as const,
          ),
          answeredWith(201),
        ),
    ],
    [
      2,
      () =>
        create(
          [
            [
              'Content-Type',
              prng.pick([
                'text/plain',
                'application/json; charset=utf-16',
                ';;;',
                'multipart/form-data',
                '\u00ff',
                'application/x-www-form-urlencoded',
                'a/b/c',
                '',
              ]),
            ],
          ],
          answeredWith(201),
        ),
    ],
    [
      1,
      () =>
        create(
          [
            ['X-Forwarded-For', odd()],
            ['Sched-Request-Id', 'req_mine'],
            ['X-Request-Id', 'req_mine'],
            ['Cookie', odd()],
          ],
          answeredWith(201),
        ),
    ],
    [1, () => ({ ...create([['Content-Encoding', 'gzip']], answeredWith(201)) })],
    [
      1,
      () =>
        buildRequest(
          context,
          { method: 'GET', path: '/v1/schedules?limit=1', body: Buffer.from(anyObject(prng, 2)) },
          { kind: 'strange header', operation: 'listSchedules', expected: answeredWith(200) },
        ),
    ],
  ])();
}

function hostileLatin1(prng: Prng): string {
  return hostileWord(prng).replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '\u00bf');
}
