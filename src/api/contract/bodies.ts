/** The request bodies. Unknown fields are ignored, and null counts as absent. */
import { z } from 'zod';
import * as field from './fields.ts';

const timing = {
  delay: z
    .string()
    .nullish()
    .meta({ description: 'Time from now until the request is sent. At least 1s.', example: '5m' }),
  fire_at: z.string().nullish().meta({
    format: 'date-time',
    description: 'The instant to send at, in RFC 3339 with an offset or Z.',
    example: '2027-01-01T09:00:00+01:00',
  }),
  local_fire_at: z.string().nullish().meta({
    description: 'The local time to send at, as YYYY-MM-DDTHH:MM:SS in `timezone`.',
    example: '2027-01-01T09:00:00',
  }),
  cron: z.string().nullish().meta({
    description: 'A cron expression with five fields: minute, hour, day of month, month, day of week.',
    example: '0 9 * * MON-FRI',
  }),
  timezone: z.string().nullish().meta({
    description: 'The IANA time zone of `local_fire_at` and `cron`. The default is UTC.',
    example: 'Europe/Berlin',
  }),
};

export const ScheduleCreate = z
  .object({
    endpoint: field.url.nullish(),
    endpoint_id: field.endpointId.nullish(),
    method: field.method.nullish(),
    headers: field.headers.nullish(),
    body: field.body.nullish(),
    ...timing,
    ttl: field.ttl.nullish(),
    idempotency_key: field.idempotencyKey.nullish(),
    retry_policy: field.retryPolicy.nullish(),
    rate_limit: field.rateLimit.nullish(),
    jitter: field.jitter.nullish(),
    metadata: field.metadata.nullish(),
  })
  .meta({
    id: 'ScheduleCreate',
    description:
      'Needs exactly one destination (`endpoint` or `endpoint_id`) and exactly one timing (`delay`, `fire_at`, `local_fire_at` or `cron`).',
  });

export const ScheduleUpdate = z
  .object({
    endpoint: field.url.nullish(),
    method: field.method.nullish(),
    ttl: field.ttl.nullish(),
    retry_policy: field.retryPolicy.nullish(),
    metadata: field.metadata.nullish(),
  })
  .meta({
    id: 'ScheduleUpdate',
    description: 'Fields that are left out do not change. Use reschedule to change the timing.',
  });

export const ScheduleReschedule = z.object(timing).meta({
  id: 'ScheduleReschedule',
  description: 'Needs exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`.',
});

/** The fields that determine when a schedule fires. */
export const SchedulePreview = z.object({ ...timing, jitter: field.jitter.nullish() });

export const EndpointWrite = z
  .object({
    url: field.url.nullish(),
    method: field.method.nullish(),
    headers: field.headers.nullish(),
    timeout: field.timeout.nullish(),
    retry_policy: field.retryPolicy.nullish(),
    retry_budget: field.retryBudget.nullish(),
    rate_limit: field.rateLimit.nullish().meta({ description: 'Stored and returned, but not enforced yet.' }),
    breaker_policy: field.breakerPolicy.nullish(),
    metadata: field.metadata.nullish(),
  })
  .meta({
    id: 'EndpointWrite',
    description: 'A create needs `url`. In a PATCH, fields that are left out do not change.',
  });

/** The names of all fields of all request bodies, including nested objects. */
export const BODY_FIELDS: ReadonlySet<string> = new Set(
  [ScheduleCreate, ScheduleUpdate, ScheduleReschedule, SchedulePreview, EndpointWrite].flatMap(fieldsIn),
);

function fieldsIn(schema: z.core.$ZodType): readonly string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return fieldsIn(schema.def.innerType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => [name, ...fieldsIn(field)]);
}
