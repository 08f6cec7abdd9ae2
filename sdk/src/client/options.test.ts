import { describe, expect, test } from 'vitest';
import {
  checkCallOptions,
  checkIdempotencyKey,
  readOptions as readWith,
  type SchedOptions,
} from './options.ts';

const apiKey = 'sk_test_0123456789abcdef';
const url = 'https://sched.example.com';

/** Reads options in a given environment, which is empty unless a test sets it. */
function readOptions(options?: SchedOptions, environment: Readonly<Record<string, string>> = {}) {
  return readWith(options, (name) => environment[name]);
}

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
    null as unknown as string,
    5 as unknown as string,
  ])('%s is refused, and the error does not quote it', (given) => {
    const attempt = () => readOptions({ url: given, apiKey });
    expect(attempt).toThrow(TypeError);
    expect(attempt).not.toThrow(/secret/);
  });
});

describe('apiKey', () => {
  test.each(['', ' ', `${apiKey}\n`, ` ${apiKey}`, `${apiKey}\0`, `${apiKey}é`, 5 as unknown as string])(
    '%j is refused, and the error does not quote it',
    (given) => {
      const attempt = () => readOptions({ url, apiKey: given });
      expect(attempt).toThrow(TypeError);
      expect(attempt).not.toThrow(/0123456789/);
    },
  );
});

describe('without options', () => {
  const key = `Bearer ${apiKey}`;
  const both = { SCHED_URL: `${url}/`, SCHED_API_KEY: apiKey };

  test('the address and the key come from the environment', () => {
    expect(readOptions(undefined, both)).toMatchObject({ base: url, headers: { authorization: key } });
    expect(readOptions({ url: undefined, apiKey: undefined }, both)).toMatchObject({ base: url });
  });

  test('options win over the environment', () => {
    const other = 'sk_test_another0123456789';
    expect(readOptions({ url: 'https://other.example', apiKey: other }, both)).toMatchObject({
      base: 'https://other.example',
      headers: { authorization: `Bearer ${other}` },
    });
    expect(readOptions({ apiKey: other }, both)).toMatchObject({ base: url });
    expect(readOptions({ url }, { SCHED_API_KEY: apiKey })).toMatchObject({
      base: url,
      headers: { authorization: key },
    });
    expect(readOptions({ url: 'HTTPS://SCHED.example.com' }, both)).toMatchObject({ base: url });
  });

  test('the key of the environment is not sent to another address', () => {
    for (const none of [{}, { apiKey: undefined }, { apiKey: null as unknown as string }]) {
      expect(() => readOptions({ url: 'https://other.example', ...none }, both)).toThrow(
        'SCHED_API_KEY belongs to https://sched.example.com (SCHED_URL), so it is not sent to https://other.example (url).',
      );
    }
  });

  test.each(['sk_test_local_development_only', 'sk_live_local_development_only'])(
    '%s needs no address',
    (devKey) => {
      expect(readOptions({ apiKey: devKey })).toMatchObject({ base: 'http://127.0.0.1:8080' });
      expect(readOptions({}, { SCHED_API_KEY: devKey })).toMatchObject({ base: 'http://127.0.0.1:8080' });
      expect(readOptions({}, { SCHED_API_KEY: devKey, SCHED_URL: url })).toMatchObject({ base: url });
    },
  );

  test.each([
    [
      {},
      {},
      /^The address of the service and the API key are missing\. Set SCHED_URL and SCHED_API_KEY, or pass/,
    ],
    [{ url }, {}, /^The API key is missing\. Set SCHED_API_KEY, or pass it/],
    [{}, { SCHED_URL: url }, /^The API key is missing\./],
    [{ apiKey }, {}, /^The address of the service is missing\. Set SCHED_URL, or pass it/],
    [{}, { SCHED_API_KEY: apiKey }, /^The address of the service is missing\./],
    [{}, { ...both, SCHED_URL: 'nowhere' }, /^SCHED_URL must be an address such as/],
    [{}, { ...both, SCHED_API_KEY: `${apiKey}\n` }, /^SCHED_API_KEY must be an API key such as/],
  ])('%j in the environment %j is refused', (options, environment, message) => {
    expect(() => readOptions(options, environment as Record<string, string>)).toThrow(message);
  });

  test.each([null, apiKey, [url, apiKey], () => url, Promise.resolve({ url, apiKey })])(
    '%j as options is refused, and the error does not quote it',
    (options) => {
      const attempt = () => readOptions(options as SchedOptions, both);
      expect(attempt).toThrow(
        /^new Sched takes an object with options: new Sched\({ url, apiKey }\). It got /,
      );
      expect(attempt).not.toThrow(/0123456789/);
    },
  );
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
    { retries: '1' as unknown as number },
    { timeoutMs: '5' as unknown as number },
    { strict: 'no' as unknown as boolean },
    { fetch: 'fetch' as unknown as typeof fetch },
  ])('%o is refused', (wrong) => {
    expect(() => readOptions({ url, apiKey, ...wrong })).toThrow(TypeError);
  });

  test.each([
    ['baseUrl', 'Did you mean "url"?'],
    ['api_key', 'Did you mean "apiKey"?'],
    ['timeout', 'Did you mean "timeoutMs"?'],
    ['stict', 'Did you mean "strict"?'],
    ['region', 'new Sched has no option "region". The options are url, apiKey,'],
  ])('refuses the option %s, which does not exist', (name, message) => {
    const options = { url, apiKey, [name]: 'x' };
    expect(() => readOptions(options)).toThrow(message);
  });
});

describe('the options of a call', () => {
  test.each([undefined, null, {}])('%j', (options) => {
    expect(checkCallOptions(options)).toEqual({});
  });

  test.each([
    ['key', 'The options of a call are an object, such as { timeoutMs: 5_000 }. It got a text.'],
    [{ signal: new AbortController() }, 'signal must be an AbortSignal'],
    [{ signal: null }, 'signal must be an AbortSignal'],
    [{ signal: 5_000 }, 'It got a number.'],
  ])('%o is refused', (options, message) => {
    expect(() => checkCallOptions(options as object)).toThrow(message);
  });
});

describe('an idempotency key', () => {
  test.each(['a', 'order 4711: remind', 'x'.repeat(256)])('%s', (key) => {
    expect(checkIdempotencyKey(key)).toBe(key);
  });

  // The service treats an empty key as no key.
  test.each(['', ' ', 'a ', '\ta', 'a\r\nb', 'é', 4711 as unknown as string])('%j is refused', (key) => {
    expect(() => checkIdempotencyKey(key)).toThrow(TypeError);
  });
});
