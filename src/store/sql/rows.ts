/**
 * Rows of schedules, deliveries and endpoint profiles, and their conversion to domain objects. They are read for every
 * delivery, so this is written by hand: it is faster than a mapping (`mapping.ts`). The type of a row follows from its
 * writer. Casts are allowed here, because these tables hold only what this program wrote.
 */
import type { Claim, Delivery } from '#src/domain/delivery.ts';
import type { Method } from '#src/domain/destination.ts';
import type {
  BreakerPolicy,
  EndpointProfile,
  FiringProfile,
  RateLimit,
  RetryBudget,
} from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { Instant } from '#src/domain/instant.ts';
import { LABEL_DIGEST_CHARACTERS, type LabelDigest, type Labels } from '#src/domain/labels.ts';
import type { RetryPolicy } from '#src/domain/retry.ts';
import type { Destination, FiringSchedule, Schedule, Timing } from '#src/domain/schedule.ts';

export type ScheduleRow = Readonly<ReturnType<typeof toScheduleRow>>;

export function toScheduleRow(schedule: Schedule) {
  const { timing, destination } = schedule;
  const isOneShot = timing.kind === 'one_shot';
  const isInline = destination.kind === 'inline';
  return {
    partition: schedule.partition,
    id: schedule.id,
    state: schedule.state,
    kind: timing.kind,
    url: isInline ? destination.url : null,
    method: isInline ? destination.method : null,
    endpoint_id: isInline ? null : destination.endpointId,
    header_names: JSON.stringify(schedule.headerNames),
    payload_bytes: schedule.payloadBytes,
    fire_at: isOneShot ? timing.fireAt : null,
    cron: isOneShot ? null : timing.cron,
    timezone: timing.timezone,
    jitter: schedule.jitter,
    ttl: schedule.ttl,
    idempotency_key: schedule.idempotencyKey,
    retry_policy: toJson(schedule.retryPolicy),
    rate_limit: toJson(schedule.rateLimit),
    label_digests: schedule.labelDigests.join(''),
    metadata: JSON.stringify(schedule.metadata),
    pending_id: schedule.pendingId,
    cron_at: schedule.cronAt,
    last_occurrence: schedule.lastOccurrence,
    created_at: schedule.createdAt,
    updated_at: schedule.updatedAt,
    ended_at: schedule.endedAt,
    revision: schedule.revision,
  };
}

/** The columns that a customer cannot make large. */
export type FiringScheduleRow = Omit<ScheduleRow, 'header_names' | 'metadata'>;

export function fromScheduleRow(row: ScheduleRow): Schedule {
  return {
    ...fromFiringScheduleRow(row),
    headerNames: JSON.parse(row.header_names) as readonly string[],
    metadata: JSON.parse(row.metadata) as Labels,
  };
}

export function fromFiringScheduleRow(row: FiringScheduleRow): FiringSchedule {
  return {
    partition: row.partition,
    id: row.id,
    state: row.state,
    timing: timingOf(row),
    destination: destinationOf(row),
    payloadBytes: row.payload_bytes,
    jitter: row.jitter,
    ttl: row.ttl,
    idempotencyKey: row.idempotency_key,
    retryPolicy: fromJson<RetryPolicy>(row.retry_policy),
    rateLimit: fromJson<RateLimit>(row.rate_limit),
    labelDigests: fromLabelDigests(row.label_digests),
    pendingId: row.pending_id,
    cronAt: row.cron_at,
    lastOccurrence: row.last_occurrence,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
    revision: row.revision,
  };
}

/** A row stores the digests of its labels one after another, without a separator. */
export function fromLabelDigests(text: string): readonly LabelDigest[] {
  return Array.from({ length: text.length / LABEL_DIGEST_CHARACTERS }, (_, at) => {
    const from = at * LABEL_DIGEST_CHARACTERS;
    return text.slice(from, from + LABEL_DIGEST_CHARACTERS) as LabelDigest;
  });
}

function timingOf(row: FiringScheduleRow): Timing {
  return row.kind === 'one_shot'
    ? { kind: 'one_shot', fireAt: row.fire_at as Instant, timezone: row.timezone }
    : { kind: 'recurring', cron: row.cron as string, timezone: row.timezone as string };
}

function destinationOf(row: FiringScheduleRow): Destination {
  return row.endpoint_id === null
    ? { kind: 'inline', url: row.url as string, method: row.method as Method }
    : { kind: 'profile', endpointId: row.endpoint_id };
}

export type DeliveryRow = Readonly<ReturnType<typeof toDeliveryRow>>;

export function toDeliveryRow(delivery: Delivery) {
  return {
    partition: delivery.partition,
    id: delivery.id,
    schedule_id: delivery.scheduleId,
    status: delivery.status,
    occurrence: delivery.occurrence,
    scheduled_for: delivery.scheduledFor,
    due_at: delivery.dueAt,
    reserved: delivery.reserved ? 1 : 0,
    ttl: delivery.ttl,
    deadline: delivery.deadline,
    attempt_count: delivery.attemptCount,
    last_status_code: delivery.lastStatusCode,
    error: delivery.error,
    idempotency_key: delivery.idempotencyKey,
    replay_of: delivery.replayOf,
    url: delivery.target.url,
    method: delivery.target.method,
    endpoint_id: delivery.target.endpointId,
    endpoint_version: delivery.target.endpointVersion,
    payload_bytes: delivery.payloadBytes,
    retry_policy: JSON.stringify(delivery.retryPolicy),
    claim_node: delivery.claim?.node ?? null,
    claim_attempt_id: delivery.claim?.attemptId ?? null,
    claim_due_at: delivery.claim?.dueAt ?? null,
    claim_fired_at: delivery.claim?.firedAt ?? null,
    created_at: delivery.createdAt,
    finalized_at: delivery.finalizedAt,
    revision: delivery.revision,
  };
}

export function fromDeliveryRow(row: DeliveryRow): Delivery {
  return {
    partition: row.partition,
    id: row.id,
    scheduleId: row.schedule_id,
    status: row.status,
    occurrence: row.occurrence,
    scheduledFor: row.scheduled_for,
    dueAt: row.due_at,
    reserved: row.reserved === 1,
    ttl: row.ttl,
    deadline: row.deadline,
    attemptCount: row.attempt_count,
    lastStatusCode: row.last_status_code,
    error: row.error,
    idempotencyKey: row.idempotency_key,
    replayOf: row.replay_of,
    target: {
      url: row.url,
      method: row.method,
      endpointId: row.endpoint_id,
      endpointVersion: row.endpoint_version,
    },
    payloadBytes: row.payload_bytes,
    retryPolicy: JSON.parse(row.retry_policy) as RetryPolicy,
    claim: claimOf(row),
    createdAt: row.created_at,
    finalizedAt: row.finalized_at,
    revision: row.revision,
  };
}

/** The four columns are null together. */
function claimOf(row: DeliveryRow): Claim | null {
  const { claim_node: node, claim_attempt_id: attemptId, claim_due_at: dueAt, claim_fired_at: firedAt } = row;
  if (node === null || attemptId === null || dueAt === null || firedAt === null) return null;
  return { node, attemptId, dueAt, firedAt };
}

/** An endpoint profile is stored as its head (`endpoint_profiles`) and its versions (`endpoint_profile_versions`). */
export type ProfileHeadRow = Readonly<ReturnType<typeof toProfileHeadRow>>;

export type ProfileVersionRow = Readonly<ReturnType<typeof toProfileVersionRow>>;

export function toProfileHeadRow(profile: EndpointProfile) {
  return {
    partition: profile.partition,
    id: profile.id,
    version: profile.version,
    archived: profile.archived ? 1 : 0,
    created_at: profile.createdAt,
    updated_at: profile.updatedAt,
    revision: profile.revision,
  };
}

export function toProfileVersionRow(profile: EndpointProfile) {
  return {
    partition: profile.partition,
    endpoint_id: profile.id,
    version: profile.version,
    url: profile.url,
    method: profile.method,
    header_names: JSON.stringify(profile.headerNames),
    timeout: profile.timeout,
    retry_policy: JSON.stringify(profile.retryPolicy),
    retry_budget: toJson(profile.retryBudget),
    rate_limit: toJson(profile.rateLimit),
    breaker_policy: toJson(profile.breakerPolicy),
    metadata: JSON.stringify(profile.metadata),
  };
}

/** The columns of a version that a customer cannot make large. */
export type FiringProfileVersionRow = Omit<ProfileVersionRow, 'header_names' | 'metadata'>;

export function fromProfileRows(head: ProfileHeadRow, version: ProfileVersionRow): EndpointProfile {
  return {
    ...fromFiringProfileRows(head, version),
    headerNames: JSON.parse(version.header_names) as readonly string[],
    metadata: JSON.parse(version.metadata) as Labels,
  };
}

export function fromFiringProfileRows(head: ProfileHeadRow, version: FiringProfileVersionRow): FiringProfile {
  return {
    partition: head.partition,
    id: head.id,
    version: head.version,
    url: version.url,
    method: version.method,
    timeout: version.timeout,
    retryPolicy: JSON.parse(version.retry_policy) as RetryPolicy,
    retryBudget: fromJson<RetryBudget>(version.retry_budget),
    rateLimit: fromJson<RateLimit>(version.rate_limit),
    breakerPolicy: fromJson<BreakerPolicy>(version.breaker_policy),
    archived: head.archived === 1,
    createdAt: head.created_at,
    updatedAt: head.updated_at,
    revision: head.revision,
  };
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

export function readGate(state: string): Gate {
  return JSON.parse(state) as Gate;
}
