/** Reads the database directly, without the service. The audits compare it with the receiver's ledger. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { AttemptRow, DeliveryRow, ScheduleRow } from '#test/faults/promises.ts';
import { DATABASE_FILE } from '#test/fuzz/audit.ts';

export interface StoredDelivery extends DeliveryRow {
  readonly due_at: number | null;
  readonly deadline: number | null;
  readonly finalized_at: number | null;
}

export interface Stored {
  readonly schedules: readonly ScheduleRow[];
  readonly deliveries: readonly StoredDelivery[];
  readonly attempts: readonly AttemptRow[];
}

const POLL_EVERY_MS = 50;
/** Polling must not become the load, so it may take only this part of the time. */
const POLL_TIME_SHARE = 1 / 50;

function readDatabase<T>(dataDir: string, read: (db: Database.Database) => T): T {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

export function readStored(dataDir: string): Stored {
  return readDatabase(dataDir, (db) => {
    db.exec('BEGIN');
    return {
      schedules: db.prepare<[], ScheduleRow>('SELECT * FROM schedules').all(),
      deliveries: db.prepare<[], StoredDelivery>('SELECT * FROM deliveries ORDER BY id').all(),
      attempts: db.prepare<[], AttemptRow>('SELECT * FROM attempts ORDER BY delivery_id, attempt_no').all(),
    };
  });
}

export function countWhere(dataDir: string, condition: string): number {
  const sql = `SELECT count(*) FROM deliveries JOIN schedules
    ON schedules.partition = deliveries.partition AND schedules.id = deliveries.schedule_id
    WHERE ${condition}`;
  return readDatabase(dataDir, (db) => Number(db.prepare(sql).pluck().get()));
}

/** Deliveries that have not ended, without the next occurrence that a recurring schedule always has. */
export const UNFINISHED = `deliveries.status IN ('claimed', 'retry_scheduled', 'scheduled', 'paused')
  AND NOT (kind = 'recurring' AND deliveries.status = 'scheduled')`;

export const CLAIMED = "deliveries.status = 'claimed'";

/** Waits until no delivery matches. Returns the milliseconds that it took. */
export async function waitUntilNone(dataDir: string, condition: string, timeoutMs: number): Promise<number> {
  const start = performance.now();
  for (;;) {
    const polledAt = performance.now();
    const left = countWhere(dataDir, condition);
    const pollMs = performance.now() - polledAt;
    const tookMs = performance.now() - start;
    if (left === 0) return tookMs;
    if (tookMs > timeoutMs)
      throw new Error(`${left} deliveries are left after ${timeoutMs} ms: ${condition}`);
    await sleep(Math.max(POLL_EVERY_MS, pollMs / POLL_TIME_SHARE));
  }
}
