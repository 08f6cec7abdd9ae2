/**
 * All operations of the API as a table. The routes and the OpenAPI document are both built from it, so they
 * always agree.
 */
import { z } from 'zod';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { ErrorCode } from '#src/domain/errors.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { EndpointWrite, ScheduleCreate, ScheduleReschedule, ScheduleUpdate } from './bodies.ts';
import { Attempt, Delivery, Endpoint, listOf, Schedule } from './resources.ts';

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** The path below `/v1`. `{id}` is the id of the object. */
  readonly path: string;
  readonly tag: 'Schedules' | 'Endpoint profiles' | 'Deliveries';
  readonly summary: string;
  readonly description?: string;
  /** Null if a body is ignored. An optional body may be empty. */
  readonly body: { readonly schema: z.ZodType; readonly required: boolean } | null;
  readonly query: z.ZodObject | null;
  /** Whether the operation accepts `Idempotency-Key`. */
  readonly idempotent: boolean;
  readonly status: 200 | 201;
  readonly answer: z.ZodType;
  /** Additional errors. Every operation has 401, 500 and 503, and 404 if its path has an id. */
  readonly errors: readonly ErrorCode[];
}

const page = {
  cursor: z.string().optional().meta({ description: '`next_cursor` of the previous page of the same list.' }),
  limit: z.int().optional().meta({
    description:
      'The number of items, 1 to 100. The default is 20. A value out of range is replaced and not refused.',
  }),
};

const IDEMPOTENCY: readonly ErrorCode[] = [
  'idempotency_key_too_long',
  'idempotency_key_reuse',
  'idempotency_in_progress',
];
const BODY: readonly ErrorCode[] = ['invalid_json', 'payload_too_large'];
const TIMING: readonly ErrorCode[] = [
  'invalid_duration',
  'invalid_fire_at',
  'multiple_timing',
  'missing_timing',
  'sub_floor_delay',
  'fire_at_in_past',
  'fire_at_too_far',
  'invalid_cron',
];
const ENDPOINT: readonly ErrorCode[] = [
  'invalid_method',
  'invalid_request',
  'url_blocked',
  'invalid_timeout',
  'invalid_retry_policy',
  'invalid_retry_budget',
  'invalid_rate_limit',
  'invalid_breaker_policy',
  'too_many_labels',
];

function read(
  path: string,
  tag: Operation['tag'],
  summary: string,
  answer: z.ZodType,
  query: z.ZodObject | null = null,
): Operation {
  return {
    method: 'GET',
    path,
    tag,
    summary,
    body: null,
    query,
    idempotent: false,
    status: 200,
    answer,
    errors: query === null ? [] : ['invalid_cursor', 'invalid_request'],
  };
}

function action(
  path: string,
  tag: Operation['tag'],
  summary: string,
  description: string,
  answer: z.ZodType,
): Operation {
  return {
    method: 'POST',
    path,
    tag,
    summary,
    description,
    body: null,
    query: null,
    idempotent: false,
    status: 200,
    answer,
    errors: [],
  };
}

const ScheduleList = listOf('Schedule', Schedule);
const DeliveryList = listOf('Delivery', Delivery);
const AttemptList = listOf('Attempt', Attempt);
const EndpointList = listOf('Endpoint', Endpoint);

export const OPERATIONS = {
  createSchedule: {
    method: 'POST',
    path: '/schedules',
    tag: 'Schedules',
    summary: 'Create a schedule',
    description:
      'After the answer 201, the delivery is guaranteed to be attempted, or to end with a recorded status.',
    body: { schema: ScheduleCreate, required: true },
    query: null,
    idempotent: true,
    status: 201,
    answer: Schedule,
    errors: [
      ...BODY,
      ...IDEMPOTENCY,
      'multiple_endpoint',
      'method_on_profile',
      'invalid_method',
      'missing_endpoint',
      ...TIMING,
      'invalid_request',
      'url_blocked',
      'invalid_retry_policy',
      'invalid_rate_limit',
      'too_many_labels',
      'invalid_endpoint',
      'endpoint_archived',
    ],
  },
  listSchedules: {
    ...read(
      '/schedules',
      'Schedules',
      'List schedules',
      ScheduleList,
      z.object({
        ...page,
        state: z.enum(SCHEDULE_STATES).optional(),
        kind: z.enum(SCHEDULE_KINDS).optional(),
        'metadata[key]': z.string().optional().meta({
          description:
            'Lists only schedules with this label, such as `metadata[team]=billing`. Several labels must all match.',
        }),
      }),
    ),
    description: 'The newest schedules come first.',
  },
  getSchedule: read('/schedules/{id}', 'Schedules', 'Get a schedule', Schedule),
  updateSchedule: {
    method: 'PATCH',
    path: '/schedules/{id}',
    tag: 'Schedules',
    summary: 'Change a schedule',
    description:
      'Also changes the pending delivery, unless it is being sent. Timing fields are ignored: use reschedule.',
    body: { schema: ScheduleUpdate, required: false },
    query: null,
    idempotent: true,
    status: 200,
    answer: Schedule,
    errors: [
      ...BODY,
      ...IDEMPOTENCY,
      'multiple_endpoint',
      'method_on_profile',
      'invalid_method',
      'invalid_duration',
      'invalid_request',
      'url_blocked',
      'invalid_retry_policy',
      'too_many_labels',
    ],
  },
  rescheduleSchedule: {
    method: 'POST',
    path: '/schedules/{id}/reschedule',
    tag: 'Schedules',
    summary: 'Change when a schedule fires',
    description:
      'For a recurring schedule, an instant moves only the next occurrence, and `cron` replaces the recurrence. A delivery that is being sent is not moved.',
    body: { schema: ScheduleReschedule, required: true },
    query: null,
    idempotent: true,
    status: 200,
    answer: Schedule,
    errors: [...BODY, ...IDEMPOTENCY, ...TIMING, 'schedule_not_active'],
  },
  pauseSchedule: action(
    '/schedules/{id}/pause',
    'Schedules',
    'Pause a schedule',
    'Pending deliveries wait until the schedule is resumed. Pausing a paused schedule changes nothing.',
    Schedule,
  ),
  resumeSchedule: action(
    '/schedules/{id}/resume',
    'Schedules',
    'Resume a schedule',
    'A one-shot schedule whose instant has passed fires at once, or expires if its ttl has passed. A recurring schedule skips the occurrences that it missed.',
    Schedule,
  ),
  cancelSchedule: action(
    '/schedules/{id}/cancel',
    'Schedules',
    'Cancel a schedule',
    'Cannot be undone. The history is kept. A delivery that is being sent finishes its attempt and is not retried.',
    Schedule,
  ),
  listScheduleDeliveries: read(
    '/schedules/{id}/deliveries',
    'Schedules',
    'List the deliveries of a schedule',
    DeliveryList,
    z.object(page),
  ),
  createEndpoint: {
    method: 'POST',
    path: '/endpoints',
    tag: 'Endpoint profiles',
    summary: 'Create an endpoint profile',
    body: { schema: EndpointWrite, required: true },
    query: null,
    idempotent: true,
    status: 201,
    answer: Endpoint,
    errors: [...BODY, ...IDEMPOTENCY, 'missing_url', ...ENDPOINT],
  },
  listEndpoints: read(
    '/endpoints',
    'Endpoint profiles',
    'List endpoint profiles',
    EndpointList,
    z.object({ ...page, include_archived: z.boolean().optional() }),
  ),
  getEndpoint: read('/endpoints/{id}', 'Endpoint profiles', 'Get an endpoint profile', Endpoint),
  updateEndpoint: {
    method: 'PATCH',
    path: '/endpoints/{id}',
    tag: 'Endpoint profiles',
    summary: 'Change an endpoint profile',
    description:
      'Creates a new version. Existing deliveries keep their version, and later ones use the new version.',
    body: { schema: EndpointWrite, required: false },
    query: null,
    idempotent: true,
    status: 200,
    answer: Endpoint,
    errors: [...BODY, ...IDEMPOTENCY, ...ENDPOINT],
  },
  archiveEndpoint: {
    ...action(
      '/endpoints/{id}/archive',
      'Endpoint profiles',
      'Archive an endpoint profile',
      'The profile can still be read, but new schedules cannot use it.',
      Endpoint,
    ),
    errors: ['profile_in_use'],
  },
  listDeliveries: read(
    '/deliveries',
    'Deliveries',
    'List deliveries',
    DeliveryList,
    z.object({
      ...page,
      status: z.enum(DELIVERY_STATUSES).optional(),
      schedule_id: z.string().optional(),
      created_after: z.iso
        .datetime({ offset: true })
        .optional()
        .meta({ description: 'Lists only deliveries that were created after this instant.' }),
      created_before: z.iso
        .datetime({ offset: true })
        .optional()
        .meta({ description: 'Lists only deliveries that were created before this instant.' }),
    }),
  ),
  getDelivery: read('/deliveries/{id}', 'Deliveries', 'Get a delivery', Delivery),
  replayDelivery: {
    ...action(
      '/deliveries/{id}/replay',
      'Deliveries',
      'Replay a finished delivery',
      'Creates a new delivery that is due now, with the same request and the same Idempotency-Key. A receiver that deduplicates ignores it if it has processed the original.',
      Delivery,
    ),
    idempotent: true,
    status: 201,
    errors: [...IDEMPOTENCY, 'not_replayable'],
  },
  listAttempts: read(
    '/deliveries/{id}/attempts',
    'Deliveries',
    'List the attempts of a delivery',
    AttemptList,
    z.object(page),
  ),
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof OPERATIONS;
