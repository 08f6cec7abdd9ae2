/** Rows of bulk replays. The columns are in the order in which statements take their values. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ReplayFilter, ReplayItem, ReplayJob, ReplayJobState } from '#src/domain/replay-job.ts';

export interface ReplayJobRow {
  readonly partition: Partition;
  readonly id: JobId;
  readonly state: ReplayJobState;
  readonly filter: string;
  readonly cursor: DeliveryId | null;
  readonly gathered: number;
  readonly replayed: number;
  readonly skipped: number;
  readonly expected: number;
  readonly created_by: string;
  readonly created_at: Instant;
  readonly updated_at: Instant;
  readonly ended_at: Instant | null;
  readonly runner: string | null;
  readonly lease_until: Instant | null;
  readonly revision: number;
}

export const REPLAY_JOB_FIXED = [
  'partition',
  'id',
  'filter',
  'expected',
  'created_by',
  'created_at',
] as const satisfies readonly (keyof ReplayJobRow)[];

export const REPLAY_JOB_MUTABLE = [
  'state',
  'cursor',
  'gathered',
  'replayed',
  'skipped',
  'updated_at',
  'ended_at',
  'runner',
  'lease_until',
  'revision',
] as const satisfies readonly (keyof ReplayJobRow)[];

/** An item is looked up by this key. `endpoint` repeats the endpoint of the digest in full. */
export const REPLAY_ITEM_KEY = ['partition', 'job_id', 'endpoint_digest', 'delivery_id'] as const;
export const REPLAY_ITEM = [...REPLAY_ITEM_KEY, 'endpoint'] as const;

export function toReplayJobRow(job: ReplayJob): ReplayJobRow {
  return {
    partition: job.partition,
    id: job.id,
    state: job.state,
    filter: JSON.stringify(job.filter),
    cursor: job.cursor,
    gathered: job.gathered,
    replayed: job.replayed,
    skipped: job.skipped,
    expected: job.expected,
    created_by: job.createdBy,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
    ended_at: job.endedAt,
    runner: job.runner,
    lease_until: job.leaseUntil,
    revision: job.revision,
  };
}

export function fromReplayJobRow(row: ReplayJobRow): ReplayJob {
  return {
    partition: row.partition,
    id: row.id,
    state: row.state,
    filter: JSON.parse(row.filter) as ReplayFilter,
    cursor: row.cursor,
    gathered: row.gathered,
    replayed: row.replayed,
    skipped: row.skipped,
    expected: row.expected,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
    runner: row.runner,
    leaseUntil: row.lease_until,
    revision: row.revision,
  };
}

export interface ReplayItemRow {
  readonly delivery_id: DeliveryId;
  readonly endpoint: EndpointKey;
}

export function fromReplayItemRow({ delivery_id, endpoint }: ReplayItemRow): ReplayItem {
  return { deliveryId: delivery_id, endpoint };
}
