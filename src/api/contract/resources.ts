/** The schemas of answers: the resources, the list envelope and the error. */
import { z } from 'zod';
import { ATTEMPT_OUTCOMES, DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { METHODS } from '#src/domain/destination.ts';
import { ERRORS } from '#src/domain/errors.ts';
import { MODES } from '#src/domain/project.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import * as field from './fields.ts';

const at = z.iso.datetime().meta({ example: '2026-11-15T08:00:00.000Z' });
const labels = z.record(z.string(), z.string());
const mode = z.enum(MODES);

function id(prefix: string) {
  return z.string().meta({ example: `${prefix}_01jcq3v8k4zqgw5m2r7n9x0abc` });
}

const headerKeys = z
  .array(z.string())
  .meta({ description: 'The names of the headers. Their values are encrypted and never returned.' });

export const RetryPolicy = z
  .object({
    max_attempts: z.int(),
    strategy: z.literal('exponential'),
    base: z.string(),
    factor: z.number(),
    max: z.string(),
    jitter: z.boolean(),
  })
  .meta({ id: 'RetryPolicy' });

export const Schedule = z
  .object({
    id: id('sch'),
    object: z.literal('schedule'),
    mode,
    kind: z.enum(SCHEDULE_KINDS),
    state: z.enum(SCHEDULE_STATES),
    endpoint: z.string().meta({ description: 'The URL. For an endpoint profile, its present URL.' }),
    endpoint_id: z.string().nullable(),
    method: z.enum(METHODS),
    header_keys: headerKeys,
    fire_at: at.nullable().meta({ description: 'The instant of a one-shot schedule, before jitter.' }),
    cron: z.string().nullable(),
    timezone: z.string().nullable(),
    next_fire_at: at.nullable(),
    next_runs: z
      .array(at)
      .meta({ description: 'The next instants at which the schedule fires, at most five.' }),
    ttl: z.string().nullable(),
    jitter: z.string().nullable(),
    idempotency_key: z.string().nullable(),
    retry_policy: RetryPolicy,
    rate_limit: field.rateLimit.nullable(),
    metadata: labels,
    created_at: at,
    updated_at: at,
  })
  .meta({ id: 'Schedule' });

export const Delivery = z
  .object({
    id: id('dlv'),
    object: z.literal('delivery'),
    schedule_id: z.string().nullable(),
    mode,
    status: z.enum(DELIVERY_STATUSES),
    scheduled_for: at,
    deadline: at.nullable(),
    next_fire_at: at.nullable(),
    attempt_count: z.int(),
    last_status_code: z.int().nullable(),
    error: z.string().nullable(),
    idempotency_key: z.string(),
    replay_of: z.string().nullable(),
    endpoint_id: z.string().nullable(),
    endpoint_version: z.int().nullable(),
    created_at: at,
    finalized_at: at.nullable(),
  })
  .meta({ id: 'Delivery' });

export const Attempt = z
  .object({
    id: id('att'),
    object: z.literal('attempt'),
    delivery_id: z.string(),
    attempt_no: z.int(),
    outcome: z.enum(ATTEMPT_OUTCOMES),
    status_code: z.int().nullable(),
    due_at: at,
    fired_at: at,
    lateness_ms: z
      .int()
      .meta({ description: 'How long after its due instant the attempt started, in milliseconds.' }),
    finished_at: at.nullable(),
    egress_ms: z.int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'Attempt' });

export const Endpoint = z
  .object({
    id: id('ep'),
    object: z.literal('endpoint'),
    mode,
    url: z.string(),
    method: z.enum(METHODS),
    header_keys: headerKeys,
    timeout: z.string().nullable(),
    retry_policy: RetryPolicy,
    retry_budget: field.retryBudget.nullable(),
    rate_limit: field.rateLimit.nullable(),
    breaker_policy: field.breakerPolicy.nullable(),
    metadata: labels,
    version: z.int().meta({ description: 'Increases with every change.' }),
    archived: z.boolean(),
    created_at: at,
    updated_at: at,
  })
  .meta({ id: 'Endpoint' });

export function listOf<T extends z.ZodType>(name: string, item: T) {
  return z
    .object({
      object: z.literal('list'),
      data: z.array(item),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
    })
    .meta({ id: `${name}List` });
}

const errorTypes = [...new Set(Object.values(ERRORS).map(({ type }) => type)), 'rate_limit_error'] as const;

export const ApiError = z
  .object({
    error: z.object({
      type: z.enum(errorTypes),
      code: z.string().meta({ description: 'A stable code for programs.', example: 'invalid_cron' }),
      message: z.string(),
      param: z.string().nullable().meta({ description: 'The field that caused the error.' }),
      request_id: z.string(),
    }),
  })
  .meta({ id: 'Error' });

export type ScheduleResource = z.infer<typeof Schedule>;
export type DeliveryResource = z.infer<typeof Delivery>;
export type AttemptResource = z.infer<typeof Attempt>;
export type EndpointResource = z.infer<typeof Endpoint>;
export type RetryPolicyResource = z.infer<typeof RetryPolicy>;
export type ErrorResource = z.infer<typeof ApiError>;
