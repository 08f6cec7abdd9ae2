/**
 * Stores bulk replays. A job first gathers its items, then creates the replays at the rate of each endpoint's retry
 * budget. Each step is one transaction that changes the job and its items together. A job that is stopped or killed
 * continues where it was, and never creates a replay twice.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';

/** An item with its replay; null for an item that is skipped. */
export interface ItemReplay {
  readonly item: ReplayItem;
  readonly replay: Delivery | null;
}

export interface ReplayJobStore {
  /** `stale`: the partition has an open job that the caller did not know, so it must decide again. */
  addJob(job: ReplayJob, knownOpen: readonly JobId[]): Promise<'done' | 'stale'>;
  findJob(partition: Partition, id: JobId): Promise<ReplayJob | null>;
  /** Lists jobs, newest first. */
  listJobs(partition: Partition, limit: number): Promise<readonly ReplayJob[]>;
  /** Lists jobs that are gathering or running, oldest first. Without a partition it lists those of all partitions. */
  listOpenJobs(partition: Partition | null, limit: number): Promise<readonly ReplayJob[]>;
  /** Replaces the job, guarded by its revision. */
  replaceJob(job: ReplayJob): Promise<'done' | 'stale'>;
  /** Adds the items and replaces the job. */
  gather(job: ReplayJob, items: readonly ReplayItem[]): Promise<'done' | 'stale'>;
  /** Lists endpoints that have items left, in a fixed order of the store, after `after`. */
  listItemEndpoints(
    partition: Partition,
    id: JobId,
    after: EndpointKey | null,
    limit: number,
  ): Promise<readonly EndpointKey[]>;
  /** Lists the next items of an endpoint, oldest first. */
  listItems(
    partition: Partition,
    id: JobId,
    endpoint: EndpointKey,
    limit: number,
  ): Promise<readonly ReplayItem[]>;
  /**
   * Removes the items, adds their replays and replaces the job. `stale`: the job was changed, an item is gone, or
   * retention removed the schedule of a replay.
   */
  replayItems(job: ReplayJob, replays: readonly ItemReplay[]): Promise<'done' | 'stale'>;
  /**
   * Removes items of ended jobs (such a job has no cursor any more), then jobs that ended before `endedBefore`. With
   * null, jobs are kept forever. Returns the number of removed rows. A number below `limit` means that nothing is left
   * to remove.
   */
  pruneJobs(endedBefore: Instant | null, limit: number): Promise<number>;
}
