import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { knownFields } from './contract/bodies.ts';
import { OPERATION_DOCS } from './contract/operation-docs.ts';
import { OPERATIONS, type Operation } from './contract/operations.ts';
import {
  type FieldPath,
  fieldsOf,
  findIgnored,
  findIgnoredParameters,
  ignoredFieldsHeader,
} from './ignored-fields.ts';
import type { JsonObject } from './read-bodies.ts';

const { createSchedule, updateSchedule, createEndpoint, pauseSchedule } = OPERATIONS;

function ignoredOf(operation: Operation, body: JsonObject): readonly string[] {
  return findIgnored(body, fieldsOf(operation)).map((path) => path.join('.'));
}

/** A value of every schema, with every field at every depth. Fails for a kind of schema that the check cannot look into. */
function complete(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return complete(schema.def.innerType);
  if (schema instanceof z.ZodObject) {
    return Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, complete(field)]));
  }
  const isPlain = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral].some(
    (plain) => schema instanceof plain,
  );
  if (isPlain) return 'any';
  if (schema instanceof z.ZodCustom) return { any: 'name' };
  throw new Error('Fields inside this kind of schema would never be ignored: extend knownFields.');
}

describe('the contract', () => {
  const withBody = Object.entries(OPERATIONS).flatMap(([id, { body }]) =>
    body === null ? [] : [[id, body.schema] as const],
  );

  test.each(withBody)('%s knows every field of its schema, and no other', (id, schema) => {
    const body = complete(schema) as JsonObject;
    const operation = OPERATIONS[id as keyof typeof OPERATIONS];
    expect(Object.keys(body)).not.toEqual([]);
    expect(ignoredOf(operation, body)).toEqual([]);
    expect(ignoredOf(operation, { ...body, more: 1 })).toEqual(['more']);
  });

  test('a field that is added to a schema is known', () => {
    const before = z.object({ policy: z.object({ rate: z.number() }).nullish() });
    const after = z.object({ policy: z.object({ rate: z.number(), burst: z.number() }).nullish() });
    const body = { policy: { rate: 1, burst: 1 } };
    expect(findIgnored(body, knownFields(before))).toEqual([['policy', 'burst']]);
    expect(findIgnored(body, knownFields(after))).toEqual([]);
  });

  test('an operation without a body knows no field', () => {
    const without = Object.values(OPERATIONS).filter(({ body }) => body === null);
    for (const operation of without) expect(fieldsOf(operation).size).toBe(0);
    expect(ignoredOf(pauseSchedule, { endpoint: 'x', retry_policy: {} })).toEqual([
      'endpoint',
      'retry_policy',
    ]);
  });
});

describe('the ignored fields are', () => {
  test.each<readonly [string, Operation, JsonObject, readonly string[]]>([
    ['none of a valid body', createSchedule, { endpoint: 'x', delay: '1h', retry_policy: { max: '1h' } }, []],
    ['none of the names in maps', createSchedule, { headers: { timeout: '1' }, metadata: { cron: '2' } }, []],
    ['none of a wrong type', createSchedule, { retry_policy: ['a'], rate_limit: 'b', jitter: { c: 1 } }, []],
    ['unknown names', createSchedule, { timeout: '1s', endpoint: 'x', Delay: null }, ['timeout', 'Delay']],
    [
      'those of a creation in a PATCH',
      updateSchedule,
      { cron: 'x', endpoint_id: 'x', ttl: '1h' },
      ['cron', 'endpoint_id'],
    ],
    [
      'those in policies',
      createEndpoint,
      {
        retry_policy: { max_retries: 1 },
        retry_budget: { rate: 1, b: 1 },
        rate_limit: { per_minute: 1 },
        breaker_policy: { a: {} },
      },
      ['retry_policy.max_retries', 'retry_budget.b', 'rate_limit.per_minute', 'breaker_policy.a'],
    ],
    [
      'names of the prototype',
      createSchedule,
      JSON.parse(
        '{"__proto__":{},"constructor":1,"retry_policy":{"toString":1,"__proto__":1}}',
      ) as JsonObject,
      ['__proto__', 'constructor', 'retry_policy.toString', 'retry_policy.__proto__'],
    ],
  ])('%s', (_what, operation, body, expected) => {
    expect(ignoredOf(operation, body)).toEqual(expected);
  });

  test('at most 20', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`f${i}`, 1]));
    const first = Array.from({ length: 20 }, (_, i) => `f${i}`);
    expect(ignoredOf(createSchedule, many)).toEqual(first);
    const spread = { a: 1, retry_policy: many, b: 1 };
    expect(ignoredOf(createSchedule, spread)).toEqual([
      'a',
      ...first.slice(1).map((_, i) => `retry_policy.f${i}`),
    ]);
  });
});

describe('the header', () => {
  test.each<readonly [string, readonly FieldPath[], string]>([
    ['names paths', [['timeout'], ['retry_policy', 'max_retries']], 'timeout, retry_policy.max_retries'],
    ['escapes what would separate names', [['a,b'], ['c.d'], ['e f']], 'a%2Cb, c%2Ed, e%20f'],
    ['escapes what would end it', [['a\r\nSet-Cookie: x']], 'a%0D%0ASet-Cookie%3A%20x'],
    ['escapes letters outside ASCII', [['größe'], ['\u{1f680}']], 'gr%C3%B6%C3%9Fe, %F0%9F%9A%80'],
    ['replaces half characters', [['\ud800x']], '%EF%BF%BDx'],
    ['shows an empty name', [[''], ['retry_policy', '']], '"", retry_policy.""'],
    ['cuts a long name', [['x'.repeat(1_000_000)]], 'x'.repeat(100)],
    [
      'cuts no escape in two',
      [[`${'x'.repeat(97)}ö`], [`${'x'.repeat(94)}ö`]],
      `${'x'.repeat(97)}, ${'x'.repeat(94)}%C3%B6`,
    ],
    ['counts the whole path', [['retry_policy', 'y'.repeat(200)]], `retry_policy.${'y'.repeat(87)}`],
  ])('%s', (_what, paths, value) => {
    expect(ignoredFieldsHeader(paths)).toBe(value);
  });
});

describe('the ignored parameters of a query are', () => {
  function ignored(operation: Operation, query: string): string {
    return ignoredFieldsHeader(findIgnoredParameters(operation, query));
  }

  test.each<readonly [query: string, header: string]>([
    ['', ''],
    ['&&', ''],
    ['cursor=c&limit=5&state=paused&kind=recurring&metadata[team]=a&metadata%5Ba.b%5D=c', ''],
    ['metdata=x', 'metdata'],
    ['metadata=team:billing', 'metadata'],
    ['metadata.team=nobody', 'metadata%2Eteam'],
    ['metadata[]=a&metadata[team=b&metadata]=c', 'metadata%5B%5D, metadata%5Bteam, metadata%5D'],
    ['status=paused&state=paused', 'status'],
    ['State=paused', 'State'],
    ['__proto__=1&constructor=2', '__proto__, constructor'],
    ['x=1&x=2', 'x'],
    ['=x', '""'],
    ['a%0D%0ASet-Cookie:%20b=1', 'a%0D%0ASet-Cookie%3A%20b'],
    // A known filter without a value matches everything, so it is ignored too.
    ['state=&kind&metadata[team]=', 'state, kind, metadata%5Bteam%5D'],
    ['state=paused&state=', ''],
  ])('%j: %s', (query, header) => {
    expect(ignored(OPERATIONS.listSchedules, query)).toBe(header);
  });

  test('at most 20, of at most 100 characters each', () => {
    const query = Array.from({ length: 500 }, (_, i) => `${'\u{1f4e8}'.repeat(50)}${i}=1`).join('&');
    const names = ignored(OPERATIONS.listSchedules, query).split(', ');
    expect(names.length).toBeLessThanOrEqual(20);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(100);
  });

  test('none of the contract, for each operation that reads', () => {
    for (const [id, operation] of Object.entries(OPERATIONS)) {
      const shape = OPERATION_DOCS[id as keyof typeof OPERATIONS].query?.shape ?? {};
      const names = Object.keys(shape).map((name) => (name === 'metadata' ? 'metadata[a]' : name));
      expect(ignored(operation, [...names, 'other'].map((name) => `${name}=1`).join('&'))).toBe('other');
    }
  });
});
