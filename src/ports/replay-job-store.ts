/**
 * Bulk replays. A job first gathers what it is to replay, item by item, then makes the replays at the pace of each
 * endpoint's retry budget. Every step is one transaction that moves the job and what it is about together: stopped
 * or killed at any moment, it goes on where it was, and makes no replay twice.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';

/** An item, and the replay that was made of it; null for one that is passed over. */
export interface ItemReplay {
  readonly item: ReplayItem;
  readonly replay: Delivery | null;
}

export interface ReplayJobStore {
  /** `stale`: the partition has an open job that was not known, so it has to be decided again. */
  addJob(job: ReplayJob, knownOpen: readonly JobId[]): Promise<'done' | 'stale'>;
  findJob(partition: Partition, id: JobId): Promise<ReplayJob | null>;
  /** Newest first. */
  listJobs(partition: Partition, limit: number): Promise<readonly ReplayJob[]>;
  /** Those that are gathering or running, oldest first; of every partition, where none is named. */
  listOpenJobs(partition: Partition | null, limit: number): Promise<readonly ReplayJob[]>;
  /** The job as it shall be, guarded by its revision. */
  replaceJob(job: ReplayJob): Promise<'done' | 'stale'>;
  /** Adds the items and moves the job. */
  gather(job: ReplayJob, items: readonly ReplayItem[]): Promise<'done' | 'stale'>;
  /** The endpoints that items are left for, in an order of the store's own: those after the given one. */
  listItemEndpoints(
    partition: Partition,
    id: JobId,
    after: EndpointKey | null,
    limit: number,
  ): Promise<readonly EndpointKey[]>;
  /** The next items of an endpoint, oldest first. */
  listItems(
    partition: Partition,
    id: JobId,
    endpoint: EndpointKey,
    limit: number,
  ): Promise<readonly ReplayItem[]>;
  /**
   * Takes the items away, adds their replays and moves the job. `stale`: the job has moved, an item is not there
   * any more, or retention took the schedule of a replay.
   */
  replayItems(job: ReplayJob, replays: readonly ItemReplay[]): Promise<'done' | 'stale'>;
  /**
   * Removes items of jobs that have ended (such a job has no cursor any more), then jobs that ended before, unless
   * these are kept for ever. Answers how many it removed: fewer than `limit`, and there is no more for now.
   */
  pruneJobs(endedBefore: Instant | null, limit: number): Promise<number>;
}
