/**
 * Makes a store look as it would after months: most deliveries have ended, some without success, others wait, and
 * there are stats of a month. The statements change a store in which all deliveries wait. SQLite and PostgreSQL both
 * accept them.
 *
 * Waiting deliveries are due in half an hour at the earliest, so that none is sent during the measurement.
 */
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { HOUR_MS, LATENESS_BOUNDS_MS, MINUTE_MS } from '../../src/domain/stats.ts';
import type { SchedStore } from '../sched/service.ts';
import { fileOf } from '../stored/filled-stores.ts';

const DAY_MS = 24 * HOUR_MS;
const DUE_AFTER_MS = 30 * MINUTE_MS;
const STATS_MINUTES = 7 * 24 * 60;
const STATS_HOURS = 30 * 24;
/** The last character of an id, which is one of 32, decides the status of a delivery. */
const ENDS: readonly (readonly [status: string, characters: string])[] = [
  ['dead_letter', '012'],
  ['expired', '3'],
  ['succeeded', '89abcdefghjkmnpqrstvwxyz'],
];
const ID_CHARACTERS = 30;

const FIRED = 500;
const SUCCEEDED = 470;
const RETRIED = 25;
const DEAD_LETTERED = 4;
const EXPIRED = 1;

export async function makeMixed(store: SchedStore, now: number): Promise<void> {
  const statements = statementsOf(now);
  if (store.kind === 'sqlite') {
    const db = new Database(fileOf(store.directory), { fileMustExist: true });
    try {
      for (const sql of statements) db.exec(sql);
      db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
    return;
  }
  const client = new Client({ connectionString: store.url });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

function statementsOf(now: number): readonly string[] {
  const last = `substr(id, ${ID_CHARACTERS}, 1)`;
  /** An offset within a day, which differs from row to row. */
  const spread = `(scheduled_for % ${DAY_MS})`;
  return [
    ...ENDS.map(
      ([status, characters]) => `UPDATE deliveries SET status = '${status}', due_at = NULL, attempt_count = 1,
        last_status_code = ${status === 'succeeded' ? 200 : 500},
        error = ${status === 'succeeded' ? 'NULL' : "'The destination answered 500.'"},
        finalized_at = ${now} - ${spread}
        WHERE ${last} IN (${characters
          .split('')
          .map((one) => `'${one}'`)
          .join(', ')})`,
    ),
    `UPDATE deliveries SET due_at = ${now + DUE_AFTER_MS} + ${spread}, scheduled_for = ${now + DUE_AFTER_MS} + ${spread}
      WHERE status = 'scheduled'`,
    `UPDATE schedules SET state = 'completed', ended_at = ${now}
      WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.partition = schedules.partition
        AND d.id = schedules.pending_id AND d.finalized_at IS NOT NULL)`,
    `INSERT INTO attempts (partition, delivery_id, attempt_no, id, outcome, status_code, due_at, fired_at,
        finished_at, egress_ms, error)
      SELECT partition, id, 1, 'att_' || substr(id, 5), CASE status WHEN 'succeeded' THEN 'success' ELSE 'terminal' END,
        last_status_code, finalized_at - 20, finalized_at - 18, finalized_at, 18, error
      FROM deliveries WHERE finalized_at IS NOT NULL`,
    stats(now, MINUTE_MS, STATS_MINUTES),
    stats(now, HOUR_MS, STATS_HOURS),
    `INSERT INTO endpoint_stats (partition, endpoint_digest, at, node, endpoint, counts)
      SELECT t.partition, 'bench' || e.one, t.at, t.node,
        'https://customer-' || e.one || '.example.com/hooks/reminders', t.counts
      FROM stats t CROSS JOIN (${series(200)}) AS e
      WHERE t.span_ms = ${HOUR_MS} AND t.at > ${now - 2 * DAY_MS}`,
  ];
}

function stats(now: number, spanMs: number, count: number): string {
  const first = Math.floor(now / spanMs) * spanMs;
  const classes = [...LATENESS_BOUNDS_MS, 0].map((_, at) => (at < 3 ? Math.floor(FIRED / 3) : 0));
  const counts = JSON.stringify([FIRED, SUCCEEDED, DEAD_LETTERED, EXPIRED, RETRIED, ...classes]);
  return `INSERT INTO stats (partition, span_ms, at, node, counts)
    SELECT (SELECT min(partition) FROM deliveries), ${spanMs}, ${first} - n.one * CAST(${spanMs} AS bigint), 'bench', '${counts}'
    FROM (${series(count)}) AS n`;
}

/** A query for the numbers from 0 on, in the column `one`. */
function series(count: number): string {
  return `WITH RECURSIVE counting (one) AS (
    SELECT 0 UNION ALL SELECT one + 1 FROM counting WHERE one < ${count - 1}
  ) SELECT one FROM counting`;
}
