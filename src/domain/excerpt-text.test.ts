import { expect, test } from 'vitest';
import { excerptText } from './excerpt-text.ts';

const utf8 = (text: string) => ({ excerpt: text, encoding: 'utf-8' });
const base64 = (bytes: Uint8Array) => ({
  excerpt: Buffer.from(bytes).toString('base64'),
  encoding: 'base64',
});

test('UTF-8 is shown as text, unchanged', () => {
  for (const text of [
    '',
    'upstream timed out\r\n\t',
    '\ufeffcaf\u00e9 \u{1f680}',
    '\u001b[31m',
    '\ud7ff\ue000\uffff',
  ])
    for (const isTruncated of [true, false])
      expect(excerptText(Buffer.from(text), isTruncated)).toEqual(utf8(text));
});

test('a character that the bound cut in half is left out, whatever its length', () => {
  for (const character of ['\u00e9', '\u20ac', '\u{1f680}']) {
    const whole = Buffer.from(`price ${character}`);
    for (let cut = 1; cut < Buffer.byteLength(character); cut++) {
      const bytes = whole.subarray(0, whole.length - cut);
      expect(excerptText(bytes, true)).toEqual(utf8('price '));
      expect(excerptText(bytes, false)).toEqual(base64(bytes));
    }
  }
});

test.for([
  ['a NUL', [0x61, 0x00, 0x62]],
  ['a byte that is never UTF-8', [0x61, 0xff]],
  ['a half character before the end', [0xe2, 0x82, 0x61]],
  ['a lone continuation at the end', [0x61, 0x82]],
  ['an overlong form', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['gzip', [0x1f, 0x8b, 0x08, 0x00, 0x00]],
] as const)('bytes with %s are shown as base64, cut or not', ([, given]) => {
  const bytes = Uint8Array.from(given);
  expect(excerptText(bytes, false)).toEqual(base64(bytes));
  expect(excerptText(bytes, true)).toEqual(base64(bytes));
});
