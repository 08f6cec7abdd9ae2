/**
 * Finds rows that are old enough to be removed. A page of candidates is read, and each is removed only if its
 * revision is still the one that was read. A row that has changed in between is kept.
 *
 * A schedule is removed after its deliveries, and a delivery after its notification has ended. A schedule that ended
 * long ago may still have some, for example a replay. Such a schedule is skipped, and the next page begins after it, so
 * a page costs the same however many there are. The cursor is kept until the scan has reached the end. So it is with a
 * delivery whose notification waits.
 */
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant, MS_PER_DAY } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { SCHEDULE_TRANSITIONS } from '#src/domain/schedule-lifecycle.ts';
import type { Prunable } from '#src/ports/store.ts';
import type { SqlReader } from './dialect.ts';
import { type ConditionSyntax, isTold } from './hot-statements.ts';
import { type PayloadUse, payloadUse } from './payload-versions.ts';
import { fromLabelDigests } from './rows.ts';
import type { Step } from './steps.ts';
import type { CheckedPayload, makeVerbs, RemovedDelivery } from './verbs.ts';

/** A version that may have a use is checked again after this time. */
const CHECK_AGAIN_MS = MS_PER_DAY;

const TERMINAL_STATUSES = listed(DELIVERY_STATUSES.filter(isTerminal));
const ENDED_STATES = listed(
  SCHEDULE_STATES.filter((state) => Object.keys(SCHEDULE_TRANSITIONS[state]).length === 0),
);

function listed(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}

/** How many rows were read, and the verbs that remove those that may go. */
export interface Removals {
  readonly scanned: number;
  readonly verbs: readonly (readonly Step[])[];
}

/** An earlier version of a payload. */
interface EarlierPayload extends CheckedPayload {
  readonly use: PayloadUse;
}

interface EndedSchedule extends Blockable {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly revision: number;
  readonly label_digests: string;
}

/** A row that may have to stay: a schedule with a delivery, or a delivery of which a notification has yet to tell. */
interface Blockable {
  readonly id: string;
  readonly ended_at: Instant;
  readonly is_free: boolean | number;
}

type Verbs = Pick<
  ReturnType<typeof makeVerbs>,
  | 'removeDelivery'
  | 'removeEarlierPayload'
  | 'keepEarlierPayload'
  | 'removeSchedule'
  | 'removeReceipt'
  | 'removeGate'
>;

/**
 * One query for each kind of row. It takes an instant and a number of rows; those for deliveries and schedules take a
 * cursor before.
 */
type RetentionQueries = Readonly<Record<Prunable, string>>;

export function retentionQueries(syntax: ConditionSyntax): RetentionQueries {
  const { indexedBy } = syntax;
  return {
    deliveries: `SELECT d.partition, d.id, d.revision, d.schedule_id, d.payload_version, d.finalized_at AS ended_at,
        ${isTold('d', syntax)} AS is_free
      FROM deliveries d ${indexedBy('deliveries_finalized')}
      WHERE (d.finalized_at, d.id) > ($1, $2) AND d.finalized_at < $3 AND d.status IN (${TERMINAL_STATUSES})
      ORDER BY d.finalized_at, d.id LIMIT $4`,
    payloads: `SELECT e.partition, e.schedule_id, e.version, e.last_id, e.check_at, ${payloadUse(indexedBy, {
      partition: 'e.partition',
      scheduleId: 'e.schedule_id',
      version: 'e.version',
      sinceId: 'e.since_id',
      lastId: 'e.last_id',
    })} AS use
      FROM earlier_payloads e ${indexedBy('earlier_payloads_to_check')}
      WHERE e.check_at <= $1 ORDER BY e.check_at LIMIT $2`,
    // The second condition on schedule_id is a range. With equality alone PostgreSQL may read all deliveries at once.
    schedules: `SELECT s.partition, s.id, s.revision, s.label_digests, s.ended_at,
        NOT EXISTS (SELECT 1 FROM deliveries d ${indexedBy('deliveries_of_schedule')}
          WHERE d.partition = s.partition AND d.schedule_id = s.id AND d.schedule_id >= s.id) AS is_free
      FROM schedules s ${indexedBy('schedules_ended')}
      WHERE (s.ended_at, s.id) > ($1, $2) AND s.ended_at < $3 AND s.state IN (${ENDED_STATES})
      ORDER BY s.ended_at, s.id LIMIT $4`,
    receipts: 'SELECT partition, key FROM receipts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2',
    gates: 'SELECT partition, endpoint FROM gates WHERE saved_at < $1 ORDER BY saved_at LIMIT $2',
  };
}

type Cursor = Pick<Blockable, 'id'> & { readonly ended_at: number };
const FROM_THE_START: Cursor = { ended_at: Number.MIN_SAFE_INTEGER, id: '' };

export class Retention {
  readonly #reader: SqlReader;
  readonly #queries: RetentionQueries;
  readonly #verbs: Verbs;
  readonly #cursors: Record<'deliveries' | 'schedules', Cursor> = {
    deliveries: FROM_THE_START,
    schedules: FROM_THE_START,
  };

  constructor(reader: SqlReader, syntax: ConditionSyntax, verbs: Verbs) {
    this.#reader = reader;
    this.#queries = retentionQueries(syntax);
    this.#verbs = verbs;
  }

  removals(what: Prunable, before: Instant, limit: number): Promise<Removals> {
    const { removeDelivery, removeSchedule, removeReceipt, removeGate } = this.#verbs;
    switch (what) {
      case 'deliveries':
        return this.#free<RemovedDelivery & Blockable>(what, before, limit, removeDelivery);
      case 'payloads':
        return this.#each<EarlierPayload>(what, before, limit, (payload) => this.#payload(payload, before));
      case 'schedules':
        return this.#free<EndedSchedule>(what, before, limit, (row) =>
          removeSchedule(row, fromLabelDigests(row.label_digests)),
        );
      case 'receipts':
        return this.#each<{ readonly partition: Partition; readonly key: string }>(
          what,
          before,
          limit,
          ({ partition, key }) => removeReceipt(partition, key, before),
        );
      case 'gates':
        return this.#each<{ readonly partition: Partition; readonly endpoint: EndpointKey }>(
          what,
          before,
          limit,
          ({ partition, endpoint }) => removeGate(partition, endpoint, before),
        );
    }
  }

  async #each<Row>(
    what: Prunable,
    before: Instant,
    limit: number,
    remove: (row: Row) => readonly Step[],
  ): Promise<Removals> {
    const rows = await this.#reader.query<Row>(this.#queries[what], before, limit);
    return { scanned: rows.length, verbs: rows.map((row) => remove(row)) };
  }

  #payload(payload: EarlierPayload, now: Instant): readonly Step[] {
    const { removeEarlierPayload, keepEarlierPayload } = this.#verbs;
    if (payload.use === 'none') return removeEarlierPayload(payload);
    return keepEarlierPayload(payload, payload.use === 'found' ? null : instant(now + CHECK_AGAIN_MS));
  }

  /** Removes the rows of the next page that need not stay. */
  async #free<Row extends Blockable>(
    what: 'deliveries' | 'schedules',
    before: Instant,
    limit: number,
    remove: (row: Row) => readonly Step[],
  ): Promise<Removals> {
    const { ended_at, id } = this.#cursors[what];
    const rows = await this.#reader.query<Row>(this.#queries[what], ended_at, id, before, limit);
    const last = rows.at(-1);
    this.#cursors[what] = last === undefined || rows.length < limit ? FROM_THE_START : last;
    return {
      scanned: rows.length,
      verbs: rows.filter((row) => Boolean(row.is_free)).map((row) => remove(row)),
    };
  }
}
