/** The form of a schedule, and the bodies of POST and PATCH. */
import type { Endpoint, Schedule, ScheduleCreate, ScheduleUpdate } from '../../../sdk/src/api-types.ts';
import type { FieldErrors } from './field-errors.ts';
import { findNotifyError, NO_NOTIFY, type NotifyForm, notifyBody, notifyFormOf } from './notify-form.ts';
import { findPairError, type Pair, pairsOf, recordOf } from './pairs.ts';
import { NO_RETRY, type RetryForm, rateLimitBody, retryBody, retryFormOf } from './policy-form.ts';
import { type TimingForm, timingBody, timingFields } from './timing-form.ts';

export const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
export type Method = Endpoint['method'];

export interface ScheduleForm {
  readonly name: string;
  readonly destination: 'inline' | 'profile';
  readonly url: string;
  readonly endpointId: string;
  readonly method: Method;
  readonly headers: readonly Pair[];
  readonly body: string;
  readonly timing: TimingForm;
  readonly ttl: string;
  readonly retry: RetryForm;
  readonly jitter: string;
  readonly perSecond: string;
  readonly idempotencyKey: string;
  readonly notify: NotifyForm;
  readonly labels: readonly Pair[];
}

export function newSchedule(timing: TimingForm): ScheduleForm {
  return {
    name: '',
    destination: 'inline',
    url: '',
    endpointId: '',
    method: 'POST',
    headers: [],
    body: '',
    timing,
    ttl: '',
    retry: NO_RETRY,
    jitter: '',
    perSecond: '',
    idempotencyKey: '',
    notify: NO_NOTIFY,
    labels: [],
  };
}

export function scheduleFormOf(schedule: Schedule, timing: TimingForm): ScheduleForm {
  return {
    ...newSchedule(timing),
    name: schedule.name ?? '',
    destination: schedule.endpoint_id === null ? 'inline' : 'profile',
    url: schedule.endpoint,
    endpointId: schedule.endpoint_id ?? '',
    method: schedule.method,
    ttl: schedule.ttl ?? '',
    retry: retryFormOf(schedule.retry_policy),
    notify: notifyFormOf(schedule.notify),
    labels: pairsOf(schedule.metadata),
  };
}

/** The fields of the API in the part of the form that is closed at first. */
export const ADVANCED_FIELDS: readonly string[] = [
  'metadata',
  'ttl',
  'jitter',
  'rate_limit',
  'idempotency_key',
  'retry_policy',
  'notify',
];

/** The fields of the API that the form shows. An error of any other field belongs to the whole form. */
export function scheduleFields({ destination, timing }: ScheduleForm): readonly string[] {
  const place = destination === 'inline' ? ['endpoint', 'method'] : ['endpoint_id'];
  return ['name', ...place, ...timingFields(timing), 'headers', 'body', ...ADVANCED_FIELDS];
}

/** Errors that the page finds without a request. */
export function validateSchedule(form: ScheduleForm): FieldErrors {
  const errors: Record<string, string> = {};
  if (form.destination === 'inline' && form.url.trim() === '') errors.endpoint = 'Enter a URL.';
  if (form.destination === 'profile' && form.endpointId === '')
    errors.endpoint_id = 'Choose an endpoint profile.';
  if (timingBody(form.timing) === null) errors[form.timing.kind] = 'Enter a time.';
  const headers = findPairError(form.headers, 'header');
  if (headers !== null) errors.headers = headers;
  return { ...errors, ...validateEdit(form) };
}

/** Errors in the part of the form that an existing schedule has too. */
export function validateEdit(form: ScheduleForm): FieldErrors {
  const labels = findPairError(form.labels, 'label');
  const notify = findNotifyError(form.notify);
  return { ...(labels !== null && { metadata: labels }), ...(notify !== null && { notify }) };
}

export function scheduleBody(form: ScheduleForm): ScheduleCreate {
  const headers = recordOf(form.headers);
  const labels = recordOf(form.labels);
  const rateLimit = rateLimitBody(form.perSecond);
  const retry = retryBody(form.retry);
  const notify = notifyBody(form.notify);
  return {
    ...(form.name.trim() !== '' && { name: form.name.trim() }),
    ...(form.destination === 'inline'
      ? { endpoint: form.url.trim(), method: form.method }
      : { endpoint_id: form.endpointId }),
    ...timingBody(form.timing),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(form.body !== '' && { body: form.body }),
    ...(form.ttl.trim() !== '' && { ttl: form.ttl.trim() }),
    ...(retry !== null && { retry_policy: retry }),
    ...(form.jitter.trim() !== '' && { jitter: form.jitter.trim() }),
    ...(rateLimit !== null && { rate_limit: rateLimit }),
    ...(form.idempotencyKey.trim() !== '' && { idempotency_key: form.idempotencyKey.trim() }),
    ...(notify !== null && { notify }),
    ...(Object.keys(labels).length > 0 && { metadata: labels }),
  };
}

/** Only the changed fields, so that changes of other users in the meantime stay. */
export function scheduleChanges(form: ScheduleForm, before: Schedule): ScheduleUpdate {
  const labels = recordOf(form.labels);
  const retry = retryBody(form.retry);
  const notify = notifyBody(form.notify);
  const ttl = form.ttl.trim() === '' ? null : form.ttl.trim();
  const isInline = before.endpoint_id === null;
  const name = form.name.trim() === '' ? null : form.name.trim();
  return {
    ...(name !== before.name && { name }),
    ...(isInline && form.url.trim() !== before.endpoint && { endpoint: form.url.trim() }),
    ...(isInline && form.method !== before.method && { method: form.method }),
    ...(ttl !== before.ttl && { ttl }),
    ...(!isSame(retry, retryBody(retryFormOf(before.retry_policy))) && { retry_policy: retry }),
    ...(!isSame(notify, notifyBody(notifyFormOf(before.notify))) && { notify }),
    ...(!isSame(labels, before.metadata) && { metadata: labels }),
  };
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export type BodyHint =
  | { readonly kind: 'empty' | 'json' | 'text' }
  | { readonly kind: 'broken'; readonly message: string };

/** A hint only, since any text may be sent. A text that starts like JSON is probably meant to be JSON. */
export function bodyHint(text: string): BodyHint {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'empty' };
  if (!/^[[{"]/.test(trimmed)) return { kind: 'text' };
  try {
    JSON.parse(trimmed);
    return { kind: 'json' };
  } catch (error) {
    return { kind: 'broken', message: error instanceof Error ? error.message : 'not JSON' };
  }
}
