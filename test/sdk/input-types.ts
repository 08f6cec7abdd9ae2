/**
 * The types of requests. This file is only compiled: `npm run typecheck` fails if a line compiles that must not, or the
 * other way round. `input-types.test.ts` checks the text of the compiler's errors.
 */
import type {
  Alert,
  BreakerPolicyInput,
  Destination,
  EndpointCreate,
  EndpointPut,
  EndpointUpdate,
  Incident,
  ListDeliveriesQuery,
  NotifyInput,
  Payload,
  RetryPolicyInput,
  Schedule,
  ScheduleCreate,
  SchedulePut,
  ScheduleReschedule,
  ScheduleUpdate,
  Timing,
} from '#sdk/index.ts';
import { isAlert, isNotification } from '#sdk/index.ts';

declare const maybe: string | undefined;
declare const isRecurring: boolean;
declare const unknownValue: unknown;
declare const schedule: Schedule;
const endpoint = 'https://example.com/hook';
const at = new Date(0);

/** What a program may send. */
export const accepted: readonly ScheduleCreate[] = [
  { endpoint, delay: '5m' },
  { endpoint, delay: 5_000, method: 'PUT', ttl: 60_000, jitter: 500 },
  { endpoint, fire_at: at },
  { endpoint, fire_at: { epochMilliseconds: 0 } },
  { endpoint, fire_at: '2027-01-01T09:00:00Z' },
  { endpoint, local_fire_at: '2027-01-01T09:00:00', timezone: 'Europe/Berlin' },
  { endpoint, cron: '0 9 * * *' },
  { endpoint_id: 'ep_1', cron: '0 9 * * *', timezone: 'Europe/Berlin' },
  { endpoint, delay: '5m', body: 'text' },
  { endpoint, delay: '5m', json: { hello: ['world', 1, null] } },
  { endpoint, delay: '5m', json: unknownValue },
  { endpoint, delay: '5m', json: null, headers: { 'X-Tenant': 'acme' } },
  { endpoint, delay: '5m', retry_policy: { base: 5_000, max: '1h', jitter: false } },
  { endpoint, delay: '5m', notify: { endpoint_id: 'ep_1', on: ['dead_letter', 'expired'] } },
  { endpoint, delay: '5m', notify: { on: [] } },
  // A field may be undefined or null, which is the same as leaving it out.
  {
    endpoint,
    endpoint_id: undefined,
    delay: '5m',
    cron: null,
    timezone: undefined,
    body: null,
    ttl: undefined,
  },
  { endpoint, delay: '5m', body: maybe },
];

/** Requests that are put together from parts. */
const timing: Timing = isRecurring ? { cron: '0 9 * * *', timezone: 'UTC' } : { fire_at: at };
const destination: Destination = isRecurring ? { endpoint_id: 'ep_1' } : { endpoint, method: 'GET' };
const payload: Payload = isRecurring ? { json: 1 } : { body: '1' };
export const composed: readonly ScheduleCreate[] = [
  { ...destination, ...timing, ...payload, metadata: { team: 'billing' } },
  { endpoint, ...(maybe === undefined ? { delay: 5_000 } : { cron: maybe }) },
  { endpoint, ...(isRecurring ? { json: {} } : { body: '' }), delay: '5m' },
];
const inferred = { endpoint, delay: '5m', metadata: { team: 'billing' } };
export const fromVariable: ScheduleCreate = inferred;

/** What does not compile. The errors of these lines are in `input-types.test.ts`. */
export const refused: readonly ScheduleCreate[] = [
  // @ts-expect-error: no timing
  { endpoint },
  // @ts-expect-error: no destination
  { delay: '5m' },
  // @ts-expect-error: nothing
  {},
  // @ts-expect-error: two timings
  { endpoint, delay: '5m', cron: '0 9 * * *' },
  // @ts-expect-error: two timings
  { endpoint, fire_at: at, local_fire_at: '2027-01-01T09:00:00' },
  // @ts-expect-error: two destinations
  { endpoint, endpoint_id: 'ep_1', delay: '5m' },
  // @ts-expect-error: the endpoint profile has the method
  { endpoint_id: 'ep_1', method: 'POST', delay: '5m' },
  // @ts-expect-error: a delay has no time zone
  { endpoint, delay: '5m', timezone: 'Europe/Berlin' },
  // @ts-expect-error: two bodies
  { endpoint, delay: '5m', body: '{}', json: {} },
  // @ts-expect-error: the timing may be missing
  { endpoint, delay: maybe },
  // @ts-expect-error: an instant is no number
  { endpoint, fire_at: 1_800_000_000_000 },
  // @ts-expect-error: a wall-clock time is no instant
  { endpoint, local_fire_at: at },
  // @ts-expect-error: true or false
  { endpoint, delay: '5m', retry_policy: { jitter: 5_000 } },
  // @ts-expect-error: nobody to tell
  { endpoint, delay: '5m', notify: { on: ['expired'] } },
  // @ts-expect-error: no such outcome
  { endpoint, delay: '5m', notify: { endpoint_id: 'ep_1', on: ['canceled'] } },
  // @ts-expect-error: no outcomes
  { endpoint, delay: '5m', notify: { endpoint_id: 'ep_1' } },
  // @ts-expect-error: no such method
  { endpoint, delay: '5m', method: 'HEAD' },
  // @ts-expect-error: a text
  { endpoint, delay: '5m', metadata: { order: 4711 } },
  // @ts-expect-error: an endpoint profile has the timeout
  { endpoint, delay: '5m', timeout: '5s' },
];

export const changes: readonly ScheduleUpdate[] = [
  {},
  { ttl: null, retry_policy: { base: 1_000 } },
  { notify: null },
  // What the service answers can be sent again.
  { notify: schedule.notify },
  // @ts-expect-error: use reschedule
  { cron: '0 9 * * *' },
  // @ts-expect-error: the body of a schedule stays
  { json: {} },
];

/** What `put` takes. Its first argument is the name. */
export const put: readonly SchedulePut[] = [
  { endpoint, cron: '0 9 * * *', timezone: 'Europe/Berlin', ttl: 60_000, json: {} },
  { endpoint_id: 'ep_1', fire_at: at },
  { ...destination, ...(isRecurring ? { cron: '0 9 * * *' } : { fire_at: at }), ...payload },
  // @ts-expect-error: no fixed instant
  { endpoint, delay: '5m' },
  // @ts-expect-error: the name is the first argument
  { endpoint, cron: '0 9 * * *', name: 'nightly-report' },
];

export const timings: readonly ScheduleReschedule[] = [
  { delay: 5_000 },
  { fire_at: at },
  // @ts-expect-error: two timings
  { delay: 5_000, fire_at: at },
  // @ts-expect-error: nothing
  {},
  // @ts-expect-error: nothing but the timing
  { delay: 5_000, endpoint },
];

const retry: RetryPolicyInput = { base: 100, max: 1_000, max_attempts: 3 };
const breaker: BreakerPolicyInput = { threshold: 5, base_open: 1_000, max_open: '1h', probe_timeout: 500 };
export const endpoints: readonly EndpointCreate[] = [
  { url: endpoint },
  { url: endpoint, timeout: 10_000, retry_policy: retry, breaker_policy: breaker },
  // @ts-expect-error: no url
  { timeout: 10_000 },
  // @ts-expect-error: all four are needed
  { url: endpoint, breaker_policy: { threshold: 5 } },
];
export const endpointsPut: readonly EndpointPut[] = [
  { url: endpoint, timeout: 10_000 },
  // @ts-expect-error: no url
  { timeout: 10_000 },
  // @ts-expect-error: the name is the first argument
  { url: endpoint, name: 'billing-hooks' },
];
export const endpointChanges: readonly EndpointUpdate[] = [
  {},
  { timeout: null },
  { timeout: 5_000 },
  { notify: { endpoint_id: 'ep_1', on: ['succeeded'] } },
];

export const queries: readonly ListDeliveriesQuery[] = [
  { created_after: at, created_before: '2027-01-01T09:00:00Z' },
  { notification_of: 'dlv_1' },
  // @ts-expect-error: an instant is no number
  { created_after: 5 },
];

export const notified: readonly (NotifyInput | null)[] = [null, { endpoint_id: 'ep_1', on: [] }];

/** The type of a notification tells the status of its delivery. */
export function describeNotification(body: unknown): 'dead_letter' | 'expired' | 'succeeded' | null {
  if (!isNotification(body)) return null;
  switch (body.type) {
    case 'delivery.succeeded':
      return body.data.delivery.status;
    case 'delivery.dead_letter': {
      const status: 'dead_letter' = body.data.delivery.status;
      return status;
    }
    case 'delivery.expired':
      return body.data.delivery.status;
  }
}

/** Only a test has no incident, and only one that is over has an end. */
export function endOf(body: unknown): string | Incident | null {
  if (!isAlert(body)) return null;
  const alert: Alert = body;
  switch (alert.type) {
    case 'alert.opened':
    case 'alert.reminder':
      return alert.data.incident;
    case 'alert.closed':
      return alert.data.incident.closed_at;
    case 'alert.test':
      // @ts-expect-error: always null
      return alert.data.incident.id;
  }
}
