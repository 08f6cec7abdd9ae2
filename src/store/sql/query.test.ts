import { expect, test } from 'vitest';
import { joined, raw, sql } from './query.ts';

test('a value is always a parameter, also a text that looks like SQL', () => {
  const evil = "'; DROP TABLE schedules; --";
  expect(sql`SELECT ${raw('id')} FROM t WHERE a = ${evil} AND b = ${null}`).toEqual({
    sql: 'SELECT id FROM t WHERE a = $1 AND b = $2',
    parameters: [evil, null],
  });
});

test('parameters of a part are counted on from those before it', () => {
  const part = sql`b = ${2} OR b = ${new Uint8Array([3])}`;
  expect(sql`a = ${1} AND (${part}) AND c = ${['x', 'y']}`).toEqual({
    sql: 'a = $1 AND (b = $2 OR b = $3) AND c = $4',
    parameters: [1, 2, new Uint8Array([3]), ['x', 'y']],
  });
  const many = joined(
    Array.from({ length: 12 }, (_, index) => sql`SELECT ${index}`),
    ' UNION ALL ',
  );
  expect(many.sql.endsWith('SELECT $11 UNION ALL SELECT $12')).toBe(true);
  expect(many.parameters).toHaveLength(12);
});
