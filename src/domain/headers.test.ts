import { describe, expect, test } from 'vitest';
import { HEADERS_BYTES_MAX, headerFault, mergeHeaders } from './headers.ts';

test('names plus values may have 16 KB', () => {
  expect(HEADERS_BYTES_MAX).toBe(16_384);
});

describe('sendable is', () => {
  test.for([
    ['X-Tenant', 'acme'],
    ['x', ''],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Authorization', 'Bearer abc.def'],
    ["!#$%&'*+-.^_`|~09azAZ", 'every token character'],
    ['Accept', ' spaces at both ends '],
    ['X-Latin', 'Grüße, ÿ and \u00a0'],
    ['X-Symbols', '~!@#$%^&*()_+{}|:"<>?[]\\;\',./'],
    ['Hostname', 'not host'],
    ['Tea', 'not te'],
    ['Proxy', 'no hyphen'],
    ['Sched-Signature', 'overwritten by ours'],
    ['Idempotency-Key', 'overwritten by ours'],
    ['Upgrade-Insecure-Requests', '1'],
  ] as const)('%s: %s', ([name, value]) => {
    expect(headerFault(name, value)).toBeNull();
  });
});

describe('forbidden is', () => {
  const RESERVED = [
    'host',
    'content-length',
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ];

  test.for([...RESERVED, 'proxy-authorization', 'proxy-', 'proxy-x'])('the name %s in any case', (name) => {
    for (const spelling of [name, name.toUpperCase(), name.replace(/^./, (first) => first.toUpperCase())]) {
      expect(headerFault(spelling, 'value')).toBe('forbidden_header_name');
    }
  });

  test.for([
    '',
    ' ',
    'a b',
    'a:',
    'a\r\nb',
    'a\n',
    '\ta',
    'a\0',
    'ä',
    '試験',
    'a,b',
    '"a"',
    'a/b',
    '(a)',
    '\ud800',
  ])('the name %j, which is not a token', (name) => {
    expect(headerFault(name, 'value')).toBe('header_name_invalid');
  });

  test('every control character in a value, also the tab', () => {
    const controls = [...Array(0x20).keys(), 0x7f, ...Array.from({ length: 0x20 }, (_, i) => 0x80 + i)];
    for (const code of controls) {
      for (const value of [
        String.fromCharCode(code),
        `a${String.fromCharCode(code)}b`,
        `a${String.fromCharCode(code)}`,
      ]) {
        const fault =
          value.includes('\r') || value.includes('\n') ? 'header_line_break' : 'header_control_character';
        expect(headerFault('x', value), `U+${code.toString(16)}`).toBe(fault);
      }
    }
  });

  test.for(['Ā', '試験', '🙈', '\ud800', '\u2028', '’'])('the value %j, outside Latin-1', (value) => {
    expect(headerFault('x', value)).toBe('header_not_latin1');
  });
});

describe('merged', () => {
  test('the headers of the schedule win over those of the profile, in any case', () => {
    const profile = [
      ['X-One', 'profile'],
      ['X-Two', 'profile'],
    ] as const;
    const schedule = [
      ['x-two', 'schedule'],
      ['X-Three', 'schedule'],
    ] as const;
    expect(mergeHeaders(profile, schedule)).toEqual([
      ['X-One', 'profile'],
      ['x-two', 'schedule'],
      ['X-Three', 'schedule'],
    ]);
    expect(mergeHeaders(profile, [])).toEqual(profile);
    expect(mergeHeaders([], schedule)).toEqual(schedule);
  });
});
