/** Presents alerts to the page and to the command line. The URL of a channel is never included. */
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import { formatInstant } from '#src/domain/instant.ts';
import { incidentWords } from '#src/texts/alert-text.ts';
import type {
  AlertChannelInfo,
  AlertConditionInfo,
  AlertIncidentInfo,
  AlertMessageInfo,
} from './alert-contract.ts';
import { orNull } from './present.ts';

export function presentChannel(channel: AlertChannel): AlertChannelInfo {
  const { id, kind, name, shownUrl, createdAt, updatedAt } = channel;
  return {
    id,
    kind,
    name,
    url: shownUrl,
    created_at: formatInstant(createdAt),
    updated_at: formatInstant(updatedAt),
  };
}

export function presentCondition(condition: AlertCondition): AlertConditionInfo {
  const { id, kind, threshold, windowMinutes, channelIds, enabled, createdAt, updatedAt } = condition;
  return {
    id,
    kind,
    threshold,
    window_minutes: windowMinutes,
    channel_ids: channelIds,
    enabled,
    created_at: formatInstant(createdAt),
    updated_at: formatInstant(updatedAt),
  };
}

export function presentIncident(incident: AlertIncident): AlertIncidentInfo {
  const { id, conditionId, endpoint, detail, begunAt, quietSince, remindedAt, endedAt } = incident;
  return {
    id,
    condition_id: conditionId,
    kind: detail.kind,
    threshold: detail.threshold,
    window_minutes: detail.windowMinutes,
    endpoint,
    endpoint_name: detail.endpointName,
    count: detail.count,
    opened_at: formatInstant(begunAt),
    quiet_since: orNull(quietSince),
    reminded_at: orNull(remindedAt),
    closed_at: orNull(endedAt),
    title: incidentWords('opened', incident).title,
  };
}

export function presentMessage(message: AlertMessage): AlertMessageInfo {
  const { id, incidentId, channelId, kind, content, status, attemptCount } = message;
  return {
    id,
    incident_id: incidentId,
    channel_id: channelId,
    kind,
    title: content.title,
    text: content.text,
    status,
    attempt_count: attemptCount,
    next_attempt_at: orNull(message.dueAt),
    last_status_code: message.statusCode,
    error: message.error,
    created_at: formatInstant(message.createdAt),
    ended_at: orNull(message.endedAt),
  };
}
