/** Where too much waits to look at all of it, a list of what is coming does not claim to be whole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import { Builders, START } from '#src/store/contract/builders.ts';
import { OWN_WAITING_ROWS_MAX, UPCOMING_ROWS_MAX } from '#src/store/sql/insight-bounds.ts';
import { toDeliveryRow } from '#src/store/sql/rows.ts';
import { migrate, openForWriting } from './connection.ts';
import { InsightReads } from './insight-reads.ts';

const directory = mkdtempSync(join(tmpdir(), 'sched-bounds-'));
const db = openForWriting(join(directory, 'bounds.db'));
migrate(db, START);
afterAll(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

const OWN = 1 as Partition;
const OTHERS = 2 as Partition;
const HOUR_MS = 3_600_000;
const UNTIL = instant(START + HOUR_MS);

const builders = new Builders(OWN);

function addWaiting(partition: Partition, count: number, dueAt: number): void {
  const row = { ...toDeliveryRow(builders.schedule().pending), partition, due_at: dueAt };
  const columns = Object.keys(row);
  const differing = new Map([
    ['id', '@id || n'],
    ['occurrence', '@occurrence + n'],
  ]);
  const values = columns.map((column) => differing.get(column) ?? `@${column}`);
  db.prepare(
    `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count})
     INSERT INTO deliveries (${columns.join(', ')}) SELECT ${values.join(', ')} FROM n`,
  ).run(row);
}

test('what lies behind too much of others is told from what is not there', () => {
  const reads = new InsightReads(db);
  addWaiting(OTHERS, UPCOMING_ROWS_MAX, START + 1);
  addWaiting(OWN, OWN_WAITING_ROWS_MAX - 1, UNTIL + HOUR_MS);
  expect(reads.upcoming(OWN, START, UNTIL, 10)).toEqual({ found: [], isComplete: true });
  addWaiting(OWN, 1, START + 2);
  expect(reads.upcoming(OWN, START, UNTIL, 10)).toEqual({ found: [], isComplete: false });
});
