import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { type Column, fields, instantOr, styled, table, tableOf } from './output.ts';
import { PLAIN } from './screen.ts';
import { widthOf } from './width.ts';

const COLOURED = { columns: null, hasColours: true };

test('columns are as wide as their widest cell, and lines have no trailing spaces', () => {
  expect(
    table([
      ['NAME', 'ID', 'NOTE'],
      ['a', 'long-id', ''],
      ['longer', 'x', 'last'],
    ]),
  ).toBe('NAME    ID       NOTE\na       long-id\nlonger  x        last');
});

test('a missing instant is shown as the given word', () => {
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
  { title: 'URL', cell: ({ url }) => url, cut: { min: 12, wanted: 20 } },
  { title: 'NOTE', cell: ({ note }) => note },
];
const ITEMS = [
  { id: 'id_1', url: `https://example.com/${'x'.repeat(60)}`, note: 'something longer' },
  { id: 'id_2', url: 'https://example.com/', note: '' },
];

test('a pipe gets uncut cells, without the columns for people', () => {
  const [titles = '', first = ''] = tableOf(COLUMNS, ITEMS, PLAIN).split('\n');
  expect(titles).toMatch(/^ID +URL +NOTE$/);
  expect(first).toBe(`id_1  ${ITEMS[0]?.url}  something longer`);
});

test.each([100, 80, 60, 50, 40])('every line fits a terminal with %i columns', (columns) => {
  const lines = tableOf(COLUMNS, ITEMS, { columns, hasColours: false }).split('\n');
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  expect(lines[0]).toMatch(/^ID +SINCE +URL/);
  expect(lines[1]).toContain('id_1');
});

test('cells are cut before a column is left out', () => {
  const at = (columns: number) => tableOf(COLUMNS, ITEMS, { columns, hasColours: false });
  expect(at(60)).toContain('something longer');
  expect(at(60)).toContain('…');
  expect(at(40)).not.toContain('NOTE');
  expect(at(40)).toContain('https://example.com/xxx…');
});

test('a column that is too wide shortens all of its cells in its own way', () => {
  const shorten = (text: string) => text.replace('https://', '').slice(0, 12);
  const columns: readonly Column<Item>[] = [
    { title: 'URL', cell: ({ url }) => url, cut: { min: 12, wanted: 12, shorten } },
  ];
  const at = (width: number) => tableOf(columns, ITEMS, { columns: width, hasColours: false });
  expect(at(40)).toBe('URL\nexample.com/\nexample.com/');
  expect(at(80)).toContain(ITEMS[0]?.url);
});

test('colours do not move columns, and end with their text', () => {
  const rows = [
    [styled('succeeded', 'green'), 'a'],
    [styled('x', 'red'), 'b'],
  ];
  expect(table(rows, COLOURED)).toBe('\u001b[32msucceeded\u001b[0m  a\n\u001b[31mx\u001b[0m          b');
});

test('columns stay aligned with wide characters', () => {
  expect(
    table([
      ['東京', 'a'],
      ['x', 'b'],
    ]),
  ).toBe('東京  a\nx     b');
});

test('a cell is always one line without control characters', () => {
  expect(table([['a\u001b[2J\nb', 'c']])).toBe('a[2J b  c');
  expect(fields([['name', styled('v\u0007\r\nalue', 'red')]], PLAIN)).toBe('name  v alue');
});
