import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { asIs, formatDuration, toApiBody, toApiFields, toApiSchedule } from './convenient.ts';

const HOUR = 3_600_000;

describe('milliseconds', () => {
  test.each([
    [0, '0s'],
    [-0, '0s'],
    [1, '1ms'],
    [250, '250ms'],
    [999.5, '999.5ms'],
    [0.1, '0.1ms'],
    [0.000_001, '0.000001ms'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [1_000.25, '1.00025s'],
    [30_000, '30s'],
    [60_000, '1m'],
    [90_000, '1m30s'],
    [60_001, '1m0.001s'],
    [HOUR, '1h'],
    [HOUR + 1, '1h0.001s'],
    [24 * HOUR, '24h'],
    [90 * 60_000, '1h30m'],
    [9_223_372_036_854, '2562047h47m16.854s'],
    // Fractions below a nanosecond are rounded.
    [0.1 + 0.2, '0.3ms'],
    [59_999.999_999_9, '1m'],
    [0.000_000_4, '0s'],
  ])('%d is %s', (ms, text) => {
    expect(formatDuration('delay', ms)).toBe(text);
  });

  test.each([
    [Number.NaN, 'delay is NaN. Pass milliseconds, or a text such as "5m".'],
    [Number.POSITIVE_INFINITY, 'delay is Infinity. Pass milliseconds, or a text such as "5m".'],
    [-1, 'delay is -1 ms, but it must not be negative.'],
    [9_223_372_036_855, 'delay is 9223372036855 ms, but it must be below 292 years.'],
    [1e300, 'must be below 292 years.'],
  ])('%d is refused', (ms, message) => {
    expect(() => formatDuration('delay', ms)).toThrow(TypeError);
    expect(() => formatDuration('delay', ms)).toThrow(message);
  });
});

describe('the fields of a body', () => {
  test('get the texts of the API, and all others stay as they are', () => {
    const body = {
      endpoint: 'https://example.com',
      delay: 1_500,
      ttl: '24h',
      jitter: 30_000,
      timeout: 5_000,
      retry_policy: { base: 5_000, max: HOUR, max_attempts: 3, jitter: true },
      breaker_policy: { threshold: 5, base_open: 30_000, max_open: '1h', probe_timeout: 500 },
      metadata: { delay: 5, base: 5 },
      rate_limit: null,
      idempotency_key: undefined,
    };
    expect({ ...toApiFields(body) }).toEqual({
      ...body,
      delay: '1.5s',
      jitter: '30s',
      timeout: '5s',
      retry_policy: { base: '5s', max: '1h', max_attempts: 3, jitter: true },
      breaker_policy: { threshold: 5, base_open: '30s', max_open: '1h', probe_timeout: '500ms' },
    });
  });

  test('a fault in a policy is named with its place', () => {
    expect(() => toApiFields({ retry_policy: { base: -5 } })).toThrow('retry_policy.base is -5 ms');
  });

  // The service says what is wrong with them.
  test.each([null, 'never', ['1s'], 5])('%j as a policy is passed on', (policy) => {
    expect({ ...toApiFields({ retry_policy: policy }) }).toEqual({ retry_policy: policy });
  });

  test('a body that is sent as it is keeps every field', () => {
    const body = { delay: 5, fire_at: 5, json: {}, body: {} };
    for (const convert of [toApiSchedule, toApiBody]) {
      expect(convert(asIs(body))).toBe(body);
      expect(() => convert({ ...body })).toThrow(TypeError);
    }
  });

  test('json belongs to a new schedule, so in other bodies it is left to the service', () => {
    expect(toApiSchedule({ json: 1 })).toMatchObject({ body: '1' });
    expect({ ...toApiBody({ json: 1 }) }).toEqual({ json: 1 });
  });

  test.each(['headers', 'metadata'])(
    '%s without fields of their own are refused, because they would be lost',
    (field) => {
      for (const lost of [new Headers({ a: 'secret' }), new Map([['a', 'secret']])]) {
        for (const convert of [toApiSchedule, toApiBody])
          expect(() => convert({ [field]: lost, json: 1 })).toThrow(
            new TypeError(
              `${field} must be a plain object. It got an iterable (convert it with Object.fromEntries).`,
            ),
          );
      }
      // The service explains these.
      for (const other of [null, ['a'], 'text', 5]) expect(toApiBody({ [field]: other })[field]).toBe(other);
    },
  );

  test('the body of the caller is not changed', () => {
    const body = Object.freeze({ delay: 1_000, retry_policy: Object.freeze({ base: 1_000 }) });
    toApiFields(body);
    expect(body).toEqual({ delay: 1_000, retry_policy: { base: 1_000 } });
  });

  test('a field with a strange name stays a field', () => {
    const body = JSON.parse('{ "__proto__": { "delay": 5 }, "constructor": 5 }') as Record<string, unknown>;
    expect(JSON.stringify(toApiFields(body))).toBe('{"__proto__":{"delay":5},"constructor":5}');
  });
});

describe('an instant', () => {
  const at = Date.UTC(2027, 0, 1, 8, 0, 0, 5);
  const fireAt = (value: unknown) => toApiFields({ fire_at: value }).fire_at;

  test.each([
    new Date(at),
    runInNewContext(`new Date(${at})`) as unknown,
    { epochMilliseconds: at },
    {
      epochMilliseconds: at,
      epochNanoseconds: 0n,
      toJSON: () => '2027-01-01T09:00:00.005+01:00[Europe/Berlin]',
    },
  ])('%o is written in UTC with milliseconds', (value) => {
    expect(fireAt(value)).toBe('2027-01-01T08:00:00.005Z');
  });

  test.each(['2027-01-01T09:00:00+01:00', 'tomorrow', null, undefined])('%j is passed on', (value) => {
    expect(fireAt(value)).toBe(value);
  });

  test.each<readonly [unknown, string]>([
    [
      new Date('tomorrow'),
      'fire_at is an invalid Date. Pass a Date, or a text such as "2027-01-01T09:00:00Z".',
    ],
    [{ epochMilliseconds: Number.NaN }, 'fire_at is an invalid Date.'],
    [new Date(at * 1_000), 'fire_at is a Date outside the years 0 to 9999.'],
    [at, 'fire_at is a number. Pass a Date'],
    [{}, 'fire_at is an object.'],
    [true, 'fire_at is a boolean.'],
    [Promise.resolve(new Date(at)), 'fire_at is a promise (await it first).'],
  ])('%o is refused', (value, message) => {
    expect(() => fireAt(value)).toThrow(TypeError);
    expect(() => fireAt(value)).toThrow(message);
  });
});
