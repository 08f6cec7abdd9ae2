/** The reasons for which a delivery is not sent yet. The page of the dashboard knows them too. */
export const WAIT_REASONS = [
  /** Its instant has not come. */
  'not_due',
  /** The backoff after a failed attempt. */
  'backoff',
  /** The breaker of its endpoint is open. */
  'breaker_open',
  /** The breaker is half open, and a probe is in flight. */
  'probe_in_flight',
  'rate_limit',
  'retry_budget',
  /** A token is reserved that both the rate limit and the retry budget may have delayed. */
  'rate_limit_or_retry_budget',
  /** A gate that has changed since has deferred it. */
  'deferred',
  /** It is due. It waits for a permit in the queue of its endpoint. */
  'in_queue',
  'schedule_paused',
  /** Its schedule was paused, resumed or canceled, and the change has not reached it yet. */
  'schedule_changing',
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];
