/** Bulk replays: counts deliveries to replay, lists jobs, and begins or stops one. */
import { z } from 'zod';
import { requireFound } from '#src/commands/command.ts';
import type { DeliveryQuery, ReplayJobInfo } from '#src/control/http/data-contract.ts';
import { bound, byId, choice, optional, parsed } from '#src/control/http/fields.ts';
import { orNull } from '#src/control/http/present.ts';
import { json, list, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { beginReplay, stopReplay } from '#src/control/replay-jobs.ts';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { ReplayJob } from '#src/domain/replay-job.ts';
import { DELIVERIES_COUNTED_MAX } from '#src/ports/insight-store.ts';
import type { DeliveryFilter } from '#src/ports/lists.ts';
import type { DataDependencies } from './dependencies.ts';

const JOBS_SHOWN_MAX = 50;
const BY_ID = byId('job');
/** The same filter as the list of deliveries of /v1. */
const FILTER = z.object({
  status: choice(DELIVERY_STATUSES),
  // In a list, an invalid id matches nothing. Here it would match, and replay, every delivery.
  schedule_id: optional(
    parsed(
      (text) => parseId('sch', text),
      (name) => `${name} must be the id of a schedule.`,
    ),
  ),
  created_after: bound('down'),
  created_before: bound('up'),
});
const MUST_BE_COUNT = 'expected must be the count that was shown.';
const BEGIN = FILTER.strict().extend({
  /** The count that the user saw and confirmed. */
  expected: z.int(MUST_BE_COUNT).min(0, MUST_BE_COUNT).max(DELIVERIES_COUNTED_MAX, MUST_BE_COUNT),
});

export function replayRoutes(dependencies: DataDependencies): readonly ProjectRoute[] {
  const { insight, jobs, wakeReplays, commands } = dependencies;
  const jobDependencies = { ...commands, jobs };
  return [
    projectRoute('GET replays/count', {
      needs: 'viewer',
      query: FILTER,
      handle: async ({ query, partition }) => {
        const count = await insight.countDeliveries(partition, filterOf(query), DELIVERIES_COUNTED_MAX);
        return json({ count, is_exact: count < DELIVERIES_COUNTED_MAX });
      },
    }),
    projectRoute('GET replays', {
      needs: 'viewer',
      handle: async ({ partition }) => list((await jobs.listJobs(partition, JOBS_SHOWN_MAX)).map(presentJob)),
    }),
    projectRoute('GET replays/:id', {
      needs: 'viewer',
      params: BY_ID,
      handle: async ({ params, partition }) =>
        json(presentJob(requireFound(await jobs.findJob(partition, params.id)))),
    }),
    projectRoute('POST replays', {
      needs: 'operator',
      body: BEGIN,
      audited: {
        action: 'replay.begin',
        detail: ({ body }) => ({ ...presentFilter(filterOf(body)), expected: body.expected }),
      },
      handle: async ({ body, caller: { user }, partition }) => {
        const job = await beginReplay(jobDependencies, partition, filterOf(body), body.expected, user.name);
        wakeReplays();
        return json(presentJob(job), 201, job.id);
      },
    }),
    projectRoute('POST replays/:id/stop', {
      needs: 'operator',
      params: BY_ID,
      audited: { action: 'replay.stop' },
      handle: async ({ params, partition }) =>
        json(presentJob(await stopReplay(jobDependencies, partition, params.id))),
    }),
  ];
}

function filterOf(given: z.output<typeof FILTER>): DeliveryFilter {
  return {
    status: given.status,
    scheduleId: given.schedule_id,
    createdAfter: given.created_after,
    createdBefore: given.created_before,
  };
}

function presentJob(job: ReplayJob): ReplayJobInfo {
  return {
    id: job.id,
    state: job.state,
    filter: presentFilter(job.filter),
    expected: job.expected,
    gathered: job.gathered,
    replayed: job.replayed,
    skipped: job.skipped,
    created_by: job.createdBy,
    created_at: formatInstant(job.createdAt),
    updated_at: formatInstant(job.updatedAt),
    ended_at: orNull(job.endedAt),
  };
}

function presentFilter({ status, scheduleId, createdAfter, createdBefore }: DeliveryFilter): DeliveryQuery {
  return {
    ...(status !== null && { status }),
    ...(scheduleId !== null && { schedule_id: scheduleId }),
    ...(createdAfter !== null && { created_after: formatInstant(createdAfter) }),
    ...(createdBefore !== null && { created_before: formatInstant(createdBefore) }),
  };
}
