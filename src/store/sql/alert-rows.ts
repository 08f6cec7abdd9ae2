/** The tables of alerts. */
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import { fixed, flag, json, mapping, plain } from './mapping.ts';

export const ALERT_CHANNEL = mapping<AlertChannel>({
  partition: fixed(plain),
  id: fixed(plain),
  kind: fixed(plain),
  name: plain,
  sealedUrl: fixed(plain),
  shownUrl: fixed(plain),
  createdAt: fixed(plain),
  updatedAt: plain,
  revision: plain,
});

export const ALERT_CONDITION = mapping<AlertCondition>({
  partition: fixed(plain),
  id: fixed(plain),
  kind: fixed(plain),
  threshold: plain,
  windowMinutes: plain,
  channelIds: json,
  enabled: flag,
  createdAt: fixed(plain),
  updatedAt: plain,
  revision: plain,
});

export const ALERT_INCIDENT = mapping<AlertIncident>({
  partition: fixed(plain),
  id: fixed(plain),
  conditionId: fixed(plain),
  endpoint: fixed(plain),
  begunAt: fixed(plain),
  quietSince: plain,
  remindedAt: plain,
  endedAt: plain,
  detail: fixed(json),
  revision: plain,
});
/** The digest stands in for the endpoint in the index of open incidents. */
export const ALERT_INCIDENT_COLUMNS = [...ALERT_INCIDENT.columns, 'endpoint_digest'] as const;

export const ALERT_MESSAGE = mapping<AlertMessage>({
  partition: fixed(plain),
  id: fixed(plain),
  incidentId: fixed(plain),
  channelId: fixed(plain),
  kind: fixed(plain),
  content: fixed(json),
  status: plain,
  attemptCount: plain,
  dueAt: plain,
  statusCode: plain,
  error: plain,
  createdAt: fixed(plain),
  endedAt: plain,
  revision: plain,
});
