/** Bulk replays: counts deliveries to replay, lists jobs, and begins or stops one. */
import { readChoice, readInstant, readText } from '#src/api/query.ts';
import { requireFound } from '#src/commands/command.ts';
import type { DeliveryCount, DeliveryQuery, ReplayJobInfo } from '#src/control/http/data-contract.ts';
import { readPathId } from '#src/control/http/fields.ts';
import { type JsonBody, json, type ProjectRequest, type Route } from '#src/control/http/route.ts';
import { beginReplay, stopReplay } from '#src/control/replay-jobs.ts';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { Refusal } from '#src/domain/errors.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import type { ReplayJob } from '#src/domain/replay-job.ts';
import { DELIVERIES_COUNTED_MAX } from '#src/ports/insight-store.ts';
import type { DeliveryFilter } from '#src/ports/store.ts';
import type { DataDependencies } from './dependencies.ts';

const JOBS_SHOWN_MAX = 50;
const FILTER_FIELDS = ['status', 'schedule_id', 'created_after', 'created_before'] as const;

type Dependencies = Pick<DataDependencies, 'commands' | 'insight' | 'jobs' | 'wakeReplays'>;

export function replayRoutes(dependencies: Dependencies): readonly Route<ProjectRequest>[] {
  const { insight, jobs, wakeReplays } = dependencies;
  const jobDependencies = { ...dependencies.commands, jobs };
  return [
    {
      method: 'GET',
      path: 'replays/count',
      needs: 'viewer',
      audited: null,
      handle: async ({ query, partition }) => {
        const count = await insight.countDeliveries(partition, readFilter(query), DELIVERIES_COUNTED_MAX);
        const answer: DeliveryCount = { count, is_exact: count < DELIVERIES_COUNTED_MAX };
        return json(answer);
      },
    },
    {
      method: 'GET',
      path: 'replays',
      needs: 'viewer',
      audited: null,
      handle: async ({ partition }) => {
        const listed = await jobs.listJobs(partition, JOBS_SHOWN_MAX);
        return json({ data: listed.map(presentJob), next_cursor: null });
      },
    },
    {
      method: 'GET',
      path: 'replays/:id',
      needs: 'viewer',
      audited: null,
      handle: async ({ params, partition }) =>
        json(presentJob(requireFound(await jobs.findJob(partition, readPathId('job', params))))),
    },
    {
      method: 'POST',
      path: 'replays',
      needs: 'operator',
      audited: {
        action: 'replay.begin',
        subject: () => '',
        detail: ({ body }) => ({ ...filterIn(body), expected: expectedIn(body) }),
      },
      handle: async ({ body, caller, partition }) => {
        const filter = readFilter(new URLSearchParams(filterIn(body)));
        const job = await beginReplay(jobDependencies, partition, filter, expectedIn(body), caller.user.name);
        wakeReplays();
        return json(presentJob(job), 201, job.id);
      },
    },
    {
      method: 'POST',
      path: 'replays/:id/stop',
      needs: 'operator',
      audited: { action: 'replay.stop', subject: ({ params }) => params.id ?? '' },
      handle: async ({ params, partition }) =>
        json(presentJob(await stopReplay(jobDependencies, partition, readPathId('job', params)))),
    },
  ];
}

/** Reads the same filter as the list of deliveries of /v1. */
function readFilter(query: URLSearchParams): DeliveryFilter {
  const scheduleText = readText(query, 'schedule_id');
  const scheduleId = scheduleText === null ? null : parseId('sch', scheduleText);
  // In a list, an invalid id matches nothing. Here it would match, and replay, every delivery.
  if (scheduleText !== null && scheduleId === null)
    throw new Refusal('invalid_request', 'schedule_id', 'schedule_id must be the id of a schedule.');
  return {
    status: readChoice(query, 'status', DELIVERY_STATUSES),
    scheduleId,
    createdAfter: readInstant(query, 'created_after', 'down'),
    createdBefore: readInstant(query, 'created_before', 'up'),
  };
}

const FIELD_CHARACTERS_MAX = 64;

function filterIn(body: JsonBody): Record<string, string> {
  return Object.fromEntries(
    FILTER_FIELDS.flatMap((name) => {
      const value = body[name];
      if (value === undefined || value === null) return [];
      if (typeof value !== 'string' || value.length > FIELD_CHARACTERS_MAX)
        throw new Refusal(
          'invalid_request',
          name,
          `${name} must be a string of at most ${FIELD_CHARACTERS_MAX} characters.`,
        );
      return [[name, value]];
    }),
  );
}

/** Reads the count that the user saw and confirmed. */
function expectedIn({ expected }: JsonBody): number {
  if (
    typeof expected !== 'number' ||
    !Number.isInteger(expected) ||
    expected < 0 ||
    expected > DELIVERIES_COUNTED_MAX
  )
    throw new Refusal('invalid_request', 'expected', 'expected must be the count that was shown.');
  return expected;
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

function orNull(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at);
}
