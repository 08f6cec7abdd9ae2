import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { type Column, fields, instantOr, styled, table, tableOf } from './output.ts';
import { PLAIN } from './screen.ts';
import { widthOf } from './width.ts';

const COLOURED = { columns: null, hasColours: true };

test('columns are as wide as their widest cell, and lines end with their last character', () => {
  expect(
    table([
      ['NAME', 'ID', 'NOTE'],
      ['a', 'long-id', ''],
      ['longer', 'x', 'last'],
    ]),
  ).toBe('NAME    ID       NOTE\na       long-id\nlonger  x        last');
});

test('an instant that is not there is said in a word', () => {
  expect(instantOr(null, '-')).toBe('-');
  expect(instantOr(instant(0), '-')).toBe('1970-01-01T00:00:00.000Z');
});

interface Item {
  readonly id: string;
  readonly url: string;
  readonly note: string;
}

const COLUMNS: readonly Column<Item>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'SINCE', cell: () => 'just now', isForPeople: true },
  { title: 'URL', cell: ({ url }) => url, fit: 'cut' },
  { title: 'NOTE', cell: ({ note }) => note, fit: 'drop' },
];
const ITEMS = [
  { id: 'id_1', url: `https://example.com/${'x'.repeat(60)}`, note: 'something longer' },
  { id: 'id_2', url: 'https://example.com/', note: '' },
];

test('in a pipe nothing is cut, and what is only for people is not there', () => {
  const [titles = '', first = ''] = tableOf(COLUMNS, ITEMS, PLAIN).split('\n');
  expect(titles).toMatch(/^ID +URL +NOTE$/);
  expect(first).toBe(`id_1  ${ITEMS[0]?.url}  something longer`);
});

test.each([100, 80, 60, 50, 40])('on a terminal of %i columns every line fits', (columns) => {
  const lines = tableOf(COLUMNS, ITEMS, { columns, hasColours: false }).split('\n');
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  expect(lines[0]).toMatch(/^ID +SINCE +URL/);
  expect(lines[1]).toContain('id_1');
});

test('what may be cut is cut before a column is left out', () => {
  const at = (columns: number) => tableOf(COLUMNS, ITEMS, { columns, hasColours: false });
  expect(at(60)).toContain('something longer');
  expect(at(60)).toContain('…');
  expect(at(40)).not.toContain('NOTE');
  expect(at(40)).toContain('https://example.com/xxx…');
});

test('colours do not move columns, and end where their text does', () => {
  const rows = [
    [styled('succeeded', 'green'), 'a'],
    [styled('x', 'red'), 'b'],
  ];
  expect(table(rows, COLOURED)).toBe('\u001b[32msucceeded\u001b[0m  a\n\u001b[31mx\u001b[0m          b');
});

test('wide characters keep columns in line', () => {
  expect(
    table([
      ['東京', 'a'],
      ['x', 'b'],
    ]),
  ).toBe('東京  a\nx     b');
});

test('a cell is one line of text, whatever it holds', () => {
  expect(table([['a\u001b[2J\nb', 'c']])).toBe('a[2J b  c');
  expect(fields([['name', styled('v\u0007\r\nalue', 'red')]], PLAIN)).toBe('name  v alue');
});
