/** Presents domain objects as API resources. Header values, bodies and secrets are not available here. */
import type { OpenedResponse } from '#src/commands/attempt-response.ts';
import { type Attempt, type Delivery, nominalInstant } from '#src/domain/delivery.ts';
import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { excerptText } from '#src/domain/excerpt-text.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Notify } from '#src/domain/notify.ts';
import { nextRuns, pendingFireAt } from '#src/domain/occurrence.ts';
import type { Mode } from '#src/domain/project.ts';
import type { RetryPolicy } from '#src/domain/retry.ts';
import { methodOf, retryPolicyOf, type ScheduleView, urlOf } from '#src/domain/schedule.ts';
import type { RecentAttempt } from '#src/ports/lists.ts';
import type {
  AttemptResource,
  AttemptResponseResource,
  DeliveryResource,
  EndpointResource,
  NotifyResource,
  RecentAttemptResource,
  RetryPolicyResource,
  ScheduleResource,
} from './contract/resources.ts';

function orNull(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at);
}

function presentLabels(labels: Labels): Record<string, string> {
  return Object.fromEntries(labels);
}

function presentRetryPolicy(policy: RetryPolicy): RetryPolicyResource {
  return {
    max_attempts: policy.maxAttempts,
    strategy: policy.strategy,
    base: policy.base,
    factor: policy.factor,
    max: policy.max,
    jitter: policy.jitter,
  };
}

function presentNotify(notify: Notify | null): NotifyResource | null {
  return notify && { endpoint_id: notify.endpointId, on: [...notify.on] };
}

export function presentSchedule(view: ScheduleView, mode: Mode): ScheduleResource {
  const { schedule, profile } = view;
  const { timing, destination } = schedule;
  return {
    id: schedule.id,
    object: 'schedule',
    name: schedule.name,
    mode,
    kind: timing.kind,
    state: schedule.state,
    endpoint: urlOf(schedule, profile),
    endpoint_id: destination.kind === 'profile' ? destination.endpointId : null,
    method: methodOf(schedule, profile),
    header_keys: [...schedule.headerNames],
    fire_at: timing.kind === 'one_shot' ? formatInstant(timing.fireAt) : null,
    cron: timing.kind === 'recurring' ? timing.cron : null,
    timezone: timing.timezone,
    next_fire_at: orNull(pendingFireAt(view)),
    next_runs: nextRuns(view).map(formatInstant),
    ttl: schedule.ttl,
    jitter: schedule.jitter,
    idempotency_key: schedule.idempotencyKey,
    retry_policy: presentRetryPolicy(retryPolicyOf(schedule, profile)),
    rate_limit: schedule.rateLimit && { per_second: schedule.rateLimit.perSecond },
    notify: presentNotify(schedule.notify),
    metadata: presentLabels(schedule.metadata),
    created_at: formatInstant(schedule.createdAt),
    updated_at: formatInstant(schedule.updatedAt),
  };
}

export function presentDelivery(delivery: Delivery, mode: Mode): DeliveryResource {
  return {
    id: delivery.id,
    object: 'delivery',
    schedule_id: delivery.scheduleId,
    mode,
    url: delivery.target.url,
    method: delivery.target.method,
    status: delivery.status,
    occurrence: orNull(nominalInstant(delivery)),
    triggered: delivery.occurrence === null && delivery.notificationOf === null,
    scheduled_for: formatInstant(delivery.scheduledFor),
    deadline: orNull(delivery.deadline),
    next_fire_at: isWaiting(delivery.status) ? orNull(delivery.dueAt) : null,
    attempt_count: delivery.attemptCount,
    last_status_code: delivery.lastStatusCode,
    error: delivery.error,
    idempotency_key: delivery.idempotencyKey,
    replay_of: delivery.replayOf,
    notification_of: delivery.notificationOf,
    notify: presentNotify(delivery.notify),
    endpoint_id: delivery.target.endpointId,
    endpoint_version: delivery.target.endpointVersion,
    created_at: formatInstant(delivery.createdAt),
    finalized_at: orNull(delivery.finalizedAt),
  };
}

export function presentAttempt(attempt: Attempt): AttemptResource {
  return {
    id: attempt.id,
    object: 'attempt',
    delivery_id: attempt.deliveryId,
    attempt_no: attempt.attemptNo,
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    due_at: formatInstant(attempt.dueAt),
    fired_at: formatInstant(attempt.firedAt),
    lateness_ms: attempt.firedAt - attempt.dueAt,
    finished_at: orNull(attempt.finishedAt),
    egress_ms: attempt.egressMs,
    error: attempt.error,
  };
}

export function presentResponse(response: OpenedResponse): AttemptResponseResource {
  const { statusCode, contentType, isTruncated, bytes } = response;
  return {
    object: 'attempt_response',
    status_code: statusCode,
    content_type: contentType,
    ...excerptText(bytes, isTruncated),
    truncated: isTruncated,
  };
}

export function presentRecentAttempt({
  attempt,
  scheduleId,
  scheduleName,
  url,
  method,
}: RecentAttempt): RecentAttemptResource {
  return {
    ...presentAttempt(attempt),
    schedule_id: scheduleId,
    schedule_name: scheduleName,
    url,
    method,
    endpoint_id: attempt.endpointId,
  };
}

export function presentProfile(profile: EndpointProfile, mode: Mode): EndpointResource {
  return {
    id: profile.id,
    object: 'endpoint',
    name: profile.name,
    mode,
    url: profile.url,
    method: profile.method,
    header_keys: [...profile.headerNames],
    timeout: profile.timeout,
    retry_policy: presentRetryPolicy(profile.retryPolicy),
    retry_budget: profile.retryBudget && { ...profile.retryBudget },
    rate_limit: profile.rateLimit && { per_second: profile.rateLimit.perSecond },
    breaker_policy: profile.breakerPolicy && {
      threshold: profile.breakerPolicy.threshold,
      base_open: profile.breakerPolicy.baseOpen,
      max_open: profile.breakerPolicy.maxOpen,
      probe_timeout: profile.breakerPolicy.probeTimeout,
    },
    response_excerpt: profile.responseExcerpt,
    notify: presentNotify(profile.notify),
    standard_webhooks: profile.standardWebhooks,
    metadata: presentLabels(profile.metadata),
    version: profile.version,
    archived: profile.archived,
    created_at: formatInstant(profile.createdAt),
    updated_at: formatInstant(profile.updatedAt),
  };
}
