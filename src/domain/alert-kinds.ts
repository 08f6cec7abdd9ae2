/** The kinds of channels, conditions and messages of alerts. The page of the dashboard knows them too. */

/** `webhook` is signed like a delivery. `slack` is an incoming webhook of Slack, or of a service that takes its form. */
export const ALERT_CHANNEL_KINDS = ['webhook', 'slack'] as const;
export type AlertChannelKind = (typeof ALERT_CHANNEL_KINDS)[number];

/**
 * - `breaker_opened`: the breaker of an endpoint is not closed. Each endpoint has an incident of its own.
 * - `deliveries_failed`: more than `threshold` deliveries were dead-lettered or expired in the last `windowMinutes`.
 * - `occurrences_skipped`: recurring schedules skipped occurrences, because their deliveries were taken up too late.
 */
export const ALERT_CONDITION_KINDS = ['breaker_opened', 'deliveries_failed', 'occurrences_skipped'] as const;
export type AlertConditionKind = (typeof ALERT_CONDITION_KINDS)[number];

export const ALERT_MESSAGE_KINDS = ['opened', 'reminder', 'closed', 'test'] as const;
export const ALERT_MESSAGE_STATUSES = ['waiting', 'delivered', 'failed'] as const;
export type AlertMessageStatus = (typeof ALERT_MESSAGE_STATUSES)[number];
