import { expect, test } from 'vitest';
import { formatSpread } from './numbers.ts';
import { runOverdue } from './overdue.ts';

/** More than the first scan reads. */
const OVERDUE = 600;

test('deliveries that came due during a downtime are sent, and occurrences do not pile up', async () => {
  const report = await runOverdue({ overdue: OVERDUE, endpoints: 20, seed: 3, inThread: true });
  const { faults, figures, expiredUnsent, occurrencesMax, fresh } = report;
  console.log(
    `${OVERDUE} in ${report.drainedMs} ms, fresh ones claimed late by ${formatSpread(fresh.claimed)}`,
  );
  expect(faults).toEqual([]);
  expect(figures).toMatchObject({ lost: 0, interrupted: 0, duplicates: 0, expired: expiredUnsent });
  expect(expiredUnsent).toBeGreaterThan(0);
  // The pending occurrence, and one more when a minute begins in the meantime.
  expect(occurrencesMax).toBeLessThanOrEqual(2);
});
