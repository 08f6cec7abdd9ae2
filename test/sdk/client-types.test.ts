/** The SDK and the service describe the same API. */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEV_KEYS, DEV_URL } from '#sdk/client/connection.ts';
import { formatDuration, toApiFields, toApiQuery } from '#sdk/client/convenient.ts';
import { FILTERS, type ListName } from '#sdk/client/filters.ts';
import { ERROR_CODES } from '#sdk/index.ts';
import { DEV_LIVE_KEY, DEV_TEST_KEY, DEV_URL as SERVED_URL } from '#src/app/dev/keys.ts';
import { NS_PER_MS, parseDuration } from '#src/domain/duration.ts';
import { ERRORS } from '#src/domain/errors.ts';
import { type ApiDocument, sdkTypes } from '../../scripts/write-sdk-types.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the types match docs/openapi.json (`npm run sdk:types` writes them)', () => {
  const document = JSON.parse(read('docs/openapi.json')) as ApiDocument;
  expect(read('sdk/src/api-types.ts')).toBe(sdkTypes(document));
});

test('the error codes match the table of errors', () => {
  expect([...ERROR_CODES].sort()).toEqual(Object.keys(ERRORS).sort());
});

test('the client knows the address and the keys of sched dev', () => {
  expect([DEV_URL, ...DEV_KEYS]).toEqual([SERVED_URL, DEV_TEST_KEY, DEV_LIVE_KEY]);
});

test('the client knows the filters of every list', () => {
  const { paths } = JSON.parse(read('docs/openapi.json')) as ApiDocument;
  const documented = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId.startsWith('list'))
    .map(({ operationId, parameters = [] }) => [
      operationId,
      parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => name)
        .toSorted(),
    ]);
  const OPERATION_OF: Readonly<Record<ListName, string>> = {
    'schedules.list': 'listSchedules',
    'schedules.deliveries': 'listScheduleDeliveries',
    'endpoints.list': 'listEndpoints',
    'deliveries.list': 'listDeliveries',
    'deliveries.attempts': 'listAttempts',
    'attempts.list': 'listRecentAttempts',
  };
  const known = (Object.keys(FILTERS) as ListName[]).map((call) => [
    OPERATION_OF[call],
    Object.keys(FILTERS[call]).toSorted(),
  ]);
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(documented));
});

/** The parts of a schema that show a duration or an instant. */
interface Field {
  readonly type?: unknown;
  readonly format?: string;
  readonly pattern?: string;
}

/** Other patterns accept a plain number too. */
function isDuration({ pattern }: Field): boolean {
  if (pattern === undefined) return false;
  const form = new RegExp(pattern);
  return form.test('1h30m') && !form.test('90');
}

const POLICIES = { RetryPolicyInput: 'retry_policy', BreakerPolicy: 'breaker_policy' } as const;

test('milliseconds and dates are accepted for every duration and instant of a request', () => {
  const { components, paths } = JSON.parse(read('docs/openapi.json')) as ApiDocument;
  const found: string[] = [];
  const check = (field: string, schema: Field, convert: (value: unknown) => unknown) => {
    if (isDuration(schema)) expect([field, convert(1_500)]).toEqual([field, '1.5s']);
    else if (schema.format === 'date-time')
      expect([field, convert(new Date(0))]).toEqual([field, '1970-01-01T00:00:00.000Z']);
    else return;
    found.push(field);
  };
  for (const name of ['ScheduleCreate', 'ScheduleUpdate', 'ScheduleReschedule', 'EndpointWrite'] as const)
    for (const [field, schema] of Object.entries(components.schemas[name]?.properties ?? {}))
      check(field, schema, (value) => toApiFields({ [field]: value })[field]);
  for (const [name, place] of Object.entries(POLICIES))
    for (const [field, schema] of Object.entries(components.schemas[name]?.properties ?? {}))
      check(field, schema, (value) => toApiFields({ [field]: value }, place)[field]);
  for (const { name, in: place, schema } of Object.values(paths).flatMap(
    (path) => path.get?.parameters ?? [],
  ))
    if (place === 'query') check(name, schema, (value) => toApiQuery({ [name]: value })[name]);
  expect([...new Set(found)].sort()).toEqual(
    'base base_open created_after created_before delay fire_at jitter max max_open probe_timeout timeout ttl'.split(
      ' ',
    ),
  );
});

test('the service reads milliseconds of the SDK as exactly this time', () => {
  const wholeMs = fc.oneof(fc.nat(100_000), fc.nat({ max: 2 ** 40 }), fc.constant(9_223_372_036_853));
  // Sixty-fourths of a millisecond are exact as floats and as nanoseconds.
  fc.assert(
    fc.property(wholeMs, fc.nat(63), (ms, parts) => {
      const ns = BigInt(ms) * NS_PER_MS + (BigInt(parts) * NS_PER_MS) / 64n;
      expect(parseDuration(formatDuration('ttl', ms + parts / 64))).toBe(ns);
    }),
  );
});

test('a schema that cannot be expressed as a type is an error', () => {
  const withSchema = (schema: object) =>
    ({ components: { schemas: { Thing: schema } }, paths: {} }) as ApiDocument;
  const object = (field: object) => withSchema({ type: 'object', properties: { field } });
  for (const unknown of [{}, { oneOf: [] }, { type: 'thing' }, { type: 'array' }, { const: 1 }]) {
    expect(() => sdkTypes(object(unknown))).toThrow();
  }
});
