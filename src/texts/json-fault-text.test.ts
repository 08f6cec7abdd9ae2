import { expect, test } from 'vitest';
import { firstFaultIn } from '#src/domain/json.ts';
import { jsonSyntaxText } from './json-fault-text.ts';

test.each([
  ['{"a": 1,}', 'line 1, column 9: the last comma is one too many'],
  ['[1,]', 'line 1, column 4: the last comma is one too many'],
  ["{'a': 1}", 'line 1, column 2: strings need double quotes'],
  ['{\n  a: 1}', 'line 2, column 3: names and strings need double quotes'],
  ['{"a": 5m}', 'line 1, column 8: a text needs double quotes, such as {"delay": "5m"}'],
  ['{"a": soon}', 'line 1, column 7: a text needs double quotes, such as {"delay": "5m"}'],
  ['{"a": 1 "b": 2}', 'line 1, column 9: a comma or a colon is missing before it'],
  ['{"a" 1}', 'line 1, column 6: a comma, a colon or a bracket is missing'],
  [
    '{"a": "one\ntwo"}',
    'line 2, column 4: this string has a line break or a backslash that must be escaped, such as \\n or \\\\',
  ],
  [
    '{"a": "C:\\dir"}',
    'line 1, column 14: this string has a line break or a backslash that must be escaped, such as \\n or \\\\',
  ],
  ['{"a": 1} // done', 'line 1, column 10: JSON has no comments'],
  ['{"a": 1', 'line 1, column 8: it ends too early'],
  ['{"a": "x', 'line 1, column 9: it ends too early'],
  ['a=b', 'line 1, column 1: it must begin with {, such as {"delay": "5m"}'],
])('%j', (text, place) => {
  expect(jsonSyntaxText(text, firstFaultIn(text))).toBe(`The request body is not valid JSON at ${place}.`);
});

test('a position far into a text is a number of characters', () => {
  const text = `{"a":"${'x'.repeat(20_000)}",}`;
  expect(jsonSyntaxText(text, firstFaultIn(text))).toMatch(/at character 20,009: the last comma/);
});
