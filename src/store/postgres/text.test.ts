import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText, encodeText } from './text.ts';

test('ordinary text is stored as it is', () => {
  for (const text of ['', 'https://example.com/?q=1', 'schön \u{1f600}', '"\\u0000"', ' \u0001']) {
    expect(encodeText(text)).toBe(text);
  }
});

test.for(['\0', 'a\0b', '\u0001', '\u0001"x"', '\ud800', 'a\udc00b', '\u0001\0'])('%j comes back', (text) => {
  const stored = encodeText(text);
  expect(stored.includes('\0')).toBe(false);
  expect(stored.isWellFormed()).toBe(true);
  expect(decodeText(stored)).toBe(text);
});

test('every text comes back, and no two are stored alike', () => {
  const text = fc.string({ unit: fc.constantFrom('\0', '\u0001', '"', '\\', 'a', '\ud800', '\udc00') });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(decodeText(encodeText(one))).toBe(one);
      expect(encodeText(one) === encodeText(other)).toBe(one === other);
    }),
  );
});
