import { describe, expect, test } from 'vitest';
import { SHARED_STATEMENTS } from './statements.ts';

const LOCK = / FOR (NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)/;

describe.for(Object.entries(SHARED_STATEMENTS))('the shared statement %s', ([, { sql, holds }]) => {
  test('uses each parameter once and in order, so SQLite can take question marks', () => {
    const used = [...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
    expect(used).toEqual(used.map((_, index) => index + 1));
  });

  test('has a lock clause only at its end, where SQLite drops it', () => {
    expect(sql.replace(new RegExp(`${LOCK.source}$`), '')).not.toMatch(LOCK);
  });

  test('finds rows if it holds only without a row', () => {
    if (holds === 'no_row') expect(sql).toMatch(/^SELECT /);
  });
});
