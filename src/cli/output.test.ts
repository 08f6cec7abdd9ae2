import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { instantOr, table } from './output.ts';

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
