import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_METHOD,
  isDestination,
  isOtherDestination,
  METHODS,
  originAndPath,
  URL_CHARACTERS_MAX,
} from './destination.ts';

test('the methods are those of the specification, and POST is the default', () => {
  expect(METHODS).toEqual(['POST', 'PUT', 'PATCH', 'GET', 'DELETE']);
  expect(DEFAULT_METHOD).toBe('POST');
});

describe('a destination may be', () => {
  test.for([
    'https://example.com',
    'https://example.com/',
    'https://example.com:8443/hook?x=1&y=2#part',
    'HTTPS://EXAMPLE.COM/Hook',
    'https://bücher.example/straße?ü=ß',
    'https://xn--bcher-kva.example/',
    'https://例え.テスト/',
    'https://example.com/with%20escape/%F0%9F%99%88',
    'https://example.com/a b',
    'https://example.com/@user:pass',
    'https://example.com/?next=https://user:pass@other.example',
    // Addresses and local names are checked when the delivery connects.
    'https://127.0.0.1/',
    'https://10.0.0.8:8080/',
    'https://[::1]/',
    'https://localhost/',
    'https://0x7f.1/',
  ])('%s', (url) => {
    expect(isDestination(url, false)).toBe(true);
    expect(isDestination(url, true)).toBe(true);
  });

  test('plain http, only if the operator allows it', () => {
    for (const url of ['http://example.com/', 'HTTP://10.0.0.8/hook']) {
      expect(isDestination(url, false)).toBe(false);
      expect(isDestination(url, true)).toBe(true);
    }
  });

  test('up to the length that servers accept', () => {
    const start = 'https://example.com/';
    const longest = start + 'a'.repeat(URL_CHARACTERS_MAX - start.length);
    expect(isDestination(longest, false)).toBe(true);
    expect(isDestination(`${longest}a`, false)).toBe(false);
  });
});

describe('a destination may not be', () => {
  test.for([
    '',
    ' ',
    'example.com',
    '//example.com',
    '/hook',
    'https:',
    'https://',
    'https:///',
    'https://:443/',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https:\\\\example.com/',
    'https://example.com\\hook',
    'https://exa mple.com/',
    'https://example.com:99999/',
    'https://[::1/',
    'https://a..b%/',
    'ftp://example.com/',
    'ws://example.com/',
    'wss://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,hello',
    'blob:https://example.com/1',
    'mailto:a@example.com',
  ])('%j', (url) => {
    expect(isDestination(url, false)).toBe(false);
    expect(isDestination(url, true)).toBe(false);
  });

  test.for([
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://user:@example.com/',
    'https://us%65r@example.com/',
    'https://example.com@evil.example/',
  ])('a URL with credentials: %s', (url) => {
    expect(isDestination(url, false)).toBe(false);
  });

  test('a URL with a control character, a space at an end, or half a character', () => {
    for (const code of [...Array(0x20).keys(), 0x7f, 0x80, 0x9f]) {
      const control = String.fromCharCode(code);
      for (const url of [
        `${control}https://example.com/`,
        `https://exa${control}mple.com/`,
        `https://example.com/${control}`,
      ]) {
        expect(isDestination(url, false), JSON.stringify(url)).toBe(false);
      }
    }
    for (const url of [' https://example.com/', 'https://example.com/ ', 'https://example.com/\ud83d']) {
      expect(isDestination(url, false), JSON.stringify(url)).toBe(false);
    }
  });

  test('anything that the URL standard does not parse as https without credentials', () => {
    const parts = fc.array(
      fc.constantFrom(
        'https',
        'http',
        ':',
        '//',
        '/',
        '\\',
        '@',
        'a',
        'example.com',
        '?',
        '#',
        '%',
        ' ',
        '[',
        ']',
        '::1',
        '.',
        '\t',
        'ü',
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(parts, (pieces) => {
        const text = pieces.join('');
        if (!isDestination(text, false)) return;
        const url = new URL(text);
        expect([url.protocol, url.username, url.password]).toEqual(['https:', '', '']);
        expect(url.hostname).not.toBe('');
      }),
      { numRuns: 5_000, seed: 1 },
    );
  });
});

const HERE = 'https://receiver.example/orders?token=1';

test.each([
  'https://other.example/orders?token=1',
  'https://receiver.example:8443/orders?token=1',
  'http://receiver.example/orders?token=1',
  'https://receiver.example/other?token=1',
  'https://receiver.example/orders/?token=1',
  'https://receiver.example/Orders?token=1',
  'https://receiver.example.evil.example/orders',
])('%s is another destination', (url) => {
  expect(isOtherDestination(HERE, url)).toBe(true);
});

test.each([
  HERE,
  'https://receiver.example/orders',
  'https://receiver.example/orders?token=2',
  'https://RECEIVER.example:443/orders#part',
  'https://receiver.example/x/../orders',
])('%s is the same destination', (url) => {
  expect(isOtherDestination(HERE, url)).toBe(false);
});

test('origin and path leave out the query', () => {
  expect(originAndPath(HERE)).toBe('https://receiver.example/orders');
  expect(originAndPath('no URL')).toBeNull();
});
