/**
 * The life of a bulk replay. It gathers what it is to replay, then makes the replays; a person may stop it. The
 * functions below are the only way from one job to the next. Whoever works on it holds it by a lease, which every
 * step renews: a process that ended is followed by another when its lease has run out.
 *
 *   gathering ──▶ running ──▶ done        (with nothing to replay at once)
 *        └──────────┴──stop──▶ stopped
 */
import type { DeliveryStatus } from './delivery.ts';
import type { EndpointKey } from './endpoint-key.ts';
import type { DeliveryId, JobId, ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
import type { Partition } from './project.ts';

export const REPLAY_JOB_STATES = ['gathering', 'running', 'done', 'stopped'] as const;
export type ReplayJobState = (typeof REPLAY_JOB_STATES)[number];

/** What a job replays. Its replays are created after `createdBefore`: none of them is ever part of it. */
export interface ReplayFilter {
  /** One that can be replayed. */
  readonly status: DeliveryStatus;
  readonly scheduleId: ScheduleId | null;
  /** Both exclusive. */
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant;
}

export interface ReplayJob {
  readonly partition: Partition;
  readonly id: JobId;
  readonly state: ReplayJobState;
  readonly filter: ReplayFilter;
  /** Gathering: everything before this id is still to be looked at. Null at the start, and once no items are left. */
  readonly cursor: DeliveryId | null;
  /** Items gathered, replayed, and passed over: retention was faster, or their endpoint allows no more. */
  readonly gathered: number;
  readonly replayed: number;
  readonly skipped: number;
  /** What the person confirmed. */
  readonly expected: number;
  readonly createdBy: string;
  readonly createdAt: Instant;
  /** When it last came further. */
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

/** Of one job. What lies beyond is left for another. */
export const REPLAY_ITEMS_MAX = 1_000_000;
/** Of one partition. */
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

/** Whether a delivery could be part of both: then two jobs would replay it twice. */
export function overlap(one: ReplayFilter, other: ReplayFilter): boolean {
  if (one.status !== other.status) return false;
  if (one.scheduleId !== null && other.scheduleId !== null && one.scheduleId !== other.scheduleId) {
    return false;
  }
  const before = Math.min(one.createdBefore, other.createdBefore);
  const after = Math.max(one.createdAfter ?? -Infinity, other.createdAfter ?? -Infinity);
  // Both ends are exclusive.
  return before - after > 1;
}

/** Items that are gathered, and still to be replayed. */
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

/** As many of a page as there is room for. */
export function withinItemLimit<Item>(job: ReplayJob, page: readonly Item[]): readonly Item[] {
  return page.slice(0, REPLAY_ITEMS_MAX - job.gathered);
}

/** The next items are gathered; `isLast`: there are no more. */
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

/** So many items more are replayed, so many passed over; the last ones end the job. */
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

/** By a person; its items are still there, for the store to remove. Null: it has ended already. */
export function stop(job: ReplayJob, now: Instant): ReplayJob | null {
  return isOpen(job) ? ended(further(job, now), 'stopped', now) : null;
}

/** A step was made, and whoever made it holds on. */
function further(job: ReplayJob, now: Instant): ReplayJob {
  const leaseUntil = job.runner === null ? null : instant(now + REPLAY_LEASE_MS);
  return { ...job, updatedAt: now, leaseUntil, revision: job.revision + 1 };
}

function ended(job: ReplayJob, state: 'done' | 'stopped', now: Instant): ReplayJob {
  return { ...job, state, endedAt: now, runner: null, leaseUntil: null };
}
