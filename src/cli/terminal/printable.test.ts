import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonLine, printable, printableLines } from './printable.ts';

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

test.each([
  ['Internal error\r\n\tat main\n\nend', '  Internal error\n      at main\n\n  end'],
  ['\u001b[2Jx\rsched: forged\u202e', '  \\u001b[2Jx\\u000dsched: forged\\u202e'],
  ['a\u2028b\u0085', '  a\\u2028b\\u0085'],
])('the lines of %j are shown as %j', (text, shown) => {
  expect(printableLines(text)).toBe(shown);
});

test('lines have no control character but their ends, and each is indented', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const line of printableLines(text).split('\n')) {
        expect(line).not.toMatch(ACTS);
        expect(line).toMatch(/^(?: {2}|$)/);
      }
    }),
  );
});
