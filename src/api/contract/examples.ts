/**
 * An example of the request and of the answer of each operation. They tell one story: the objects were created at
 * 2026-11-15T08:00:00Z, and the schedules fire the next day. Tests send the requests to a service and compare.
 */
import type { z } from 'zod';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import type { EndpointWrite, ScheduleCreate, ScheduleReschedule, ScheduleUpdate } from './bodies.ts';
import { exampleId } from './forms.ts';
import type { OperationId } from './operations.ts';
import type {
  AttemptResource,
  AttemptResponseResource,
  DeliveryResource,
  EndpointResource,
  PlanResource,
  RecentAttemptResource,
  RetryPolicyResource,
  ScheduleResource,
} from './resources.ts';

export interface Example {
  readonly summary: string;
  readonly value: object;
}
/** The examples of one operation, by name. */
export interface OperationExamples {
  readonly request?: Readonly<Record<string, Example>>;
  readonly answer: Readonly<Record<string, Example>>;
}

const CREATED_AT = '2026-11-15T08:00:00.000Z';
export const FIRED_AT = '2026-11-16T08:00:00.000Z';
const UPDATED_AT = '2026-11-15T09:30:00.000Z';
export const HOOK = 'https://example.com/hooks/reminder';

const defaultPolicy: RetryPolicyResource = {
  max_attempts: DEFAULT_RETRY_POLICY.maxAttempts,
  strategy: DEFAULT_RETRY_POLICY.strategy,
  base: DEFAULT_RETRY_POLICY.base,
  factor: DEFAULT_RETRY_POLICY.factor,
  max: DEFAULT_RETRY_POLICY.max,
  jitter: DEFAULT_RETRY_POLICY.jitter,
};

const createDelayed: z.input<typeof ScheduleCreate> = {
  endpoint: HOOK,
  delay: '24h',
  body: '{"invoice":4711}',
};
const createRecurring: z.input<typeof ScheduleCreate> = {
  endpoint: HOOK,
  method: 'POST',
  headers: { 'X-Tenant': 'acme' },
  body: '{"report":"daily"}',
  cron: '0 9 * * MON-FRI',
  timezone: 'Europe/Berlin',
  ttl: '1h',
  metadata: { team: 'billing' },
};
const createLocal: z.input<typeof ScheduleCreate> = {
  endpoint: HOOK,
  local_fire_at: '2030-01-01T09:00:00',
  timezone: 'Europe/Berlin',
};
const createAtInstant: z.input<typeof ScheduleCreate> = {
  endpoint_id: exampleId('ep'),
  fire_at: '2030-01-01T09:00:00+01:00',
  body: '{"invoice":4711}',
  idempotency_key: 'invoice-4711',
};

const oneShot: ScheduleResource = {
  id: exampleId('sch'),
  object: 'schedule',
  name: null,
  mode: 'test',
  kind: 'one_shot',
  state: 'active',
  endpoint: HOOK,
  endpoint_id: null,
  method: 'POST',
  header_keys: [],
  fire_at: FIRED_AT,
  cron: null,
  timezone: null,
  next_fire_at: FIRED_AT,
  next_runs: [FIRED_AT],
  ttl: null,
  jitter: null,
  idempotency_key: null,
  retry_policy: defaultPolicy,
  rate_limit: null,
  notify: null,
  metadata: {},
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};
const recurring: ScheduleResource = {
  ...oneShot,
  kind: 'recurring',
  header_keys: ['X-Tenant'],
  fire_at: null,
  cron: '0 9 * * MON-FRI',
  timezone: 'Europe/Berlin',
  next_runs: [
    FIRED_AT,
    '2026-11-17T08:00:00.000Z',
    '2026-11-18T08:00:00.000Z',
    '2026-11-19T08:00:00.000Z',
    '2026-11-20T08:00:00.000Z',
  ],
  ttl: '1h',
  metadata: { team: 'billing' },
};
const idle = { next_fire_at: null, next_runs: [], updated_at: UPDATED_AT };

export const delivery: DeliveryResource = {
  id: exampleId('dlv'),
  object: 'delivery',
  schedule_id: exampleId('sch'),
  mode: 'test',
  url: HOOK,
  method: 'POST',
  status: 'succeeded',
  occurrence: FIRED_AT,
  triggered: false,
  scheduled_for: FIRED_AT,
  deadline: '2026-11-16T09:00:00.000Z',
  next_fire_at: null,
  attempt_count: 1,
  last_status_code: 200,
  error: null,
  idempotency_key: `${exampleId('sch')}:${FIRED_AT}`,
  replay_of: null,
  notification_of: null,
  notify: null,
  endpoint_id: null,
  endpoint_version: null,
  created_at: CREATED_AT,
  finalized_at: '2026-11-16T08:00:00.086Z',
};
const replay: DeliveryResource = {
  ...delivery,
  id: 'dlv_01m7hv29e0zqgw5m2r7n9x0abc',
  status: 'scheduled',
  scheduled_for: '2026-11-16T09:30:00.000Z',
  deadline: '2026-11-16T10:30:00.000Z',
  next_fire_at: '2026-11-16T09:30:00.000Z',
  attempt_count: 0,
  last_status_code: null,
  replay_of: delivery.id,
  created_at: '2026-11-16T09:30:00.000Z',
  finalized_at: null,
};

export const attempt: AttemptResource = {
  id: exampleId('att'),
  object: 'attempt',
  delivery_id: exampleId('dlv'),
  attempt_no: 1,
  outcome: 'success',
  status_code: 200,
  due_at: FIRED_AT,
  fired_at: '2026-11-16T08:00:00.002Z',
  lateness_ms: 2,
  finished_at: '2026-11-16T08:00:00.086Z',
  egress_ms: 84,
  error: null,
};

const recentAttempt: RecentAttemptResource = {
  ...attempt,
  schedule_id: delivery.schedule_id,
  schedule_name: null,
  url: delivery.url,
  method: delivery.method,
  endpoint_id: null,
};

const triggered: DeliveryResource = {
  ...replay,
  occurrence: null,
  triggered: true,
  idempotency_key: `${exampleId('sch')}:${replay.id}`,
  replay_of: null,
};
const canceled: DeliveryResource = {
  ...delivery,
  status: 'canceled',
  last_status_code: 503,
  error: 'HTTP 503',
  finalized_at: '2026-11-16T08:00:05.000Z',
};
const plan: PlanResource = { object: 'plan', action: 'change', fields: ['cron', 'body'] };
const response: AttemptResponseResource = {
  object: 'attempt_response',
  status_code: 503,
  content_type: 'text/plain',
  excerpt: 'upstream timed out',
  encoding: 'utf-8',
  truncated: false,
};

const createProfile: z.input<typeof EndpointWrite> = {
  url: HOOK,
  headers: { Authorization: 'Bearer receiver-token' },
  timeout: '10s',
  retry_policy: { max_attempts: 5 },
  breaker_policy: { threshold: 10, base_open: '30s', max_open: '1h', probe_timeout: '30s' },
  metadata: { team: 'billing' },
};
const profile: EndpointResource = {
  id: exampleId('ep'),
  object: 'endpoint',
  name: null,
  mode: 'test',
  url: HOOK,
  method: 'POST',
  header_keys: ['Authorization'],
  timeout: '10s',
  retry_policy: { ...defaultPolicy, max_attempts: 5 },
  retry_budget: null,
  rate_limit: null,
  breaker_policy: { threshold: 10, base_open: '30s', max_open: '1h', probe_timeout: '30s' },
  response_excerpt: null,
  notify: null,
  standard_webhooks: false,
  metadata: { team: 'billing' },
  version: 1,
  archived: false,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};

const updateSchedule: z.input<typeof ScheduleUpdate> = { ttl: '2h', metadata: { team: 'finance' } };
const reschedule: z.input<typeof ScheduleReschedule> = {
  cron: '30 9 * * MON-FRI',
  timezone: 'Europe/Berlin',
};
const updateProfile: z.input<typeof EndpointWrite> = { timeout: '30s', retry_budget: { rate: 5, burst: 50 } };

function one(summary: string, value: object): Readonly<Record<string, Example>> {
  return { default: { summary, value } };
}

function list(summary: string, item: object): OperationExamples {
  return { answer: one(summary, { object: 'list', data: [item], has_more: false, next_cursor: null }) };
}

export const OPERATION_EXAMPLES: Readonly<Record<OperationId, OperationExamples>> = {
  createSchedule: {
    request: {
      delay: { summary: 'Send once, in 24 hours', value: createDelayed },
      cron: { summary: 'Send on weekdays at nine in Berlin', value: createRecurring },
      local_fire_at: { summary: 'Send once, at a local time', value: createLocal },
      fire_at: { summary: 'Send once, at an instant, to an endpoint profile', value: createAtInstant },
    },
    answer: {
      one_shot: { summary: 'A one-shot schedule', value: oneShot },
      recurring: { summary: 'A recurring schedule', value: recurring },
    },
  },
  listSchedules: list('One schedule', recurring),
  getSchedule: { answer: one('A recurring schedule', recurring) },
  putSchedule: {
    request: { cron: { summary: 'Send on weekdays at nine in Berlin', value: createRecurring } },
    answer: {
      schedule: { summary: 'The schedule', value: { ...recurring, name: 'daily-report' } },
      plan: { summary: 'With `dry_run=true`', value: plan },
    },
  },
  getNamedSchedule: { answer: one('The schedule with this name', { ...recurring, name: 'daily-report' }) },
  triggerSchedule: { answer: one('The new delivery', triggered) },
  updateSchedule: {
    request: one('Change ttl and labels', updateSchedule),
    answer: one('The changed schedule', {
      ...recurring,
      ttl: '2h',
      metadata: { team: 'finance' },
      updated_at: UPDATED_AT,
    } satisfies ScheduleResource),
  },
  rescheduleSchedule: {
    request: {
      cron: { summary: 'Replace the recurrence', value: reschedule },
      delay: { summary: 'Move the next request to one hour from now', value: { delay: '1h' } },
    },
    answer: one('The schedule with its new runs', {
      ...recurring,
      cron: '30 9 * * MON-FRI',
      next_fire_at: '2026-11-16T08:30:00.000Z',
      next_runs: recurring.next_runs.map((run) => run.replace('08:00', '08:30')),
      updated_at: UPDATED_AT,
    } satisfies ScheduleResource),
  },
  pauseSchedule: { answer: one('The paused schedule', { ...recurring, ...idle, state: 'paused' }) },
  resumeSchedule: { answer: one('The active schedule', { ...recurring, updated_at: UPDATED_AT }) },
  cancelSchedule: { answer: one('The canceled schedule', { ...recurring, ...idle, state: 'canceled' }) },
  listScheduleDeliveries: list('One delivery', delivery),
  createEndpoint: {
    request: one('A destination with its own timeout and policies', createProfile),
    answer: one('The first version of an endpoint profile', profile),
  },
  listEndpoints: list('One endpoint profile', profile),
  getEndpoint: { answer: one('An endpoint profile', profile) },
  updateEndpoint: {
    request: one('Change timeout and retry budget', updateProfile),
    answer: one('The next version of the endpoint profile', {
      ...profile,
      timeout: '30s',
      retry_budget: { rate: 5, burst: 50 },
      version: 2,
      updated_at: UPDATED_AT,
    } satisfies EndpointResource),
  },
  putEndpoint: {
    request: one('A destination with its own timeout and policies', createProfile),
    answer: {
      endpoint: { summary: 'The endpoint profile', value: { ...profile, name: 'billing-hooks' } },
      plan: { summary: 'With `dry_run=true`', value: { ...plan, fields: ['timeout'] } },
    },
  },
  getNamedEndpoint: { answer: one('The profile with this name', { ...profile, name: 'billing-hooks' }) },
  archiveEndpoint: {
    answer: one('The archived endpoint profile', { ...profile, archived: true, updated_at: UPDATED_AT }),
  },
  listDeliveries: list('One delivery', delivery),
  getDelivery: { answer: one('A delivery that succeeded', delivery) },
  replayDelivery: { answer: one('The new delivery', replay) },
  cancelDelivery: { answer: one('The canceled delivery', canceled) },
  listAttempts: list('One attempt', attempt),
  getAttemptResponse: { answer: one('The beginning of an answer', response) },
  listRecentAttempts: list('One attempt', recentAttempt),
};
