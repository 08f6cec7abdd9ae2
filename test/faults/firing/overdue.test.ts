import { expect, test } from 'vitest';
import { shown } from './numbers.ts';
import { runOverdue } from './overdue.ts';

const OVERDUE = 1_000;

test('what came due during a downtime is worked off, occurrences do not pile up', async () => {
  const report = await runOverdue({ overdue: OVERDUE, endpoints: 20, seed: 3 });
  const { faults, figures, expiredUnsent, occurrencesMax, fresh } = report;
  console.log(`${OVERDUE} in ${report.drainedMs} ms, fresh ones claimed late by ${shown(fresh.claimed)}`);
  expect(faults).toEqual([]);
  expect(figures).toMatchObject({ lost: 0, interrupted: 0, doubles: 0, expired: expiredUnsent });
  expect(expiredUnsent).toBeGreaterThan(0);
  // The pending one, and one more where a minute begins meanwhile.
  expect(occurrencesMax).toBeLessThanOrEqual(2);
});
