/**
 * The schemas of answers: the resources, the list envelope and the error. The service does not check its answers, so
 * only the document and the tests load this file. All others import its types.
 */
import { z } from 'zod';
import { LIMIT_MAX } from '#src/api/query.ts';
import { ATTEMPT_OUTCOMES, DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { METHODS } from '#src/domain/destination.ts';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import { LABELS_MAX } from '#src/domain/labels.ts';
import { NEXT_RUNS } from '#src/domain/occurrence.ts';
import { MODES } from '#src/domain/project.ts';
import { RETRY_BOUNDS } from '#src/domain/retry.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import * as field from './fields.ts';
import { ZONE_FORM } from './forms.ts';
import { at, duration, id, object } from './resource-fields.ts';

const mode = z
  .enum(MODES)
  .meta({ description: 'The mode of the API key: `test` or `live`.', example: 'test' });
const method = z.enum(METHODS).meta({ description: 'The HTTP method of the request.', example: 'POST' });

const headerKeys = z.array(z.string()).meta({
  description: 'The names of the custom headers. Their values are encrypted and never returned.',
  example: ['X-Tenant'],
});

const labels = z.record(z.string(), z.string()).meta({
  description: 'The labels: names and values.',
  maxProperties: LABELS_MAX,
  example: { team: 'billing' },
});

const statusCode = (description: string) =>
  z.int().min(100).max(999).nullable().meta({ description, example: 200 });

export const RetryPolicy = z
  .object({
    max_attempts: z
      .int()
      .min(RETRY_BOUNDS.maxAttempts.min)
      .max(RETRY_BOUNDS.maxAttempts.max)
      .meta({ description: 'The number of attempts, the first one included.', example: 8 }),
    strategy: z
      .literal('exponential')
      .meta({ description: 'How the waits grow, always `exponential`.', example: 'exponential' }),
    base: duration('The wait that `factor` multiplies.', '5s'),
    factor: z.number().min(RETRY_BOUNDS.factor.min).max(RETRY_BOUNDS.factor.max).meta({
      description: 'Each wait is this many times as long as the one before.',
      example: 2,
    }),
    max: duration('The longest wait between two attempts.', '1h'),
    jitter: z.boolean().meta({
      description: 'The value that was sent. It has no effect: the backoff is exact.',
      example: true,
    }),
  })
  .meta({
    id: 'RetryPolicy',
    description:
      'When failed attempts are repeated. The retry after attempt n is due min(`max`, `base` × `factor`^n) after the end of that attempt.',
  });

export const Notify = z
  .object({
    endpoint_id: id(
      'ep',
      'The endpoint profile that gets the notifications. Null only if `on` is empty.',
    ).nullable(),
    on: field.notifyOutcomes,
  })
  .meta({ id: 'Notify', description: 'Who is told how a delivery ended, and with which outcomes.' });

export const Schedule = z
  .object({
    id: id('sch', 'The id of the schedule.'),
    object: object('schedule'),
    name: field.scheduleName.nullable().meta({ description: 'The name of the schedule, or null.' }),
    mode,
    kind: z.enum(SCHEDULE_KINDS).meta({
      description: '`one_shot` fires once. `recurring` fires at every occurrence of `cron`.',
      example: 'recurring',
    }),
    state: z.enum(SCHEDULE_STATES).meta({
      description:
        '`active` and `paused` schedules can be changed. `canceled` and `completed` are final. A one-shot schedule is completed when its delivery has ended.',
      example: 'active',
    }),
    endpoint: z.string().meta({
      format: 'uri',
      description: 'The URL that requests are sent to. With an endpoint profile, its present URL.',
      example: 'https://example.com/hooks/reminder',
    }),
    endpoint_id: id('ep', 'The endpoint profile, or null if the schedule has its own URL.').nullable(),
    method,
    header_keys: headerKeys,
    fire_at: at('The instant of a one-shot schedule, before jitter. Null for a recurring one.').nullable(),
    cron: z.string().nullable().meta({
      description: 'The cron expression of a recurring schedule. Null for a one-shot one.',
      example: '0 9 * * MON-FRI',
    }),
    timezone: z
      .string()
      .nullable()
      .meta({
        ...ZONE_FORM,
        description: 'The time zone of `cron` or `local_fire_at`. Null for `delay` and `fire_at`.',
        example: 'Europe/Berlin',
      }),
    next_fire_at: at('When the next request is due. Null if none is, for example while paused.').nullable(),
    next_runs: z.array(at('An instant at which the schedule fires.')).max(NEXT_RUNS).meta({
      description:
        'The next instants at which the schedule fires, at most five, with clock changes and jitter.',
    }),
    ttl: duration('How long after its instant a delivery expires. Null: never.', '24h').nullable(),
    jitter: duration('How far an occurrence may be moved. Null: not at all.', '30s').nullable(),
    idempotency_key: z.string().nullable().meta({
      description: 'The key that was given for the receiver, or null.',
      example: 'invoice-4711',
    }),
    retry_policy: RetryPolicy.meta({
      description: 'The policy in force: of the schedule, else of its endpoint profile, else the default.',
    }),
    rate_limit: field.rateLimit.nullable().meta({ description: 'The rate limit of the schedule, or null.' }),
    notify: Notify.nullable().meta({
      description:
        'The own `notify` of the schedule. Null if it has none: that of the endpoint profile then applies.',
    }),
    metadata: labels,
    created_at: at('When the schedule was created.'),
    updated_at: at('When the schedule was last changed.'),
  })
  .meta({
    id: 'Schedule',
    description: 'A request that is sent once or repeatedly. Header values and the body are never returned.',
  });

export const Delivery = z
  .object({
    id: id('dlv', 'The id of the delivery. The receiver gets it as `Sched-Delivery-Id`.'),
    object: object('delivery'),
    schedule_id: id('sch', 'The schedule that it belongs to. Null for a notification.').nullable(),
    mode,
    url: z.string().meta({
      format: 'uri',
      description: 'The URL that it is sent to.',
      example: 'https://example.com/hooks/reminder',
    }),
    method,
    status: z.enum(DELIVERY_STATUSES).meta({
      description:
        '`scheduled`, `retry_scheduled` and `paused` deliveries wait, and `claimed` ones are being sent. `succeeded`, `dead_letter`, `expired` and `canceled` are final.',
      example: 'succeeded',
    }),
    occurrence: at(
      'The nominal instant: that of the recurrence or the one-shot schedule, before jitter, and also if the delivery was moved. The receiver gets it as `Sched-Occurrence`. Null if it was triggered, and for a notification.',
    ).nullable(),
    triggered: z
      .boolean()
      .meta({ description: 'Whether it was sent by `trigger`, beside the recurrence.', example: false }),
    scheduled_for: at('The instant at which the first attempt was due.'),
    deadline: at('After this instant no attempt is made. Null without a `ttl`.').nullable(),
    next_fire_at: at('When the next attempt is due. Null unless the delivery waits for one.').nullable(),
    attempt_count: z
      .int()
      .min(0)
      .meta({ description: 'The number of attempts that have started.', example: 1 }),
    last_status_code: statusCode('The status that the receiver answered last, or null without an answer.'),
    error: z.string().nullable().meta({
      description: 'Why the last attempt failed, or why the delivery ended. Null if nothing failed.',
      example: 'connection refused',
    }),
    idempotency_key: z.string().meta({
      description:
        'The key that the receiver gets as `Idempotency-Key`. It is the same for every attempt and every replay.',
      example: 'invoice-4711:2026-11-16T08:00:00.000Z',
    }),
    replay_of: id('dlv', 'The original delivery if this one is a replay, else null.').nullable(),
    notification_of: id(
      'dlv',
      'The delivery whose end this notification tells. Null for any other.',
    ).nullable(),
    notify: Notify.nullable().meta({
      description: 'Who is told how this delivery ends. It was fixed when the delivery was created.',
    }),
    endpoint_id: id('ep', 'The endpoint profile that it is sent with, or null.').nullable(),
    endpoint_version: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'The version of that endpoint profile, or null.', example: 3 }),
    created_at: at('When the delivery was created.'),
    finalized_at: at('When the delivery ended. Null before.').nullable(),
  })
  .meta({
    id: 'Delivery',
    description:
      'One occurrence of a schedule, or a notification of how one ended. It is sent until it ends.',
  });

export const Attempt = z
  .object({
    id: id('att', 'The id of the attempt.'),
    object: object('attempt'),
    delivery_id: id('dlv', 'The delivery that it belongs to.'),
    attempt_no: z.int().min(1).meta({
      description: 'Counts from 1. The receiver gets it as `Sched-Attempt`.',
      example: 1,
    }),
    outcome: z.enum(ATTEMPT_OUTCOMES).meta({
      description:
        '`success`: answered with 2xx. `retryable`: failed, or still in flight. `terminal`: failed, and no retry can help.',
      example: 'success',
    }),
    status_code: statusCode('The status that the receiver answered, or null without an answer.'),
    due_at: at('When the attempt was due.'),
    fired_at: at('When the attempt started.'),
    lateness_ms: z.int().meta({
      description: 'How long after its due instant the attempt started, in milliseconds.',
      example: 2,
    }),
    finished_at: at('When the attempt ended. Null while it is in flight.').nullable(),
    egress_ms: z.int().min(0).nullable().meta({
      description: 'How long the request took, in milliseconds. Null while in flight.',
      example: 84,
    }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the attempt failed, or null.', example: 'timeout' }),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request of a delivery.' });

export const RecentAttempt = Attempt.extend({
  schedule_id: id('sch', 'The schedule that its delivery belongs to.').nullable(),
  schedule_name: field.scheduleName
    .nullable()
    .meta({ description: 'The present name of that schedule, or null.' }),
  url: z.string().meta({
    format: 'uri',
    description: 'The URL that its delivery is sent to.',
    example: 'https://example.com/hooks/reminder',
  }),
  method,
  endpoint_id: id('ep', 'The endpoint profile that its delivery is sent with, or null.').nullable(),
}).meta({
  id: 'RecentAttempt',
  description: 'An attempt that has ended, with the destination of its delivery.',
});

export const Endpoint = z
  .object({
    id: id('ep', 'The id of the endpoint profile.'),
    object: object('endpoint'),
    name: field.endpointName.nullable().meta({ description: 'The name of the profile, or null.' }),
    mode,
    url: z.string().meta({
      format: 'uri',
      description: 'The URL that requests are sent to.',
      example: 'https://example.com/hooks/reminder',
    }),
    method,
    header_keys: headerKeys,
    timeout: duration('The longest time of one attempt. Null: the default of 30s.', '10s').nullable(),
    retry_policy: RetryPolicy.meta({
      description: 'The policy of schedules that have none of their own.',
    }),
    retry_budget: field.retryBudget
      .nullable()
      .meta({ description: 'The limit of retries. Null: the default.' }),
    rate_limit: field.rateLimit
      .nullable()
      .meta({ description: 'The rate limit that was sent, or null. It is not enforced yet.' }),
    breaker_policy: field.breakerPolicy
      .nullable()
      .meta({ description: 'The circuit breaker. Null: the default.' }),
    response_excerpt: field.responseExcerpt.nullable().meta({
      description:
        'How many bytes are kept of an answer that is not 2xx. Null: as many as the operator has set.',
    }),
    notify: Notify.nullable().meta({
      description: 'Who is told how deliveries ended, for schedules that have no `notify` of their own.',
    }),
    standard_webhooks: field.standardWebhooks.meta({
      description: 'Whether requests are signed for Standard Webhooks too.',
    }),
    metadata: labels,
    version: z.int().min(1).meta({ description: 'Starts at 1 and increases with every change.', example: 3 }),
    archived: z
      .boolean()
      .meta({ description: 'New schedules cannot use an archived profile.', example: false }),
    created_at: at('When the profile was created.'),
    updated_at: at('When the profile was last changed.'),
  })
  .meta({
    id: 'Endpoint',
    description: 'An endpoint profile: a destination with its policy, for many schedules.',
  });

export const AttemptResponse = z
  .object({
    object: object('attempt_response'),
    status_code: z.int().min(100).max(999).meta({ description: 'The status of the answer.', example: 503 }),
    content_type: z
      .string()
      .nullable()
      .meta({ description: 'The header `Content-Type` of the answer, or null.', example: 'text/plain' }),
    excerpt: z.string().meta({ description: 'The first bytes of the body.', example: 'upstream timed out' }),
    encoding: z.enum(['utf-8', 'base64']).meta({
      description: 'How `excerpt` is written: as text, or as base64 if the bytes are not UTF-8.',
      example: 'utf-8',
    }),
    truncated: z.boolean().meta({ description: 'Whether the body was longer.', example: false }),
  })
  .meta({ id: 'AttemptResponse', description: 'The beginning of an answer that was not 2xx.' });

export const Plan = z
  .object({
    object: object('plan'),
    action: z.enum(['create', 'change', 'none']).meta({
      description: 'What the request would do.',
      example: 'change',
    }),
    fields: z
      .array(z.string())
      .meta({ description: 'The names of the fields that differ, without their values.', example: ['cron'] }),
  })
  .meta({ id: 'Plan', description: 'The answer to a request with `dry_run=true`, which writes nothing.' });

export function listOf<T extends z.ZodType>(name: string, item: T) {
  return z
    .object({
      object: object('list'),
      data: z.array(item).max(LIMIT_MAX).meta({ description: 'The items of this page.' }),
      has_more: z.boolean().meta({ description: 'Whether there are more items.', example: false }),
      next_cursor: z.string().nullable().meta({
        description: 'Send it as `cursor` to get the next page. Null on the last page.',
        example: 'q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj',
      }),
    })
    .meta({ id: `${name}List`, description: `One page of a list of ${name} objects.` });
}

const errorTypes = [...new Set(Object.values(ERRORS).map(({ type }) => type)), 'rate_limit_error'] as const;
const errorCodes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

export const ApiError = z
  .object({
    error: z
      .object({
        type: z.enum(errorTypes).meta({
          description: 'The kind of the error. Branch on it. `rate_limit_error` is reserved.',
          example: 'invalid_request_error',
        }),
        code: z.enum(errorCodes).meta({
          description: 'What exactly was wrong. Codes are stable, and new ones may be added.',
          example: 'invalid_cron',
        }),
        message: z.string().meta({
          description: 'What was wrong and what to do, for people. It may change.',
          example: 'delay must be at least 1s.',
        }),
        param: z.string().nullable().meta({
          description: 'The field or parameter at fault, or null. It is always the outer field.',
          example: 'cron',
        }),
        request_id: id('req', 'The id of the request, as in the header `Sched-Request-Id`.'),
      })
      .meta({ description: 'The error.' }),
  })
  // A type named `Error` would hide the global one in generated code.
  .meta({ id: 'ErrorBody', description: 'Every answer that is not 2xx has this form.' });

export type ScheduleResource = z.infer<typeof Schedule>;
export type DeliveryResource = z.infer<typeof Delivery>;
export type PlanResource = z.infer<typeof Plan>;
export type AttemptResponseResource = z.infer<typeof AttemptResponse>;
export type AttemptResource = z.infer<typeof Attempt>;
export type RecentAttemptResource = z.infer<typeof RecentAttempt>;
export type EndpointResource = z.infer<typeof Endpoint>;
export type RetryPolicyResource = z.infer<typeof RetryPolicy>;
export type NotifyResource = z.infer<typeof Notify>;
export type ErrorResource = z.infer<typeof ApiError>;
