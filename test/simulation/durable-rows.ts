/**
 * Reads the rows of the store's tables over a connection of its own. The connection outlives every simulated
 * process, so a crash leaves the database log as it was.
 */
import { join } from 'node:path';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { LIST_ATTEMPTS, toAttempt } from '#src/store/sql/attempt-rows.ts';
import { profileIn } from '#src/store/sql/joined-rows.ts';
import type { Row } from '#src/store/sql/mapping.ts';
import { objectTexts } from '#src/store/sql/reads.ts';
import { DELIVERY, SCHEDULE } from '#src/store/sql/rows.ts';
import { SWEEP } from '#src/store/sql/sweep-rows.ts';
import { type Db, openForReading } from '#src/store/sqlite/connection.ts';
import { DATABASE_FILE } from '#src/store/sqlite/open-sqlite.ts';
import { PreparedQueries } from '#src/store/sqlite/prepared-queries.ts';
import { SYNTAX } from '#src/store/sqlite/syntax.ts';

const { profile: PROFILE } = objectTexts(SYNTAX.longText);
/** SQLite takes a negative limit for none. */
const ALL = -1;
const PAYLOAD_VERSIONS = `
  SELECT version, 0 AS isEarlier, NULL AS checkAt FROM payloads WHERE partition = ? AND schedule_id = ?
  UNION ALL SELECT version, 1, check_at FROM earlier_payloads WHERE partition = ? AND schedule_id = ?`;

const RESPONSE = `SELECT status_code AS statusCode, is_truncated AS isTruncated FROM attempt_responses
  WHERE partition = ? AND delivery_id = ? AND attempt_no = ?`;

/** The beginning of an answer, without the bytes, which are sealed. */
export interface StoredResponse {
  readonly statusCode: number;
  readonly isTruncated: 0 | 1;
}

/** A version of a schedule's payload. */
export interface StoredVersion {
  readonly version: number;
  readonly isEarlier: boolean;
  /** When it is looked at again. Null until a delivery that names it is removed, and for the present version. */
  readonly checkAt: number | null;
}

interface VersionRow extends Omit<StoredVersion, 'isEarlier'> {
  readonly isEarlier: 0 | 1;
}

export interface StoredName {
  readonly partition: Partition;
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

export class DurableRows {
  readonly #db: Db;
  readonly #ask: PreparedQueries;

  constructor(directory: string) {
    this.#db = openForReading(join(directory, DATABASE_FILE));
    this.#ask = new PreparedQueries(this.#db);
  }

  /** Everything that `read` reads comes from one snapshot. */
  inSnapshot<T>(read: () => T): T {
    return this.#ask.inSnapshot(read);
  }

  schedule(partition: Partition, id: ScheduleId): Schedule | null {
    const sql = 'SELECT * FROM schedules WHERE partition = ? AND id = ?';
    const row = this.#ask.get<Row>(sql, partition, id);
    return row === undefined ? null : SCHEDULE.from(row);
  }

  sweep(partition: Partition, id: ScheduleId): UnfinishedSweep | null {
    const sql = 'SELECT * FROM sweeps WHERE partition = ? AND schedule_id = ?';
    const row = this.#ask.get<Row>(sql, partition, id);
    return row === undefined ? null : SWEEP.from(row);
  }

  delivery(partition: Partition, id: DeliveryId): Delivery | null {
    const sql = 'SELECT * FROM deliveries WHERE partition = ? AND id = ?';
    const row = this.#ask.get<Row>(sql, partition, id);
    return row === undefined ? null : DELIVERY.from(row);
  }

  attempts(partition: Partition, id: DeliveryId): readonly Attempt[] {
    const after = [partition, id, 0];
    const rows = this.#ask.all<Row>(LIST_ATTEMPTS, ...after, ...after, ALL);
    return rows.map(toAttempt);
  }

  profile(partition: Partition, id: EndpointId): EndpointProfile | null {
    const row = this.#ask.get<Row>(PROFILE, partition, partition, id);
    return row === undefined ? null : profileIn(row);
  }

  /** What is kept of the answer to an attempt; null where nothing is. */
  response(partition: Partition, id: DeliveryId, attemptNo: number): StoredResponse | null {
    const found = this.#ask.get<StoredResponse>(RESPONSE, partition, id, attemptNo);
    return found ?? null;
  }

  payloadVersions(partition: Partition, id: ScheduleId): readonly StoredVersion[] {
    const rows = this.#ask.all<VersionRow>(PAYLOAD_VERSIONS, partition, id, partition, id);
    return rows.map((row) => ({ ...row, isEarlier: row.isEarlier === 1 }));
  }

  names(): readonly StoredName[] {
    return this.#ask.all<StoredName>('SELECT partition, kind, name, id FROM names');
  }

  close(): void {
    this.#db.close();
  }
}
