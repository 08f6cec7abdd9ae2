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

  close(): void {
    this.#db.close();
  }
}
