/**
 * The lifecycle of an alert message. It is created together with the change that it tells, and sent until its channel
 * answers 2xx or its attempts are used up. It is no delivery: no list, no stats and no condition ever counts it.
 */
import type { AlertConditionKind } from './alert.ts';
import type { IncidentMessageKind } from './alert-incident.ts';
import type { AlertMessageStatus } from './alert-kinds.ts';
import type { AttemptResult } from './delivery-lifecycle.ts';
import type { AlertChannelId, AlertConditionId, AlertIncidentId, DeliveryId } from './id.ts';
import type { Instant } from './instant.ts';
import type { Mode, Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy, retryDueAt } from './retry.ts';

export type AlertMessageKind = IncidentMessageKind | 'test';

/** The `data` of the webhook's JSON, word for word (docs/alerts.md). Instants are texts. */
export interface AlertContent {
  readonly title: string;
  readonly text: string;
  /** The page of the dashboard; null if its address is not known. */
  readonly url: string | null;
  readonly project: string;
  readonly mode: Mode;
  /** Null in a test message. */
  readonly incident: {
    readonly id: AlertIncidentId;
    readonly condition_id: AlertConditionId;
    readonly kind: AlertConditionKind;
    /** The id of an endpoint profile, or origin and path of an inline destination; null if no endpoint is concerned. */
    readonly endpoint: string | null;
    readonly opened_at: string;
    readonly closed_at: string | null;
  } | null;
}

export interface AlertMessage {
  readonly partition: Partition;
  /** It has the form of a delivery's id, because verifiers of signatures check that form. */
  readonly id: DeliveryId;
  /** Null in a test message. */
  readonly incidentId: AlertIncidentId | null;
  readonly channelId: AlertChannelId;
  readonly kind: AlertMessageKind;
  readonly content: AlertContent;
  readonly status: AlertMessageStatus;
  /** Attempts that ended. */
  readonly attemptCount: number;
  /** The instant of the next attempt; null once it has ended. */
  readonly dueAt: Instant | null;
  /** The answer to the last attempt, and why it failed. */
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly createdAt: Instant;
  readonly endedAt: Instant | null;
  readonly revision: number;
}

export const ALERT_RETRY_POLICY: RetryPolicy = {
  ...DEFAULT_RETRY_POLICY,
  maxAttempts: 12,
  base: '5s',
  factor: 2,
  max: '30m',
};

export type NewAlertMessage = Pick<
  AlertMessage,
  'partition' | 'id' | 'incidentId' | 'channelId' | 'kind' | 'content'
>;

export function createMessage(given: NewAlertMessage, now: Instant): AlertMessage {
  return {
    ...given,
    status: 'waiting',
    attemptCount: 0,
    dueAt: now,
    statusCode: null,
    error: null,
    createdAt: now,
    endedAt: null,
    revision: 1,
  };
}

/** Ends an attempt of a waiting message. There is no retry after a terminal failure, and none of a test. */
export function afterAttempt(message: AlertMessage, result: AttemptResult, now: Instant): AlertMessage {
  const attemptCount = message.attemptCount + 1;
  const isDelivered = result.outcome === 'success';
  const attemptsMax = message.kind === 'test' ? 1 : ALERT_RETRY_POLICY.maxAttempts;
  const retries = result.outcome === 'retryable' && attemptCount < attemptsMax;
  return {
    ...message,
    status: isDelivered ? 'delivered' : retries ? 'waiting' : 'failed',
    attemptCount,
    dueAt: retries ? retryDueAt(ALERT_RETRY_POLICY, attemptCount, now) : null,
    statusCode: result.statusCode,
    error: result.outcome === 'success' ? null : result.error,
    endedAt: retries ? null : now,
    revision: message.revision + 1,
  };
}
