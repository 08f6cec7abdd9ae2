/**
 * Bounded scans of lists, newest first. A filter may accept several states or statuses. Each is one range of an index,
 * and the ranges are merged, so one index serves every combination.
 */
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Label } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { DeliveryFilter, ScheduleFilter } from '#src/ports/store.ts';
import type { Scan, Syntax } from './dialect.ts';
import { labelBytes } from './digests.ts';
import { rangesOf } from './label-rows.ts';
import { idsAfter, idsBefore, PAST_EVERY_ID } from './page-bounds.ts';
import { joined, type Query, raw, sql } from './query.ts';

/** Schedules of the table `s`. */
export function scheduleScans(
  { indexedBy, ofState }: Syntax,
  columns: Query,
  partition: Partition,
  filter: Pick<ScheduleFilter, 'state' | 'kind'>,
  before: ScheduleId | null,
): readonly Scan[] {
  const start = before ?? PAST_EVERY_ID;
  const scan = (index: string, condition: Query, order: string): Scan => ({
    rows: sql`SELECT ${columns} FROM schedules s ${raw(index)} WHERE s.partition = ${partition} AND ${condition}`,
    order,
  });
  if (filter.state === null && filter.kind === null) return [scan('', sql`s.id < ${start}`, 's.id')];
  return rangesOf(filter).map(([state, kind]) => {
    const { condition, order } = ofState(state, kind, start);
    return scan(indexedBy('schedules_by_state'), condition, order);
  });
}

/** The rows of a label, which repeat the state and the kind of the schedule. */
export function labelScans(
  label: Label,
  partition: Partition,
  filter: Pick<ScheduleFilter, 'state' | 'kind'>,
  before: ScheduleId | null,
): readonly Scan[] {
  return rangesOf(filter).map(([state, kind]) => ({
    rows: sql`SELECT schedule_id AS id, state, kind FROM schedule_labels
      WHERE partition = ${partition} AND digest = ${labelBytes(...label)} AND state = ${state} AND kind = ${kind}
        AND schedule_id < ${before ?? PAST_EVERY_ID}`,
    order: 'schedule_id',
  }));
}

/** Joins the rows `l` of a label with their schedules. The empty text keeps the planner from scanning schedules. */
export function schedulesOf(partition: Partition): Query {
  return sql`LEFT JOIN schedules s ON s.partition = ${partition} AND s.id = l.id || ''`;
}

export function deliveryScans(
  { indexedBy, ofStatus }: Syntax,
  columns: Query,
  partition: Partition,
  { status, scheduleId, createdAfter, createdBefore }: DeliveryFilter,
  before: DeliveryId | null,
): readonly Scan[] {
  const from = idsAfter(createdAfter);
  const end = idsBefore(createdBefore, before);
  const scan = (index: string, condition: Query, order = 'id'): Scan => ({
    rows: sql`SELECT ${columns} FROM deliveries ${raw(index)} WHERE partition = ${partition} AND ${condition}`,
    order,
  });
  if (scheduleId !== null) {
    return DELIVERY_STATUSES.filter((one) => status === null || one === status).map((one) =>
      scan(
        indexedBy('deliveries_of_schedule'),
        sql`schedule_id = ${scheduleId} AND status = ${one} AND id >= ${from} AND id < ${end}`,
      ),
    );
  }
  if (status === null) return [scan('', sql`id >= ${from} AND id < ${end}`)];
  const { condition, order } = ofStatus(status, from, end);
  return [scan(indexedBy('deliveries_by_status'), condition, order)];
}

/** The first rows of each scan, one scan after another. */
export function firstOfEach(scans: readonly Scan[], limit: number): Query {
  return joined(
    scans.map(({ rows, order }) => sql`SELECT * FROM (${rows} ORDER BY ${raw(order)} DESC LIMIT ${limit}) a`),
    ' UNION ALL ',
  );
}
