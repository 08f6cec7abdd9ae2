/**
 * Bounded scans of lists, newest first. A filter may accept several states or statuses. Each is one range of an index,
 * and the ranges are merged, so one index serves every combination.
 */
import { ATTEMPT_OUTCOMES, DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { LabelDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { AttemptFilter, AttemptPosition, DeliveryFilter, ScheduleFilter } from '#src/ports/lists.ts';
import type { Scan, Syntax } from './dialect.ts';
import { digestBytes } from './digests.ts';
import { rangesOf } from './label-rows.ts';
import { idsAfter, idsBefore, PAST_EVERY_ATTEMPT, PAST_EVERY_ID } from './page-bounds.ts';
import { joined, type Query, raw, sql } from './query.ts';

export const NEWEST_FIRST = 'id DESC';
/** The order of attempts that ended. */
export const LAST_ENDED_FIRST = 'finished_at DESC, id DESC';

/** Schedules of the table `s`. */
export function scheduleScans(
  { indexedBy, ofState }: Syntax,
  columns: Query,
  partition: Partition,
  { endpointId = null, ...filter }: Pick<ScheduleFilter, 'state' | 'kind' | 'endpointId'>,
  before: ScheduleId | null,
): readonly Scan[] {
  const start = before ?? PAST_EVERY_ID;
  const scan = (index: string, condition: Query, order: string): Scan => ({
    rows: sql`SELECT ${columns} FROM schedules s ${raw(index)} WHERE s.partition = ${partition} AND ${condition}`,
    order,
  });
  if (endpointId === null && filter.state === null && filter.kind === null)
    return [scan('', sql`s.id < ${start}`, 's.id DESC')];
  const index = indexedBy(endpointId === null ? 'schedules_by_state' : 'schedules_of_endpoint');
  return rangesOf(filter).map(([state, kind]) => {
    const { condition, order } = ofState(state, kind, start, endpointId);
    return scan(index, condition, order);
  });
}

/** The rows of a label or a name, which repeat the state and the kind of the schedule. */
export function labelScans(
  digest: LabelDigest,
  partition: Partition,
  filter: Pick<ScheduleFilter, 'state' | 'kind'>,
  before: ScheduleId | null,
): readonly Scan[] {
  return rangesOf(filter).map(([state, kind]) => ({
    rows: sql`SELECT schedule_id AS id, state, kind FROM schedule_labels
      WHERE partition = ${partition} AND digest = ${digestBytes(digest)} AND state = ${state} AND kind = ${kind}
        AND schedule_id < ${before ?? PAST_EVERY_ID}`,
    order: 'schedule_id DESC',
  }));
}

/** Joins the rows `l` of a label with their schedules. The empty text keeps the planner from scanning schedules. */
export function schedulesOf(partition: Partition): Query {
  return sql`LEFT JOIN schedules s ON s.partition = ${partition} AND s.id = l.id || ''`;
}

/** The delivery that those of this filter were made from. A replay of a notification was made from two. */
function originOf({ replayOf = null, notificationOf = null }: DeliveryFilter) {
  if (replayOf !== null) return { column: 'replay_of', id: replayOf, index: 'deliveries_replays' } as const;
  if (notificationOf === null) return null;
  return { column: 'notification_of', id: notificationOf, index: 'deliveries_notifications' } as const;
}

/** Follows the index of the origin, else that of the schedule, else that of the profile, else that of the status. */
export function deliveryScans(
  { indexedBy, ofStatus, ofOrigin }: Syntax,
  columns: Query,
  partition: Partition,
  filter: DeliveryFilter,
  before: DeliveryId | null,
): readonly Scan[] {
  const { status, scheduleId, endpointId = null, createdAfter, createdBefore } = filter;
  const origin = originOf(filter);
  const from = idsAfter(createdAfter);
  const end = idsBefore(createdBefore, before);
  const statuses = DELIVERY_STATUSES.filter((one) => status === null || one === status);
  const scan = (index: string, condition: Query, order = NEWEST_FIRST): Scan => ({
    rows: sql`SELECT ${columns} FROM deliveries ${raw(index && indexedBy(index))}
      WHERE partition = ${partition} AND ${condition}`,
    order,
  });
  if (origin !== null) {
    const { condition, order } = ofOrigin(origin.column, origin.id, from, end);
    return [scan(origin.index, condition, order)];
  }
  if (scheduleId !== null) {
    return statuses.map((one) =>
      scan(
        'deliveries_of_schedule',
        sql`schedule_id = ${scheduleId} AND status = ${one} AND id >= ${from} AND id < ${end}`,
      ),
    );
  }
  if (status === null && endpointId === null) return [scan('', sql`id >= ${from} AND id < ${end}`)];
  return statuses.map((one) => {
    const { condition, order } = ofStatus(one, from, end, endpointId);
    return scan(endpointId === null ? 'deliveries_by_status' : 'deliveries_of_endpoint', condition, order);
  });
}

/** The conditions that the index of the scans does not cover. A filter with an index has none. */
export function uncoveredBy(filter: DeliveryFilter): Query {
  const { status, scheduleId, endpointId = null, notificationOf = null } = filter;
  const origin = originOf(filter);
  const rest = [
    origin?.column === 'replay_of' && notificationOf !== null
      ? sql`notification_of = ${notificationOf}`
      : null,
    origin !== null && scheduleId !== null ? sql`schedule_id = ${scheduleId}` : null,
    (origin !== null || scheduleId !== null) && endpointId !== null ? sql`endpoint_id = ${endpointId}` : null,
    origin !== null && status !== null ? sql`status = ${status}` : null,
  ];
  return joined([raw('true'), ...rest.filter((one) => one !== null)], ' AND ');
}

/** Attempts that ended, by their key and their position. */
export function attemptScans(
  { indexedBy, ofOutcome }: Syntax,
  partition: Partition,
  { outcome, endpointId }: AttemptFilter,
  before: AttemptPosition | null,
): readonly Scan[] {
  const index = indexedBy(endpointId === null ? 'attempts_by_time' : 'attempts_of_endpoint');
  const { finishedAt, id } = before ?? PAST_EVERY_ATTEMPT;
  return ATTEMPT_OUTCOMES.filter((one) => outcome === null || one === outcome).map((one) => ({
    rows: sql`SELECT delivery_id, attempt_no, finished_at, id FROM attempts ${raw(index)}
      WHERE partition = ${partition} AND ${ofOutcome(one, endpointId)}
        AND (finished_at, id) < (${finishedAt}, ${id})`,
    order: LAST_ENDED_FIRST,
  }));
}

/** Attempts that ended in a span of time, with both ends, in the order in which they ended. */
export function attemptsEnding(
  { indexedBy, ofOutcome }: Syntax,
  partition: Partition,
  from: Instant,
  until: Instant,
): readonly Scan[] {
  return ATTEMPT_OUTCOMES.map((outcome) => ({
    rows: sql`SELECT id, delivery_id FROM attempts ${raw(indexedBy('attempts_by_time'))}
      WHERE partition = ${partition} AND ${ofOutcome(outcome, null)}
        AND finished_at >= ${from} AND finished_at <= ${until}`,
    order: 'finished_at, id',
  }));
}

/** The first rows of each scan, one scan after another. */
export function firstOfEach(scans: readonly Scan[], limit: number): Query {
  return joined(
    scans.map(({ rows, order }) => sql`SELECT * FROM (${rows} ORDER BY ${raw(order)} LIMIT ${limit}) a`),
    ' UNION ALL ',
  );
}
