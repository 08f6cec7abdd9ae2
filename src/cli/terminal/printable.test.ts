import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonLine, printable } from './printable.ts';

const ACTS = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

test.each([
  ['plain text, ünïcode, 東京', 'plain text, ünïcode, 東京'],
  ['a\nb\r\n\tc', 'a b c'],
  ['\u001b]0;title\u0007\u001b[2Jx', ']0;title[2Jx'],
  ['\u009b31mred', '31mred'],
  ['user\u202etxt.exe', 'usertxt.exe'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('no control character is left, and JSON keeps its value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(ACTS);
      const line = jsonLine({ text });
      expect(line).not.toMatch(ACTS);
      expect(JSON.parse(line)).toEqual({ text });
    }),
  );
  expect(jsonLine({ text: '\u001b[2J\u009b\u202e' })).toBe('{"text":"\\u001b[2J\\u009b\\u202e"}');
});
