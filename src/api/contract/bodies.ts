/**
 * The request bodies. Unknown fields are ignored, and null counts as absent. Defaults are in the descriptions only:
 * `openapi-typescript` makes a field of a body required if its schema has a default.
 */
import { z } from 'zod';
import * as field from './fields.ts';
import { CRON_FORM, DURATION_FORM, INSTANT_FORM, LOCAL_TIME_FORM, ZONE_FORM } from './forms.ts';

const timing = {
  delay: z
    .string()
    .nullish()
    .meta({
      ...DURATION_FORM,
      description:
        'The time from now until the request is sent, for a one-shot schedule. At least 1s, and at most 10 years.',
      example: '5m',
    }),
  fire_at: z
    .string()
    .nullish()
    .meta({
      ...INSTANT_FORM,
      description:
        'The instant to send at, in RFC 3339 with an offset or Z. At least 1 second and at most 10 years ahead.',
      example: '2030-01-01T09:00:00+01:00',
    }),
  local_fire_at: z
    .string()
    .nullish()
    .meta({
      ...LOCAL_TIME_FORM,
      description:
        'The local time to send at, as `YYYY-MM-DDTHH:MM:SS` in `timezone`. A time that a clock change skips moves forward by the gap. Of a time that occurs twice, the first is taken.',
      example: '2030-01-01T09:00:00',
    }),
  cron: z
    .string()
    .nullish()
    .meta({
      ...CRON_FORM,
      description:
        'A cron expression for a recurring schedule, with five fields: minute, hour, day of month, month, day of week.',
      example: '0 9 * * MON-FRI',
    }),
  timezone: z
    .string()
    .nullish()
    .meta({
      ...ZONE_FORM,
      description: 'The IANA time zone of `local_fire_at` and `cron`. The default is UTC.',
      example: 'Europe/Berlin',
    }),
};

const rateLimitOfSchedule = field.rateLimit.nullish().meta({
  description: 'Limits how many deliveries per second this schedule sends to its endpoint.',
});
const retryPolicyOfSchedule = field.retryPolicy.nullish().meta({
  description: 'When failed attempts are repeated. The default is the policy of the endpoint profile.',
});

const notifyOfSchedule = field.notify.nullish().meta({
  description:
    'Who is told how each delivery ended. The default is `notify` of the endpoint profile. `"on": []` tells nobody.',
});

export const ScheduleCreate = z
  .object({
    name: field.scheduleName.nullish(),
    endpoint: field.url.nullish(),
    endpoint_id: field.endpointId.nullish(),
    method: field.method.nullish(),
    headers: field.headers.nullish(),
    body: field.body.nullish(),
    ...timing,
    ttl: field.ttl.nullish(),
    idempotency_key: field.idempotencyKey.nullish(),
    retry_policy: retryPolicyOfSchedule,
    rate_limit: rateLimitOfSchedule,
    jitter: field.jitter.nullish(),
    notify: notifyOfSchedule,
    metadata: field.metadata.nullish(),
  })
  .meta({
    id: 'ScheduleCreate',
    description:
      'A request to send, with its destination and time. It needs exactly one destination (`endpoint` or `endpoint_id`) and exactly one timing (`delay`, `fire_at`, `local_fire_at` or `cron`).',
  });

export const ScheduleUpdate = z
  .object({
    name: field.scheduleName.nullish(),
    endpoint: field.url.nullish(),
    method: field.method.nullish(),
    ttl: field.ttl.nullish(),
    retry_policy: retryPolicyOfSchedule,
    notify: notifyOfSchedule,
    metadata: field.metadata.nullish(),
  })
  .meta({
    id: 'ScheduleUpdate',
    description:
      'The fields to change. The others stay as they are. `null` clears `name`, `ttl`, `retry_policy`, `notify` and `metadata`. Use reschedule to change the timing.',
  });

export const ScheduleReschedule = z.object(timing).meta({
  id: 'ScheduleReschedule',
  description: 'The new timing. It needs exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`.',
});

/** The fields that determine when a schedule fires. */
export const SchedulePreview = z.object({ ...timing, jitter: field.jitter.nullish() });

export const EndpointWrite = z
  .object({
    name: field.endpointName.nullish(),
    url: field.url.nullish(),
    method: field.method.nullish(),
    headers: field.headers.nullish(),
    timeout: field.timeout.nullish(),
    retry_policy: field.retryPolicy.nullish().meta({
      description: 'When failed attempts are repeated, for schedules that have no policy of their own.',
    }),
    retry_budget: field.retryBudget.nullish().meta({ description: 'Limits the retries to this endpoint.' }),
    rate_limit: field.rateLimit
      .nullish()
      .meta({ description: 'It is stored and returned, but not enforced yet.' }),
    breaker_policy: field.breakerPolicy
      .nullish()
      .meta({ description: 'When to stop sending to this endpoint because it fails.' }),
    response_excerpt: field.responseExcerpt.nullish(),
    notify: field.notify.nullish().meta({
      description: 'Who is told how deliveries ended, for schedules that have no `notify` of their own.',
    }),
    standard_webhooks: field.standardWebhooks.nullish(),
    metadata: field.metadata.nullish(),
  })
  .meta({
    id: 'EndpointWrite',
    description:
      'A destination and its policy. A create needs `url`. In a PATCH, fields that are left out do not change, and `null` resets a field to its default.',
  });

/** The fields of an object, each with its own fields if it is an object too. The names in a map are not fields. */
export type KnownFields = ReadonlyMap<string, KnownFields>;

export const NO_FIELDS: KnownFields = new Map();

/** Reads the fields from the schema, so a new field is known without a second list. */
export function knownFields(schema: z.core.$ZodType): KnownFields {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return knownFields(schema.def.innerType);
  if (!(schema instanceof z.ZodObject)) return NO_FIELDS;
  return new Map(Object.entries(schema.shape).map(([name, field]) => [name, knownFields(field)]));
}

/** The names of all fields of all request bodies, including nested objects. */
export const BODY_FIELDS: ReadonlySet<string> = new Set(
  [ScheduleCreate, ScheduleUpdate, ScheduleReschedule, SchedulePreview, EndpointWrite].flatMap((schema) =>
    namesIn(knownFields(schema)),
  ),
);

function namesIn(fields: KnownFields): readonly string[] {
  return [...fields].flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}
