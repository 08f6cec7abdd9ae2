/** What the database says, read from beside the service: the other side of every comparison. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { DATABASE_FILE } from '#test/fuzz/audit.ts';
import type { AttemptRow, DeliveryRow, ScheduleRow } from '../promises.ts';

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

const LOOK_EVERY_MS = 50;
/** Looking must not become the load: it may take this part of the time. */
const LOOK_SHARE = 1 / 50;

function reading<T>(dataDir: string, read: (db: Database.Database) => T): T {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

export function readStored(dataDir: string): Stored {
  return reading(dataDir, (db) => {
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
  return reading(dataDir, (db) => Number(db.prepare(sql).pluck().get()));
}

/** Everything but the occurrence that a recurring schedule always has before it. */
export const UNFINISHED = `deliveries.status IN ('claimed', 'retry_scheduled', 'scheduled', 'paused')
  AND NOT (kind = 'recurring' AND deliveries.status = 'scheduled')`;

export const CLAIMED = "deliveries.status = 'claimed'";

/** Waits until no delivery is like this; gives the ms it took. */
export async function noneLeft(dataDir: string, condition: string, patienceMs: number): Promise<number> {
  const start = performance.now();
  for (;;) {
    const lookedAt = performance.now();
    const left = countWhere(dataDir, condition);
    const lookMs = performance.now() - lookedAt;
    const tookMs = performance.now() - start;
    if (left === 0) return tookMs;
    if (tookMs > patienceMs)
      throw new Error(`${left} deliveries are left after ${patienceMs} ms: ${condition}`);
    await sleep(Math.max(LOOK_EVERY_MS, lookMs / LOOK_SHARE));
  }
}
