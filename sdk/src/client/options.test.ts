import { describe, expect, test } from 'vitest';
import { checkIdempotencyKey, readOptions } from './options.ts';

const apiKey = 'sk_test_0123456789abcdef';
const url = 'https://sched.example.com';

describe('url', () => {
  test.each([
    ['https://sched.example.com', 'https://sched.example.com'],
    ['https://sched.example.com/', 'https://sched.example.com'],
    ['HTTPS://Sched.Example.com:443//', 'https://sched.example.com'],
    ['http://10.0.0.7:8080/tools/sched/', 'http://10.0.0.7:8080/tools/sched'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s', (given, base) => {
    expect(readOptions({ url: given, apiKey }).base).toBe(base);
  });

  test.each([
    '',
    'sched.example.com',
    'ftp://sched.example.com',
    'https://user:secret@sched.example.com',
    'https://sched.example.com?x=secret',
    'https://sched.example.com#secret',
    'https://sched.example.com/v1',
    'https://sched.example.com/tools/v1/',
    undefined as unknown as string,
  ])('%s is refused, and the error does not quote it', (given) => {
    const attempt = () => readOptions({ url: given, apiKey });
    expect(attempt).toThrow(TypeError);
    expect(attempt).not.toThrow(/secret/);
  });
});

describe('apiKey', () => {
  test.each([
    '',
    ' ',
    `${apiKey}\n`,
    ` ${apiKey}`,
    `${apiKey}\0`,
    `${apiKey}é`,
    undefined as unknown as string,
  ])('%j is refused, and the error does not quote it', (given) => {
    const attempt = () => readOptions({ url, apiKey: given });
    expect(attempt).toThrow(TypeError);
    expect(attempt).not.toThrow(/sk_test/);
  });
});

describe('other options', () => {
  test('have defaults', () => {
    expect(readOptions({ url, apiKey })).toMatchObject({
      timeoutMs: 30_000,
      retries: 3,
      headers: { accept: 'application/json', authorization: `Bearer ${apiKey}` },
    });
  });

  test.each([
    { retries: -1 },
    { retries: 1.5 },
    { retries: 11 },
    { retries: Number.NaN },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 2 ** 31 },
    { timeoutMs: Number.POSITIVE_INFINITY },
    { version: 'latest' },
    { version: '2026-11-15\r\nx: y' },
  ])('%o is refused', (wrong) => {
    expect(() => readOptions({ url, apiKey, ...wrong })).toThrow(TypeError);
  });
});

describe('an idempotency key', () => {
  test.each(['a', 'order 4711: remind', 'x'.repeat(256)])('%s', (key) => {
    expect(checkIdempotencyKey(key)).toBe(key);
  });

  // The service treats an empty key as no key.
  test.each(['', ' ', 'a ', '\ta', 'a\r\nb', 'é'])('%j is refused', (key) => {
    expect(() => checkIdempotencyKey(key)).toThrow(TypeError);
  });
});
