/** Schemas of the answers about alerts. `contract.ts` says who loads such a file. */
import { z } from 'zod';
import {
  ALERT_CHANNEL_KINDS,
  ALERT_CONDITION_KINDS,
  ALERT_MESSAGE_KINDS,
  ALERT_MESSAGE_STATUSES,
} from '#src/domain/alert-kinds.ts';
import { at, type Shown } from './contract.ts';

const count = z.int().min(0);

export const AlertChannelInfo = z.strictObject({
  id: z.string(),
  kind: z.enum(ALERT_CHANNEL_KINDS),
  name: z.string(),
  /** The origin of the URL, followed by `/…`. An admin can reveal the whole URL. */
  url: z.string(),
  created_at: at,
  updated_at: at,
});
export type AlertChannelInfo = Shown<typeof AlertChannelInfo>;

export const RevealedAlertUrl = z.strictObject({ url: z.string() });
export type RevealedAlertUrl = Shown<typeof RevealedAlertUrl>;

const conditionTerms = {
  kind: z.enum(ALERT_CONDITION_KINDS),
  /** Both are null unless the kind is `deliveries_failed`. */
  threshold: count.nullable(),
  window_minutes: count.nullable(),
};

export const AlertConditionInfo = z.strictObject({
  id: z.string(),
  ...conditionTerms,
  channel_ids: z.array(z.string()),
  enabled: z.boolean(),
  created_at: at,
  updated_at: at,
});
export type AlertConditionInfo = Shown<typeof AlertConditionInfo>;

export const AlertIncidentInfo = z.strictObject({
  id: z.string(),
  condition_id: z.string(),
  /** The terms of the condition when the incident began. */
  ...conditionTerms,
  /** The id of an endpoint profile, or origin and path of an inline destination. Null if no endpoint is concerned. */
  endpoint: z.string().nullable(),
  /** The name of the endpoint profile when the incident began. */
  endpoint_name: z.string().nullable(),
  /** How many deliveries had failed when the incident began. Null for other kinds. */
  count: count.nullable(),
  opened_at: at,
  /** Since when the condition has not been true. The incident ends after 5 minutes. Null while it is true. */
  quiet_since: at.nullable(),
  reminded_at: at.nullable(),
  closed_at: at.nullable(),
  /** What its first message says. */
  title: z.string(),
});
export type AlertIncidentInfo = Shown<typeof AlertIncidentInfo>;

export const AlertMessageInfo = z.strictObject({
  id: z.string(),
  /** Null for a test message. */
  incident_id: z.string().nullable(),
  channel_id: z.string(),
  kind: z.enum(ALERT_MESSAGE_KINDS),
  title: z.string(),
  text: z.string(),
  status: z.enum(ALERT_MESSAGE_STATUSES),
  attempt_count: count,
  /** The instant of the next attempt. Null once the message is delivered or has failed. */
  next_attempt_at: at.nullable(),
  last_status_code: count.nullable(),
  /** Why the last attempt failed. Null if none failed, or once the message is delivered. */
  error: z.string().nullable(),
  created_at: at,
  ended_at: at.nullable(),
});
export type AlertMessageInfo = Shown<typeof AlertMessageInfo>;
