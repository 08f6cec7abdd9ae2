import { expect, test } from 'vitest';
import { forSqlite } from './statement-builders.ts';

test('parameters lose their numbers, and a lock clause is dropped', () => {
  expect(forSqlite('SELECT id FROM deliveries WHERE partition = $1 AND id = $2 FOR UPDATE')).toBe(
    'SELECT id FROM deliveries WHERE partition = ? AND id = ?',
  );
});

test('a limit is a sum, so that SQLite does not prepare the statement again for every run', () => {
  expect(forSqlite('SELECT id FROM (SELECT id FROM schedules LIMIT $1) LIMIT $2')).toBe(
    'SELECT id FROM (SELECT id FROM schedules LIMIT ? + 0) LIMIT ? + 0',
  );
});
