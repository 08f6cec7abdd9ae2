/**
 * Bulk replays. A job first gathers what it is to replay, item by item, then makes the replays at the pace of each
 * endpoint's retry budget. Every step is one transaction that moves the job and what it is about together: stopped
 * or killed at any moment, it goes on where it was, and makes no replay twice.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { DeliveryFilter } from './store.ts';

export const REPLAY_JOB_STATES = ['gathering', 'running', 'done', 'stopped'] as const;
export type ReplayJobState = (typeof REPLAY_JOB_STATES)[number];

export interface ReplayJob {
  readonly partition: Partition;
  readonly id: JobId;
  readonly state: ReplayJobState;
  /** `status` is one that can be replayed, `createdBefore` is set: what fails later is not part of it. */
  readonly filter: DeliveryFilter;
  /** Gathering: everything before this id is still to be looked at; null at the start. */
  readonly cursor: DeliveryId | null;
  /** Items gathered, replayed, and passed over because retention was faster. */
  readonly gathered: number;
  readonly replayed: number;
  readonly skipped: number;
  /** What the person confirmed. */
  readonly expected: number;
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly endedAt: Instant | null;
  /** Who works on it, until when others leave it alone. */
  readonly runner: string | null;
  readonly leaseUntil: Instant | null;
  readonly revision: number;
}

export interface ReplayItem {
  readonly deliveryId: DeliveryId;
  readonly endpoint: EndpointKey;
}

export interface ReplayJobStore {
  addJob(job: ReplayJob): Promise<void>;
  findJob(partition: Partition, id: JobId): Promise<ReplayJob | null>;
  /** Newest first. */
  listJobs(partition: Partition, limit: number): Promise<readonly ReplayJob[]>;
  /** Of every partition: those that are gathering or running. */
  listOpenJobs(limit: number): Promise<readonly ReplayJob[]>;
  /** The job as it shall be, guarded by its revision. */
  replaceJob(job: ReplayJob): Promise<'done' | 'stale'>;
  gather(job: ReplayJob, items: readonly ReplayItem[]): Promise<'done' | 'stale'>;
  /** The next items of an endpoint, and which endpoints there are. */
  listItemEndpoints(partition: Partition, id: JobId, limit: number): Promise<readonly EndpointKey[]>;
  listItems(
    partition: Partition,
    id: JobId,
    endpoint: EndpointKey,
    limit: number,
  ): Promise<readonly ReplayItem[]>;
  /** Takes the items away, adds their replays and moves the job. An item without a replay is skipped. */
  replayItems(
    job: ReplayJob,
    items: readonly { readonly item: ReplayItem; readonly replay: Delivery | null }[],
  ): Promise<'done' | 'stale'>;
  /** Removes items of jobs that have ended, and jobs that ended before; at most so many rows. */
  pruneJobs(endedBefore: Instant | null, limit: number): Promise<number>;
}
