/**
 * All operations of the API as a table. The routes and the OpenAPI document are both built from it, so they
 * always agree. `operation-docs.ts` describes each operation for readers.
 */
import type { z } from 'zod';
import type { ErrorCode } from '#src/domain/errors.ts';
import { EndpointWrite, ScheduleCreate, ScheduleReschedule, ScheduleUpdate } from './bodies.ts';

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** The path below `/v1`. `{id}` is the id of the object, and `{name}` its name. */
  readonly path: string;
  /** Null if a body is ignored. An optional body may be empty. */
  readonly body: { readonly schema: z.ZodType; readonly required: boolean } | null;
  /** Whether the operation accepts `Idempotency-Key`. */
  readonly idempotent: boolean;
  readonly status: 200 | 201;
  /** Whether the answer is 201 if the object was created. */
  readonly mayCreate?: true;
  /** The version of the program that began to have the operation. Older nodes do not know what it writes. */
  readonly since?: string;
  /** Additional errors. Every operation has 400, 401, 500 and 503, and 404 if its path has an id. */
  readonly errors: readonly ErrorCode[];
}

const IDEMPOTENCY: readonly ErrorCode[] = [
  'idempotency_key_too_long',
  'idempotency_key_reuse',
  'idempotency_in_progress',
];
const BODY: readonly ErrorCode[] = ['invalid_json', 'payload_too_large'];
const LIST: readonly ErrorCode[] = ['invalid_cursor'];
const FILTERED_LIST: readonly ErrorCode[] = [...LIST, 'invalid_request'];
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
const DESTINATION: readonly ErrorCode[] = [
  'multiple_endpoint',
  'method_on_profile',
  'invalid_method',
  'missing_endpoint',
];
const NAME: readonly ErrorCode[] = ['invalid_name', 'name_taken'];
const SCHEDULE: readonly ErrorCode[] = [
  ...DESTINATION,
  ...TIMING,
  'invalid_request',
  'url_blocked',
  'invalid_retry_policy',
  'invalid_rate_limit',
  'too_many_labels',
  ...NAME,
  'invalid_notify',
  'invalid_endpoint',
  'endpoint_archived',
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
  'invalid_response_excerpt',
  'invalid_notify',
  'invalid_signature',
  'too_many_labels',
  ...NAME,
];

function read(path: string, errors: readonly ErrorCode[] = []): Operation {
  return { method: 'GET', path, body: null, idempotent: false, status: 200, errors };
}

function action(path: string, errors: readonly ErrorCode[] = []): Operation {
  return { method: 'POST', path, body: null, idempotent: false, status: 200, errors };
}

/** Fields of bodies that older versions of the program do not know, by the version that began to have them. */
export const FIELDS_SINCE: Readonly<Record<string, string>> = {
  name: '0.2.0',
  response_excerpt: '0.2.0',
  notify: '0.3.0',
  standard_webhooks: '0.3.0',
};

export const OPERATIONS = {
  createSchedule: {
    method: 'POST',
    path: '/schedules',
    body: { schema: ScheduleCreate, required: true },
    idempotent: true,
    status: 201,
    errors: [...BODY, ...IDEMPOTENCY, ...SCHEDULE],
  },
  listSchedules: read('/schedules', FILTERED_LIST),
  getSchedule: read('/schedules/{id}'),
  updateSchedule: {
    method: 'PATCH',
    path: '/schedules/{id}',
    body: { schema: ScheduleUpdate, required: false },
    idempotent: true,
    status: 200,
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
      ...NAME,
      'invalid_notify',
    ],
  },
  putSchedule: {
    method: 'PUT',
    path: '/schedules/named/{name}',
    body: { schema: ScheduleCreate, required: true },
    idempotent: false,
    status: 200,
    mayCreate: true,
    since: '0.2.0',
    errors: [...BODY, ...SCHEDULE, 'delivery_in_progress'],
  },
  getNamedSchedule: read('/schedules/named/{name}'),
  rescheduleSchedule: {
    method: 'POST',
    path: '/schedules/{id}/reschedule',
    body: { schema: ScheduleReschedule, required: true },
    idempotent: true,
    status: 200,
    errors: [...BODY, ...IDEMPOTENCY, ...TIMING, 'schedule_not_active'],
  },
  pauseSchedule: action('/schedules/{id}/pause'),
  resumeSchedule: action('/schedules/{id}/resume'),
  cancelSchedule: action('/schedules/{id}/cancel'),
  triggerSchedule: {
    ...action('/schedules/{id}/trigger', [...IDEMPOTENCY, 'schedule_not_active', 'delivery_in_progress']),
    idempotent: true,
    mayCreate: true,
    since: '0.2.0',
  },
  listScheduleDeliveries: read('/schedules/{id}/deliveries', LIST),
  createEndpoint: {
    method: 'POST',
    path: '/endpoints',
    body: { schema: EndpointWrite, required: true },
    idempotent: true,
    status: 201,
    errors: [...BODY, ...IDEMPOTENCY, 'missing_url', ...ENDPOINT],
  },
  listEndpoints: read('/endpoints', FILTERED_LIST),
  getEndpoint: read('/endpoints/{id}'),
  updateEndpoint: {
    method: 'PATCH',
    path: '/endpoints/{id}',
    body: { schema: EndpointWrite, required: false },
    idempotent: true,
    status: 200,
    errors: [...BODY, ...IDEMPOTENCY, ...ENDPOINT],
  },
  putEndpoint: {
    method: 'PUT',
    path: '/endpoints/named/{name}',
    body: { schema: EndpointWrite, required: true },
    idempotent: false,
    status: 200,
    mayCreate: true,
    since: '0.2.0',
    errors: [...BODY, 'missing_url', ...ENDPOINT],
  },
  getNamedEndpoint: read('/endpoints/named/{name}'),
  archiveEndpoint: action('/endpoints/{id}/archive', ['profile_in_use']),
  listDeliveries: read('/deliveries', FILTERED_LIST),
  getDelivery: read('/deliveries/{id}'),
  replayDelivery: {
    ...action('/deliveries/{id}/replay', [...IDEMPOTENCY, 'not_replayable']),
    idempotent: true,
    status: 201,
  },
  cancelDelivery: { ...action('/deliveries/{id}/cancel', ['not_cancelable']), since: '0.2.0' },
  listAttempts: read('/deliveries/{id}/attempts', LIST),
  getAttemptResponse: read('/deliveries/{id}/attempts/{attempt_no}/response'),
  listRecentAttempts: read('/attempts', FILTERED_LIST),
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof OPERATIONS;
