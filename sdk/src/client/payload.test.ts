import { describe, expect, test } from 'vitest';
import { withJsonBody, writeJson } from './payload.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('json', () => {
  test.each<readonly [unknown, string]>([
    [{ hello: 'world' }, '{"hello":"world"}'],
    [[1, 'two'], '[1,"two"]'],
    ['text', '"text"'],
    [null, 'null'],
    [0, '0'],
    [false, 'false'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])('%j becomes the body', (json, body) => {
    expect(withJsonBody({ endpoint: 'https://a.example', json })).toEqual({
      endpoint: 'https://a.example',
      body,
      headers: JSON_TYPE,
    });
  });

  test('keeps other headers, and a content type of the caller in any case', () => {
    const headers = { 'X-Tenant': 'acme' };
    expect(withJsonBody({ json: 1, headers })).toEqual({ body: '1', headers: { ...headers, ...JSON_TYPE } });
    const typed = { 'Content-TYPE': 'application/cloudevents+json' };
    expect(withJsonBody({ json: 1, headers: typed })).toEqual({ body: '1', headers: typed });
    expect(withJsonBody({ json: 1, headers: null })).toEqual({ body: '1', headers: JSON_TYPE });
  });

  test('adds no header if an endpoint profile may have its own content type', () => {
    expect(withJsonBody({ endpoint_id: 'ep_1', json: 1 })).toEqual({ endpoint_id: 'ep_1', body: '1' });
    expect(withJsonBody({ endpoint_id: null, json: 1 })).toMatchObject({ headers: JSON_TYPE });
  });

  test('that is missing changes nothing', () => {
    expect(withJsonBody({ delay: '1h' })).toEqual({ delay: '1h' });
    expect(withJsonBody({ body: 'text', json: undefined })).toEqual({ body: 'text' });
  });

  test('beside body is refused', () => {
    for (const json of [{}, null])
      expect(() => withJsonBody({ json, body: '' })).toThrow(
        'json and body are both given. Pass only one of them.',
      );
    expect(withJsonBody({ json: 1, body: null })).toMatchObject({ body: '1' });
  });

  test.each([
    [{ hello: 'secret' }, 'an object'],
    [['secret'], 'an array'],
    [new Uint8Array(1), 'bytes'],
  ])('%o as body is refused', (body, kind) => {
    expect(() => withJsonBody({ body })).toThrow(
      new TypeError(`body must be a text. It got ${kind}. For a value that JSON can express, use json.`),
    );
  });

  test.each(['text', ['a']])('headers that are %j are left to the service', (headers) => {
    expect(withJsonBody({ json: 1, headers })).toEqual({ body: '1', headers });
  });
});

describe('a value that is not JSON', () => {
  const cycle: Record<string, unknown> = { secret: 'of the customer' };
  cycle.self = cycle;
  let deep: unknown = 'secret';
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];

  test.each<readonly [string, unknown, string]>([
    ['undefined', undefined, 'json is undefined, which JSON cannot express. Leave it out, or pass null.'],
    [
      'a function',
      () => 'secret',
      'json is a function, which JSON cannot express. Leave it out, or pass null.',
    ],
    [
      'a symbol',
      Symbol('secret'),
      'json is a symbol, which JSON cannot express. Leave it out, or pass null.',
    ],
    [
      'toJSON without a result',
      { toJSON: () => undefined },
      'json is an object whose toJSON returns nothing, which JSON cannot express.',
    ],
    [
      'a BigInt',
      42n,
      'json cannot be written as JSON: it is a BigInt. Convert it with String() or Number() first.',
    ],
    ['a BigInt inside', { order: { total: 42n } }, 'json cannot be written as JSON: "total" is a BigInt.'],
    ['a cycle', cycle, 'json cannot be written as JSON: it contains itself, or its toJSON failed.'],
    ['too deep', deep, 'json cannot be written as JSON: it is nested too deeply.'],
  ])('%s gets a sentence that does not quote it', (_what, value, message) => {
    const attempt = () => writeJson('json', value);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/secret|42/);
  });

  test('the error of a toJSON is the cause', () => {
    const cause = new Error('lost');
    const json = {
      toJSON() {
        throw cause;
      },
    };
    expect(() => writeJson('json', json)).toThrow(expect.objectContaining({ cause }));
  });
});
