/** Well-framed HTTP requests with a hostile body, query, path or headers. */
import type { OperationId } from '#src/api/contract/operations.ts';
import {
  ENDPOINT_FIELDS,
  endpointWrite,
  NEAR_MISSES,
  SCHEDULE_FIELDS,
  scheduleCreate,
  TIMING_FIELDS,
  timing,
  UPDATE_FIELDS,
  url,
  WRONG_TYPES,
} from './fields.ts';
import { buildRequest, type FuzzRequest, type RequestContext, refusedAs, secretOf } from './fuzz-request.ts';
import {
  anyObject,
  anyValue,
  hostileName,
  hugeValue,
  type Json,
  type Members,
  object,
  PROTOTYPE_NAMES,
  text,
} from './json-text.ts';
import type { Prng } from './prng.ts';

interface BodyTarget {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationId;
  readonly target: string | null;
}

/** An operation with a body, on one of the client's own objects where it needs one. */
function pickBodyTarget({ prng, client }: RequestContext): BodyTarget {
  const schedule = client.schedules.at(-1 - prng.int(20))?.json.id ?? null;
  const endpoint = client.endpoints.at(-1 - prng.int(20))?.json.id ?? null;
  const create = {
    method: 'POST',
    path: '/v1/schedules',
    operation: 'createSchedule',
    target: null,
  } as const;
  return prng.weighted<BodyTarget>([
    [4, create],
    [2, { method: 'POST', path: '/v1/endpoints', operation: 'createEndpoint', target: null }],
    [
      2,
      schedule === null
        ? create
        : {
            method: 'PATCH',
            path: `/v1/schedules/${schedule}`,
            operation: 'updateSchedule',
            target: schedule,
          },
    ],
    [
      2,
      schedule === null
        ? create
        : {
            method: 'POST',
            path: `/v1/schedules/${schedule}/reschedule`,
            operation: 'rescheduleSchedule',
            target: schedule,
          },
    ],
    [
      1,
      endpoint === null
        ? create
        : {
            method: 'PATCH',
            path: `/v1/endpoints/${endpoint}`,
            operation: 'updateEndpoint',
            target: endpoint,
          },
    ],
  ]);
}

function requestWithBody(
  context: RequestContext,
  kind: string,
  at: BodyTarget,
  body: Buffer | Json,
  rest: Partial<FuzzRequest> = {},
): FuzzRequest {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const isStrict = rest.expected === undefined && context.prng.chance(0.3);
  const headers = isStrict ? [['Prefer', 'handling=strict'] as const] : [];
  return buildRequest(
    context,
    { method: at.method, path: at.path, headers, body: bytes },
    { kind, operation: at.operation, target: at.target, ...rest },
  );
}

function replaced(members: Members, name: string, value: Json): Members {
  return [...members.filter(([other]) => other !== name), [name, value]];
}

function without(members: Members, names: readonly string[]): Members {
  return members.filter(([name]) => !names.includes(name));
}

const PLAIN: Members = [
  ['endpoint', text('https://fuzz.invalid/')],
  ['delay', text('24h')],
];

/** A create that is valid except for this field. */
function createWith(prng: Prng, secret: string, field: string, value: Json): Members {
  const base = prng.chance(0.5) ? PLAIN : scheduleCreate(prng, secret, null);
  if (field === 'endpoint_id') return replaced(without(base, ['endpoint', 'method']), field, value);
  const isTiming = (TIMING_FIELDS as readonly string[]).includes(field);
  return replaced(isTiming ? without(base, TIMING_FIELDS) : base, field, value);
}

/** One field has a wrong type and all others are valid, so the error code and the field are known. */
export function wrongType(context: RequestContext): FuzzRequest {
  const { prng, client } = context;
  const secret = secretOf(context);
  const wrong = (fields: readonly string[]) => {
    const field = prng.pick(fields);
    const [code, make] = WRONG_TYPES[field] ?? WRONG_TYPES.body ?? fail();
    return { field, value: make(prng), expected: refusedAs(code, field) };
  };
  const active = client.schedules.findLast(
    ({ json }) => json.endpoint_id === null && json.state !== 'canceled' && json.state !== 'completed',
  )?.json.id;
  const endpoint = client.endpoints.at(-1)?.json.id;
  const choice = prng.int(10);
  if (choice >= 8 && active !== undefined) {
    const isUpdate = choice === 8;
    const { field, value, expected } = wrong(isUpdate ? UPDATE_FIELDS : [...TIMING_FIELDS, 'timezone']);
    const members: Members =
      field === 'timezone'
        ? [
            ['cron', text('0 9 * * *')],
            [field, value],
          ]
        : [[field, value]];
    const at: BodyTarget = isUpdate
      ? { method: 'PATCH', path: `/v1/schedules/${active}`, operation: 'updateSchedule', target: active }
      : {
          method: 'POST',
          path: `/v1/schedules/${active}/reschedule`,
          operation: 'rescheduleSchedule',
          target: active,
        };
    return requestWithBody(context, 'wrong type', at, object(members), { expected, secret });
  }
  if (choice >= 6) {
    const { field, value, expected } = wrong(ENDPOINT_FIELDS);
    const at: BodyTarget =
      choice === 7 && endpoint !== undefined
        ? {
            method: 'PATCH',
            path: `/v1/endpoints/${endpoint}`,
            operation: 'updateEndpoint',
            target: endpoint,
          }
        : { method: 'POST', path: '/v1/endpoints', operation: 'createEndpoint', target: null };
    const members = replaced(endpointWrite(prng, secret, true), field, value);
    return requestWithBody(context, 'wrong type', at, object(members), { expected, secret });
  }
  const { field, value, expected } = wrong(SCHEDULE_FIELDS);
  const at: BodyTarget = { method: 'POST', path: '/v1/schedules', operation: 'createSchedule', target: null };
  return requestWithBody(context, 'wrong type', at, object(createWith(prng, secret, field, value)), {
    expected,
    secret,
  });
}

function fail(): never {
  throw new Error('A field without a code.');
}

export function nearMiss(context: RequestContext): FuzzRequest {
  const secret = secretOf(context);
  const [field, value, code] = context.prng.pick(NEAR_MISSES);
  const at: BodyTarget = { method: 'POST', path: '/v1/schedules', operation: 'createSchedule', target: null };
  const members = createWith(context.prng, secret, field, value);
  return requestWithBody(context, 'near miss', at, object(members), {
    expected: refusedAs(code, field),
    secret,
  });
}

/** JSON of any shape. It is rarely an object, and even more rarely has valid fields. */
export function anyJson(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const names = [...SCHEDULE_FIELDS, ...ENDPOINT_FIELDS];
  const json = prng.weighted<() => Json>([
    [3, () => anyValue(prng, 4)],
    [3, () => anyObject(prng, 4)],
    [
      4,
      () => object(Array.from({ length: prng.int(8) }, () => [prng.pick(names), anyValue(prng, 3)] as const)),
    ],
  ])();
  return requestWithBody(context, 'any json', pickBodyTarget(context), json);
}

/** Valid bodies with names of JavaScript prototypes on every level, and names given twice. */
export function prototypeNames(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const secret = secretOf(context);
  const at = pickBodyTarget(context);
  const members = at.operation.endsWith('Endpoint')
    ? endpointWrite(prng, secret, at.operation === 'createEndpoint')
    : at.operation === 'rescheduleSchedule'
      ? timing(prng)
      : scheduleCreate(prng, secret, null);
  const inner: Members = [
    ['__proto__', object(members)],
    ['constructor', '{"prototype":{"polluted":true}}'],
    [
      'metadata',
      object([
        ['__proto__', text('a')],
        ['constructor', text('b')],
        [prng.pick(PROTOTYPE_NAMES), anyValue(prng, 1)],
      ]),
    ],
    [
      'headers',
      object([
        ['__proto__', text(secret)],
        ['toString', anyValue(prng, 0)],
      ]),
    ],
    [
      'retry_policy',
      object([
        ['__proto__', '{"max_attempts":5}'],
        ['max_attempts', anyValue(prng, 0)],
      ]),
    ],
    ['rate_limit', '{"__proto__":{"per_second":5}}'],
    ['breaker_policy', '{"__proto__":{"threshold":5,"base_open":"1s","max_open":"1s","probe_timeout":"1s"}}'],
    [hostileName(prng), anyValue(prng, 2)],
  ];
  const twice = prng.some(members, 0.3);
  return requestWithBody(
    context,
    'prototype names',
    at,
    object([...prng.some(inner, 0.4), ...members, ...twice]),
    {
      secret,
    },
  );
}

/** Deep, long or wide values, as the whole body or anywhere in it. */
export function huge(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const at = pickBodyTarget(context);
  const value = hugeValue(prng);
  const field = prng.pick([...SCHEDULE_FIELDS, ...ENDPOINT_FIELDS, 'unknown']);
  const json = prng.weighted<() => Json>([
    [1, () => value],
    [4, () => object(replaced(PLAIN, field, value))],
    [
      1,
      () =>
        object([
          ['url', text(url(prng))],
          [field, value],
        ]),
    ],
    [
      1,
      () =>
        object(replaced(PLAIN, field, object([[prng.pick(['a', 'max_attempts', 'base', 'rate']), value]]))),
    ],
  ])();
  return requestWithBody(context, 'huge', at, json);
}

/** Bytes that are not valid UTF-8 or not valid JSON. */
export function brokenBytes(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const secret = secretOf(context);
  const right = Buffer.from(object(scheduleCreate(prng, secret, null)));
  const at = pickBodyTarget(context);
  const inserted = (bytes: readonly number[]) => {
    const place = prng.int(right.length);
    return Buffer.concat([right.subarray(0, place), Buffer.from(bytes), right.subarray(place)]);
  };
  const bytes = prng.weighted<() => Buffer>([
    [2, () => right.subarray(0, prng.int(right.length))],
    [
      2,
      () =>
        inserted(
          prng.pick([
            [0xff],
            [0xc3],
            [0xed, 0xa0, 0x80],
            [0xf8, 0x88],
            [0xc0, 0x80],
            [0xf4, 0x90, 0x80, 0x80],
          ]),
        ),
    ],
    [1, () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), right])],
    [1, () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(right.toString(), 'utf16le')])],
    [2, () => prng.bytes(prng.int(200))],
    [1, () => inserted([prng.int(32)])],
    [1, () => Buffer.concat([right, right])],
    [
      1,
      () =>
        Buffer.from(
          prng.pick([
            '',
            ' ',
            'NaN',
            '[',
            '{"a":1,}',
            "{'a':1}",
            '{a:1}',
            '// x\n{}',
            '\u0000',
            'nul',
            '01',
            '1.',
            '"',
            '"\\u12"',
          ]),
        ),
    ],
  ])();
  return requestWithBody(context, 'broken bytes', at, bytes, { secret });
}
