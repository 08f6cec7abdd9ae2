/** The engine waits for the same disk, so the stats of an hour are never removed all at once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { oldestStats, pruneStats, type StatsRetentionDependencies } from '#src/store/sql/stats-retention.ts';
import { migrate, openForReading, openForWriting } from './connection.ts';
import { SqliteReader } from './prepared-queries.ts';
import { forSqlite, indexedBy } from './statement-builders.ts';
import { STATEMENTS } from './statements.ts';

const directory = mkdtempSync(join(tmpdir(), 'sched-retention-'));
const path = join(directory, 'sched.db');
const db = openForWriting(path);
migrate(db, instant(0));
const reader = openForReading(path);
afterAll(() => {
  reader.close();
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

test('endpoint stats are removed a limited number of rows at a time', async () => {
  db.exec(`INSERT INTO projects (id, name, pinned_version, created_at) VALUES ('prj_1', 'one', 'v1', 0);
    INSERT INTO partitions (partition, project_id, mode) VALUES (1, 'prj_1', 'live');
    WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 999)
      INSERT INTO endpoint_stats SELECT 1, printf('%032x', n * 7919 % 1000), 0, 'a', 'https://example.com/', '[1]' FROM n`);
  const removed: number[] = [];
  const dependencies: StatsRetentionDependencies = {
    reader: new SqliteReader(reader),
    oldest: oldestStats(indexedBy),
    writer: {
      run: async () => 'done',
      runAll: async (verbs) => {
        let rows = 0;
        for (const [name, , ...parameters] of verbs.flat()) {
          rows += db.prepare(forSqlite(STATEMENTS[name].sql)).run(...parameters).changes;
        }
        if (verbs.length > 0) removed.push(rows);
        return verbs.map(() => 'done');
      },
    },
  };
  while (await pruneStats(dependencies, instant(1), instant(1)));
  expect(removed).toEqual(Array.from({ length: 20 }, () => 50));
});
