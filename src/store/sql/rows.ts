/**
 * The tables of schedules, deliveries and endpoint profiles.
 *
 * A claim, a settlement and a deferral happen to almost every delivery. Each has its own list of only the fields
 * that it changes. This sends fewer values, and an index without any of these columns is not touched.
 */
import type { Claim, Delivery, Target } from '#src/domain/delivery.ts';
import type { Method } from '#src/domain/destination.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { LABEL_DIGEST_CHARACTERS, type LabelDigest, type Labels } from '#src/domain/labels.ts';
import { type Notify, notifyText, parseNotify } from '#src/domain/notify.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '#src/domain/retry.ts';
import type { Destination, Schedule, ScheduleKind, Timing } from '#src/domain/schedule.ts';
import { column, field, fixed, flag, json, mapping, optional, part, plain } from './mapping.ts';

/** Labels may be long. Each driver gives them in the form that it decodes fastest. */
const labels = field<Labels>(JSON.stringify, (stored) => JSON.parse(textOf(stored as string | Uint8Array)));

function textOf(stored: string | Uint8Array): string {
  if (typeof stored === 'string') return stored;
  return Buffer.from(stored.buffer, stored.byteOffset, stored.length).toString();
}

const DEFAULT_RETRY_POLICY_TEXT = JSON.stringify(DEFAULT_RETRY_POLICY);

/** Most schedules have the default policy, which is one object. Its text is made once. */
const retryPolicy = field<RetryPolicy | null>(
  (policy) => {
    if (policy === null) return null;
    return policy === DEFAULT_RETRY_POLICY ? DEFAULT_RETRY_POLICY_TEXT : JSON.stringify(policy);
  },
  (stored) => (stored === null ? null : JSON.parse(stored as string)),
);

const notify = field<Notify | null>(notifyText, (stored) => parseNotify(stored as string | null));

/** A row stores the digests of its labels one after another, without a separator. */
const digests = field<readonly LabelDigest[]>(
  (value) => value.join(''),
  (stored) => fromLabelDigests(stored as string),
);

export function fromLabelDigests(text: string): readonly LabelDigest[] {
  return Array.from({ length: text.length / LABEL_DIGEST_CHARACTERS }, (_, at) => {
    const from = at * LABEL_DIGEST_CHARACTERS;
    return text.slice(from, from + LABEL_DIGEST_CHARACTERS) as LabelDigest;
  });
}

interface TimingColumns {
  readonly kind: ScheduleKind;
  readonly fireAt: Instant;
  readonly cron: string;
  readonly timezone: string | null;
}

function toTiming({ kind, fireAt, cron, timezone }: TimingColumns): Timing {
  return kind === 'one_shot' ? { kind, fireAt, timezone } : { kind, cron, timezone: timezone as string };
}

interface DestinationColumns {
  readonly url: string;
  readonly method: Method;
  readonly endpointId: EndpointId | null;
}

function toDestination({ url, method, endpointId }: DestinationColumns): Destination {
  return endpointId === null ? { kind: 'inline', url, method } : { kind: 'profile', endpointId };
}

export const SCHEDULE = mapping<Schedule>({
  partition: fixed(plain),
  id: fixed(plain),
  name: plain,
  state: plain,
  timing: part<TimingColumns>({ kind: plain, fireAt: plain, cron: plain, timezone: plain }, toTiming),
  destination: part<DestinationColumns>({ url: plain, method: plain, endpointId: plain }, toDestination),
  headerNames: json,
  payloadBytes: plain,
  payloadVersion: plain,
  jitter: plain,
  ttl: plain,
  idempotencyKey: plain,
  retryPolicy,
  rateLimit: json,
  notify,
  metadata: labels,
  labelDigests: digests,
  pendingId: plain,
  cronAt: plain,
  lastOccurrence: plain,
  createdAt: fixed(plain),
  updatedAt: plain,
  endedAt: plain,
  revision: plain,
});

export const FIRING_SCHEDULE = SCHEDULE.without('headerNames', 'metadata');

/** A claim takes the pending delivery of a recurring schedule. */
export const SCHEDULE_ADVANCED = SCHEDULE.only('pendingId', 'cronAt', 'lastOccurrence', 'revision');

/** The last delivery of a schedule ends. */
export const SCHEDULE_COMPLETED = SCHEDULE.only('state', 'updatedAt', 'endedAt', 'revision');

export const DELIVERY = mapping<Delivery>({
  partition: fixed(plain),
  id: fixed(plain),
  scheduleId: fixed(plain),
  status: plain,
  occurrence: plain,
  movedFrom: plain,
  scheduledFor: plain,
  dueAt: plain,
  reserved: flag,
  ttl: plain,
  deadline: plain,
  attemptCount: plain,
  lastStatusCode: plain,
  error: plain,
  idempotencyKey: plain,
  replayOf: fixed(plain),
  notify,
  notificationOf: fixed(plain),
  target: part<Target>({
    url: plain,
    method: plain,
    endpointId: plain,
    endpointVersion: plain,
  }),
  payloadBytes: plain,
  payloadVersion: plain,
  retryPolicy,
  claim: optional(
    part<Claim>({
      node: column('claim_node', plain),
      attemptId: column('claim_attempt_id', plain),
      dueAt: column('claim_due_at', plain),
      firedAt: column('claim_fired_at', plain),
    }),
  ),
  createdAt: fixed(plain),
  finalizedAt: plain,
  revision: plain,
});

export const DELIVERY_CLAIMED = DELIVERY.only(
  'status',
  'dueAt',
  'reserved',
  'attemptCount',
  'claim',
  'revision',
);

/** An attempt ends, or a delivery ends without one. The claim ends as well (`UNCLAIMED`). */
export const DELIVERY_SETTLED = DELIVERY.only(
  'status',
  'dueAt',
  'reserved',
  'lastStatusCode',
  'error',
  'finalizedAt',
  'revision',
);

/** SQL: the delivery is not claimed. */
export const UNCLAIMED = DELIVERY.only('claim')
  .columns.map((column) => `${column} = NULL`)
  .join(', ');

/** The gate of the endpoint defers a delivery. */
export const DELIVERY_DEFERRED = DELIVERY.only('dueAt', 'reserved', 'revision');

type HeadOnly = 'name' | 'notify' | 'archived' | 'createdAt' | 'updatedAt' | 'revision';

/** An endpoint profile is stored as its head, which names the current version, and its versions. */
export const PROFILE_HEAD = mapping<Pick<EndpointProfile, 'partition' | 'id' | 'version' | HeadOnly>>({
  partition: fixed(plain),
  id: fixed(plain),
  name: plain,
  version: plain,
  notify,
  archived: flag,
  createdAt: fixed(plain),
  updatedAt: plain,
  revision: plain,
});

export const PROFILE_VERSION = mapping<Omit<EndpointProfile, HeadOnly>>({
  partition: plain,
  id: column('endpoint_id', plain),
  version: plain,
  url: plain,
  method: plain,
  headerNames: json,
  timeout: plain,
  retryPolicy,
  retryBudget: json,
  rateLimit: json,
  breakerPolicy: json,
  responseExcerpt: plain,
  standardWebhooks: flag,
  metadata: labels,
});

export const FIRING_PROFILE_VERSION = PROFILE_VERSION.without('headerNames', 'metadata');

export function readGate(state: string): Gate {
  return JSON.parse(state) as Gate;
}

/** SQL: the breaker of a gate is not closed, judged by the text of its stored state. `gates_open` has such gates. */
export const BREAKER_NOT_CLOSED = `state NOT LIKE '%"openUntil":null%'`;
