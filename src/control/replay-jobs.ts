/** Begins and stops bulk replays. The engine makes the replays. */
import { requireFound } from '#src/commands/command.ts';
import { isReplayable } from '#src/domain/delivery-lifecycle.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { IdMint, JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  createJob,
  OPEN_REPLAY_JOBS_MAX,
  overlap,
  type ReplayFilter,
  type ReplayJob,
  stop,
} from '#src/domain/replay-job.ts';
import type { DeliveryFilter } from '#src/ports/lists.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

export interface ReplayJobsDependencies {
  readonly jobs: ReplayJobStore;
  readonly clock: Clock;
  readonly ids: IdMint;
}

/** How often a decision is made again after a conflicting write. A running job changes many times a second. */
const CONFLICTS_MAX = 50;

/**
 * Begins to replay the deliveries that match the filter and exist now. A delivery that an open job may replay cannot be
 * part of another job, so a second click replays nothing twice.
 */
export async function beginReplay(
  { jobs, clock, ids }: ReplayJobsDependencies,
  partition: Partition,
  filter: DeliveryFilter,
  expected: number,
  by: string,
): Promise<ReplayJob> {
  if (expected === 0) throw new Refusal('invalid_request', 'expected', 'There is nothing to replay.');
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    const now = clock.now();
    const wanted = replayable(filter, now);
    const open = await jobs.listOpenJobs(partition, OPEN_REPLAY_JOBS_MAX);
    const overlapping = open.find((job) => overlap(job.filter, wanted));
    if (overlapping !== undefined) throw new ControlRefusal('replay_under_way', overlapping.id);
    if (open.length >= OPEN_REPLAY_JOBS_MAX) {
      throw new ControlRefusal('too_many_jobs', String(OPEN_REPLAY_JOBS_MAX));
    }
    const id = ids.mint('job', now);
    const job = createJob({ partition, id, filter: wanted, expected, createdBy: by }, now);
    const known = open.map((openJob) => openJob.id);
    if ((await jobs.addJob(job, known)) === 'done') return job;
  }
  throw new StoreUnavailable('Other bulk replays kept starting at the same time.');
}

function replayable({ status, createdBefore, ...filter }: DeliveryFilter, now: Instant): ReplayFilter {
  if (status === null || !isReplayable(status)) {
    const message = 'status must be dead_letter, expired or succeeded: only such deliveries can be replayed.';
    throw new Refusal('invalid_request', 'status', message);
  }
  // Replays are created from now on. A job must never replay its own replays.
  const before = createdBefore === null || createdBefore > now ? now : createdBefore;
  return { ...filter, status, createdBefore: before };
}

/** Returns the stopped job. Each replay in flight either counts in it or is not made. */
export async function stopReplay(
  { jobs, clock }: ReplayJobsDependencies,
  partition: Partition,
  id: JobId,
): Promise<ReplayJob> {
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    const stopped = stop(requireFound(await jobs.findJob(partition, id)), clock.now());
    if (stopped === null) throw new ControlRefusal('job_ended', id);
    if ((await jobs.replaceJob(stopped)) === 'done') return stopped;
  }
  throw new StoreUnavailable('The bulk replay kept changing while it was being stopped.');
}
