/** The body of a notification: how a delivery ended. */
import type * as Api from '../api-types.ts';
import { isFields } from '../describe-value.ts';
import { hasFields, holds, type Kinds } from './check-fields.ts';

type Outcome = Api.Notify['on'][number];
type Data = Api.Notification['data'];

interface EndedDelivery<S extends Outcome> extends Api.Delivery {
  readonly status: S;
}
interface EndedData<S extends Outcome> extends Data {
  readonly delivery: EndedDelivery<S>;
}
interface Ended<S extends Outcome> extends Api.Notification {
  readonly type: `delivery.${S}`;
  readonly data: EndedData<S>;
}

/** A delivery succeeded. */
export interface SucceededNotification extends Ended<'succeeded'> {}
/** A delivery ended without success after its attempts. */
export interface DeadLetterNotification extends Ended<'dead_letter'> {}
/** The deadline of a delivery passed before it succeeded. */
export interface ExpiredNotification extends Ended<'expired'> {}

/** How a delivery ended. `type` tells which outcome it is. */
export type Notification = SucceededNotification | DeadLetterNotification | ExpiredNotification;

const STATUS_OF: { readonly [S in Outcome as `delivery.${S}`]: S } = {
  'delivery.succeeded': 'succeeded',
  'delivery.dead_letter': 'dead_letter',
  'delivery.expired': 'expired',
};

const NOTIFICATION = { type: 'string', id: 'string', created_at: 'string' } satisfies Kinds<Api.Notification>;
const DELIVERY = {
  id: 'string',
  object: 'string',
  schedule_id: 'string?',
  mode: 'string',
  url: 'string',
  method: 'string',
  status: 'string',
  occurrence: 'string?',
  triggered: 'boolean',
  scheduled_for: 'string',
  deadline: 'string?',
  next_fire_at: 'string?',
  attempt_count: 'number',
  last_status_code: 'number?',
  error: 'string?',
  idempotency_key: 'string',
  replay_of: 'string?',
  notification_of: 'string?',
  endpoint_id: 'string?',
  endpoint_version: 'number?',
  created_at: 'string',
  finalized_at: 'string?',
} satisfies Kinds<Api.Delivery>;
const NOTIFY = { endpoint_id: 'string?' } satisfies Kinds<Api.Notify>;
const SCHEDULE = { id: 'string', name: 'string?' } satisfies Kinds<Data['schedule']>;
const ATTEMPT = {
  id: 'string',
  object: 'string',
  delivery_id: 'string',
  attempt_no: 'number',
  outcome: 'string',
  status_code: 'number?',
  due_at: 'string',
  fired_at: 'string',
  lateness_ms: 'number',
  finished_at: 'string?',
  egress_ms: 'number?',
  error: 'string?',
} satisfies Kinds<Api.Attempt>;
const RESPONSE = {
  status_code: 'number',
  excerpt: 'string',
  encoding: 'string',
  truncated: 'boolean',
} satisfies Kinds<NonNullable<Data['response']>>;

/**
 * Whether the JSON of a body is a notification that this package knows. It never throws. It does not verify who sent the
 * body: do that first.
 */
export function isNotification(body: unknown): body is Notification {
  return holds(
    () => hasFields(body, NOTIFICATION) && isKnownType(body.type) && isData(body.data, STATUS_OF[body.type]),
  );
}

function isKnownType(type: unknown): type is Notification['type'] {
  return typeof type === 'string' && Object.hasOwn(STATUS_OF, type);
}

function isData(data: unknown, status: Outcome): boolean {
  if (!isFields(data)) return false;
  const { delivery, schedule, attempts, response } = data;
  return (
    hasFields(delivery, DELIVERY) &&
    delivery.status === status &&
    isNotify(delivery.notify) &&
    hasFields(schedule, SCHEDULE) &&
    isMap(schedule.metadata) &&
    isListOf(attempts, (attempt) => hasFields(attempt, ATTEMPT)) &&
    (response === null || hasFields(response, RESPONSE))
  );
}

function isNotify(value: unknown): boolean {
  return value === null || (hasFields(value, NOTIFY) && isListOf(value.on, isText));
}

function isMap(value: unknown): boolean {
  return isFields(value) && Object.values(value).every(isText);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
