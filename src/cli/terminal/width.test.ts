import { expect, test } from 'vitest';
import { cutMiddle, cutStart, cutTo, padTo, widthOf, wrapTo } from './width.ts';

test.each([
  ['', 0],
  ['plain', 5],
  ['Grüße', 5],
  ['e\u0301', 1],
  ['東京', 4],
  ['한국', 4],
  ['🚀', 2],
  ['👩‍👩‍👧', 2],
  ['…', 1],
])('%j takes %i cells', (text, cells) => {
  expect(widthOf(text)).toBe(cells);
});

test.each([
  ['fits', 4, 'fits'],
  ['too long', 5, 'too …'],
  ['東京都', 5, '東京…'],
  ['東京都', 4, '東…'],
  ['anything', 1, '…'],
  ['anything', 0, ''],
])('%j in %i cells is %j', (text, cells, cut) => {
  expect(cutTo(text, cells)).toBe(cut);
  expect(widthOf(cutTo(text, cells))).toBeLessThanOrEqual(cells);
});

test.each([
  ['fits', 4, 'fits', 'fits'],
  ['too long', 5, '…long', 'to…ng'],
  ['too long', 4, '…ong', 't…ng'],
  ['東京都', 5, '…京都', '東…都'],
  ['東京都', 4, '…都', '…都'],
  ['x👩‍👩‍👧y', 3, '…y', 'x…y'],
  ['anything', 1, '…', '…'],
  ['anything', 0, '', ''],
])('%j in %i cells is %j without its start, and %j without its middle', (text, cells, end, ends) => {
  expect(cutStart(text, cells)).toBe(end);
  expect(cutMiddle(text, cells)).toBe(ends);
  for (const cut of [end, ends]) expect(widthOf(cut)).toBeLessThanOrEqual(cells);
});

test('padding counts cells, not characters', () => {
  expect(padTo('東', 4)).toBe('東  ');
  expect(padTo('wider', 2)).toBe('wider');
});

test.each([
  ['fits', 4, 'fits'],
  ['aa bb cc', 5, 'aa bb\ncc'],
  ['aa bb cc', 4, 'aa\nbb\ncc'],
  ['aa https://example.com bb', 8, 'aa\nhttps://example.com\nbb'],
  ['東京 東京', 8, '東京\n東京'],
  ['Run "sched context list" now.', 23, 'Run\n"sched context list"\nnow.'],
  ['It is `sched tail`.', 14, 'It is\n`sched tail`.'],
  ['one " alone', 6, 'one "\nalone'],
  ['', 5, ''],
])('%j is wrapped to %i cells', (text, cells, wrapped) => {
  expect(wrapTo(text, cells)).toBe(wrapped);
});
