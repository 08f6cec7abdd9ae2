/**
 * The lifecycle of a bulk replay. A job first gathers deliveries, then creates their replays. A person may stop it. The
 * functions below are the only way from one state of a job to the next. The node that works on a job has a lease, which
 * every step renews. When the node dies, another one continues after the end of the lease.
 *
 *   gathering ──▶ running ──▶ done        (directly to done when there is nothing to replay)
 *        └──────────┴──stop──▶ stopped
 */
import type { DeliveryStatus } from './delivery.ts';
import type { EndpointKey } from './endpoint-key.ts';
import type { DeliveryId, JobId, ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
import type { Partition } from './project.ts';

export const REPLAY_JOB_STATES = ['gathering', 'running', 'done', 'stopped'] as const;
export type ReplayJobState = (typeof REPLAY_JOB_STATES)[number];

/**
 * The deliveries that a job replays. Replays are created after `createdBefore`, so a job never replays its own replays.
 */
export interface ReplayFilter {
  /** A status of finished deliveries. */
  readonly status: DeliveryStatus;
  readonly scheduleId: ScheduleId | null;
  /** Both ends are exclusive. */
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant;
}

export interface ReplayJob {
  readonly partition: Partition;
  readonly id: JobId;
  readonly state: ReplayJobState;
  readonly filter: ReplayFilter;
  /** Gathering continues before this id. Null at the start, and when no items are left. */
  readonly cursor: DeliveryId | null;
  /**
   * Numbers of items. An item is skipped when retention removed its delivery, or when its endpoint allows no retries.
   */
  readonly gathered: number;
  readonly replayed: number;
  readonly skipped: number;
  /** The number of deliveries that the person confirmed. */
  readonly expected: number;
  readonly createdBy: string;
  readonly createdAt: Instant;
  /** The last progress. */
  readonly updatedAt: Instant;
  readonly endedAt: Instant | null;
  /** The node that works on the job. Others leave it alone until the end of the lease. */
  readonly runner: string | null;
  readonly leaseUntil: Instant | null;
  readonly revision: number;
}

export interface ReplayItem {
  readonly deliveryId: DeliveryId;
  readonly endpoint: EndpointKey;
}

/** The maximum of one job. Further deliveries are left for another job. */
export const REPLAY_ITEMS_MAX = 1_000_000;
/** The maximum of one partition. */
export const OPEN_REPLAY_JOBS_MAX = 10;
export const REPLAY_LEASE_MS = 15_000;

export type NewReplayJob = Pick<ReplayJob, 'partition' | 'id' | 'filter' | 'expected' | 'createdBy'>;

export function createJob(given: NewReplayJob, now: Instant): ReplayJob {
  return {
    ...given,
    state: 'gathering',
    cursor: null,
    gathered: 0,
    replayed: 0,
    skipped: 0,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
    runner: null,
    leaseUntil: null,
    revision: 1,
  };
}

export function isOpen({ state }: ReplayJob): boolean {
  return state === 'gathering' || state === 'running';
}

/** Returns true when a delivery could be part of both. Two jobs would replay it twice. */
export function overlap(one: ReplayFilter, other: ReplayFilter): boolean {
  if (one.status !== other.status) return false;
  if (one.scheduleId !== null && other.scheduleId !== null && one.scheduleId !== other.scheduleId) {
    return false;
  }
  const before = Math.min(one.createdBefore, other.createdBefore);
  const after = Math.max(one.createdAfter ?? -Infinity, other.createdAfter ?? -Infinity);
  return before - after > 1;
}

/** Returns the number of items that still have to be replayed. */
export function itemsLeft({ gathered, replayed, skipped }: ReplayJob): number {
  return gathered - replayed - skipped;
}

/** Returns true when another node has the lease. */
export function isLeasedElsewhere({ runner, leaseUntil }: ReplayJob, node: string, now: Instant): boolean {
  return runner !== null && runner !== node && leaseUntil !== null && now < leaseUntil;
}

/** Takes the lease for this node, or renews it. */
export function acquireLease(job: ReplayJob, node: string, now: Instant): ReplayJob {
  return { ...job, runner: node, leaseUntil: instant(now + REPLAY_LEASE_MS), revision: job.revision + 1 };
}

/** Ends the lease, so that any node can take the job. */
export function releaseLease(job: ReplayJob): ReplayJob {
  return { ...job, runner: null, leaseUntil: null, revision: job.revision + 1 };
}

/** Returns the part of a page that the job may still take. */
export function withinItemLimit<Item>(job: ReplayJob, page: readonly Item[]): readonly Item[] {
  return page.slice(0, REPLAY_ITEMS_MAX - job.gathered);
}

/** Adds gathered items. `isLast` says that there are no more. */
export function gathered(
  job: ReplayJob,
  items: readonly Pick<ReplayItem, 'deliveryId'>[],
  isLast: boolean,
  now: Instant,
): ReplayJob {
  const total = job.gathered + items.length;
  const isOver = isLast || total >= REPLAY_ITEMS_MAX;
  const cursor = items.at(-1)?.deliveryId ?? job.cursor;
  const next = { ...further(job, now), cursor, gathered: total };
  if (!isOver) return next;
  return total === 0 ? done(next, now) : { ...next, state: 'running' };
}

/** Adds replayed and skipped items. The last ones end the job. */
export function replayed(job: ReplayJob, made: number, skipped: number, now: Instant): ReplayJob {
  const next = {
    ...further(job, now),
    replayed: job.replayed + made,
    skipped: job.skipped + skipped,
  };
  return itemsLeft(next) > 0 ? next : done(next, now);
}

function done(job: ReplayJob, now: Instant): ReplayJob {
  return { ...ended(job, 'done', now), cursor: null };
}

/** Stops the job for a person. The store removes its items. Returns null when the job has ended already. */
export function stop(job: ReplayJob, now: Instant): ReplayJob | null {
  return isOpen(job) ? ended(further(job, now), 'stopped', now) : null;
}

/** Counts as progress and renews the lease. */
function further(job: ReplayJob, now: Instant): ReplayJob {
  const leaseUntil = job.runner === null ? null : instant(now + REPLAY_LEASE_MS);
  return { ...job, updatedAt: now, leaseUntil, revision: job.revision + 1 };
}

function ended(job: ReplayJob, state: 'done' | 'stopped', now: Instant): ReplayJob {
  return { ...job, state, endedAt: now, runner: null, leaseUntil: null };
}
