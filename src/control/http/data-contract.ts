/**
 * Schemas of the answers of a project's routes. See `contract.ts`. The objects of /v1 in them are parameters, because
 * the page has their types from the SDK.
 */
import { z } from 'zod';
import { WAIT_REASONS } from '#src/domain/wait-reasons.ts';
import { at, type Listed, listed, type Shown } from './contract.ts';

const count = z.int().min(0);

const Counts = z.strictObject({
  fired: count,
  succeeded: count,
  retried: count,
  dead_lettered: count,
  expired: count,
});
export type Counts = Shown<typeof Counts>;

const overviewRange = z.enum(['1h', '6h', '24h', '7d', '30d']);
export type OverviewRange = z.output<typeof overviewRange>;

const latenessQuantiles = { p50_ms: z.number().nullable(), p99_ms: z.number().nullable() };

const Lateness = z.strictObject({
  ...latenessQuantiles,
  /** The number of attempts that were at most this late. */
  within_100_ms: count,
  within_300_ms: count,
  attempts: count,
  /** The number of attempts in each class of lateness. The last class has no upper bound. */
  classes: z.array(z.strictObject({ up_to_ms: z.number().nullable(), attempts: count })),
});

const OpenBreaker = z.strictObject({
  /** The id of the endpoint profile, or the origin and path of an inline destination. */
  endpoint: z.string(),
  endpoint_id: z.string().nullable(),
  /** The name of the endpoint profile. */
  name: z.string().nullable(),
  url: z.string().nullable(),
  state: z.enum(['open', 'half_open']),
  open_until: at,
  window_ms: z.number(),
});
export type OpenBreaker = Shown<typeof OpenBreaker>;

export const Overview = z.strictObject({
  range: overviewRange,
  now: at,
  step_ms: count,
  /** Every step of the range. The last one is still open. Steps without deliveries are zeros. */
  steps: z.array(Counts.extend({ at, ...latenessQuantiles })),
  total: Counts,
  lateness: Lateness,
  /** Deliveries due in the next hour, by minute. Future runs of recurring schedules are included. */
  due: z.strictObject({ from: at, step_ms: count, counts: z.array(count), is_complete: z.boolean() }),
  breakers: z.array(OpenBreaker),
  /** Null for a single process with SQLite. */
  nodes: z
    .array(
      z.strictObject({
        node: z.string(),
        is_this: z.boolean(),
        is_stopping: z.boolean(),
        /** The version of the program that the node runs. */
        version: z.string(),
        lease_until: at,
        slots: count,
      }),
    )
    .nullable(),
  /** The number of slots without an owner. */
  free_slots: count,
  /** True if nothing was ever stored here. The page then shows how to begin. */
  is_empty: z.boolean(),
});
export type Overview = Shown<typeof Overview>;

export const Upcoming = z.strictObject({
  from: at,
  until: at,
  step_ms: count,
  /** The busiest endpoints first. All others are summed up under `endpoint: null`. */
  endpoints: z.array(
    z.strictObject({
      endpoint: z.string().nullable(),
      endpoint_id: z.string().nullable(),
      name: z.string().nullable(),
      url: z.string().nullable(),
      total: count,
      counts: z.array(count),
    }),
  ),
  counts: z.array(count),
  total: count,
  /** The earliest runs, in the order they are due. */
  runs: z.array(
    z.strictObject({
      at,
      /** Null for a notification. */
      schedule_id: z.string().nullable(),
      schedule_name: z.string().nullable(),
      /** Null for a run of a recurring schedule that has no delivery yet. */
      delivery_id: z.string().nullable(),
      is_retry: z.boolean(),
      endpoint: z.string(),
      url: z.string(),
      method: z.string(),
      cron: z.string().nullable(),
      timezone: z.string().nullable(),
    }),
  ),
  is_complete: z.boolean(),
});
export type Upcoming = Shown<typeof Upcoming>;

export function scheduleSearchPage<S extends z.ZodType>(schedule: S) {
  return listed(schedule).extend({
    /** The number of schedules that were scanned to find these. */
    scanned: count,
  });
}
export type ScheduleSearchPage<Schedule> = Shown<ReturnType<typeof scheduleSearchPage<z.ZodType<Schedule>>>>;

/**
 * A note on the effect of the wall clock on a run (`domain/run-notes.ts`). `jitter` means that the run fires earlier or
 * later by up to the jitter. The exact instant depends on the id of the schedule, which a preview does not have.
 */
const RunNoteInfo = z.strictObject({
  kind: z.enum(['gap', 'fold', 'offset', 'short_months', 'jitter']),
  text: z.string(),
});
export type RunNoteInfo = Shown<typeof RunNoteInfo>;

const PreviewRun = z.strictObject({
  at,
  /** The local time in the schedule's timezone, such as `2026-11-15T09:00:00`. `offset` is its distance from UTC. */
  local: z.string(),
  offset: z.string(),
  notes: z.array(RunNoteInfo),
});
export type PreviewRun = Shown<typeof PreviewRun>;

export const Preview = z.strictObject({
  timezone: z.string(),
  runs: z.array(PreviewRun),
  /** Later runs within a year that a clock change moves or makes ambiguous. Only the first run of each change. */
  clock_changes: z.array(PreviewRun),
});
export type Preview = Shown<typeof Preview>;

export const Calendar = z.strictObject({
  timezone: z.string(),
  past: z.array(
    z.strictObject({
      delivery_id: z.string(),
      at,
      local: z.string(),
      status: z.string(),
      attempt_count: count,
      last_status_code: count.nullable(),
    }),
  ),
  coming: z.array(PreviewRun),
  /** Days of the timezone with more runs than are listed here. Both ends are included. */
  incomplete_days: z.array(z.strictObject({ from: z.string(), until: z.string() })),
});
export type Calendar = Shown<typeof Calendar>;

const milliseconds = z.number().nullable();

const AttemptInfo = z.strictObject({
  attempt_no: count,
  outcome: z.enum(['success', 'retryable', 'terminal']),
  status_code: count.nullable(),
  due_at: at,
  fired_at: at,
  finished_at: at.nullable(),
  lateness_ms: z.number(),
  /** Milliseconds since `fired_at`. Null if it is unknown or the attempt did not get that far. */
  claimed_ms: milliseconds,
  connected_ms: milliseconds,
  first_byte_ms: milliseconds,
  end_ms: milliseconds,
  was_connected_before: z.boolean(),
  error: z.string().nullable(),
  /** Whether the beginning of its answer can be revealed. */
  response_kept: z.boolean(),
  /** Explains the attempt and what to do, in plain words. */
  words: z.string(),
});
export type AttemptInfo = Shown<typeof AttemptInfo>;

/** Shown beside the fields of /v1. */
export const DeliveryFailure = z.object({
  /** The code of its `error` in `domain/failures.ts`. Null if there is no error, or an unknown one. */
  failure_code: z.string().nullable(),
});
export type DeliveryWithFailure<Delivery> = Delivery & Shown<typeof DeliveryFailure>;

const WaitInfo = z.strictObject({
  reason: z.enum(WAIT_REASONS),
  /** Null if it is not known. */
  until: at.nullable(),
  /** The reason in a few words. */
  words: z.string(),
});
export type WaitInfo = Shown<typeof WaitInfo>;

const ListedDelivery = DeliveryFailure.extend({
  schedule_name: z.string().nullable(),
  /** Why it is not sent yet. Null if it is in flight or has ended. */
  waiting: WaitInfo.nullable(),
});
export type ListedDelivery<Delivery> = Delivery & Shown<typeof ListedDelivery>;

export function listedDelivery<D extends z.ZodType>(delivery: D) {
  return delivery.and(ListedDelivery);
}

export const FoundDelivery = z.strictObject({ delivery_id: z.string() });
export type FoundDelivery = Shown<typeof FoundDelivery>;

export function deliveryDetails<D extends z.ZodType, S extends z.ZodType>(delivery: D, schedule: S) {
  return z.strictObject({
    delivery,
    schedule: schedule.nullable(),
    /** The customer's headers. Null if the request cannot be read. */
    header_names: z.array(z.string()).nullable(),
    has_body: z.boolean().nullable(),
    attempts: z.array(AttemptInfo),
    waiting: WaitInfo.nullable(),
    /** The name of its endpoint profile. */
    endpoint_name: z.string().nullable(),
    can_cancel: z.boolean(),
    /** The state of the delivery, its reason, and what comes next, in plain words. */
    words: z.string(),
  });
}
export type DeliveryDetails<Delivery, Schedule> = Shown<
  ReturnType<typeof deliveryDetails<z.ZodType<Delivery>, z.ZodType<Schedule>>>
>;

export function destination<E extends z.ZodType>(profile: E) {
  return z.strictObject({
    endpoint: z.string(),
    /** Null for an inline destination. */
    profile: profile.nullable(),
    url: z.string(),
    breaker: z.strictObject({
      state: z.enum(['closed', 'open', 'half_open']),
      failures: count,
      open_until: at.nullable(),
    }),
    last_24h: Counts,
  });
}
export type Destination<EndpointProfile> = Shown<ReturnType<typeof destination<z.ZodType<EndpointProfile>>>>;
export type Destinations<EndpointProfile> = Listed<Destination<EndpointProfile>>;

/** The query of a list of deliveries, as in /v1. */
const DeliveryQuery = z.strictObject({
  status: z.string().exactOptional(),
  schedule_id: z.string().exactOptional(),
  created_after: z.string().exactOptional(),
  created_before: z.string().exactOptional(),
});
export type DeliveryQuery = Shown<typeof DeliveryQuery>;

export const DeliveryCount = z.strictObject({
  count,
  /** False means that there may be more. */
  is_exact: z.boolean(),
});
export type DeliveryCount = Shown<typeof DeliveryCount>;

export const ReplayJobInfo = z.strictObject({
  id: z.string(),
  state: z.enum(['gathering', 'running', 'done', 'stopped']),
  filter: DeliveryQuery,
  expected: count,
  gathered: count,
  replayed: count,
  skipped: count,
  created_by: z.string(),
  created_at: at,
  updated_at: at,
  ended_at: at.nullable(),
});
export type ReplayJobInfo = Shown<typeof ReplayJobInfo>;

export const Revealed = z.strictObject({
  headers: z.record(z.string(), z.string()),
  /** Null if there is no body. */
  body: z.string().nullable(),
});
export type Revealed = Shown<typeof Revealed>;
