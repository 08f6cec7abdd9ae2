/** Says why a delivery waits. Instants are shown beside these texts, in the reader's time zone. */
import type { WaitReason } from '#src/domain/wait-reasons.ts';

/** A few words for a list. */
export const WAIT_WORDS: Readonly<Record<WaitReason, string>> = {
  not_due: 'not due yet',
  backoff: 'backoff before the retry',
  breaker_open: 'circuit breaker is open',
  probe_in_flight: 'circuit breaker is half open',
  rate_limit: 'rate limit',
  retry_budget: 'retry budget',
  rate_limit_or_retry_budget: 'rate limit or retry budget',
  deferred: 'deferred by the gate',
  in_queue: 'due, in the queue',
  schedule_paused: 'schedule is paused',
  schedule_changing: 'schedule is being changed',
};

const RESERVED = 'A token is reserved for that instant, so it does not wait again.';

/** Sentences for the page of the delivery. Empty where its status says it all. */
export const WAIT_SENTENCES: Readonly<Record<WaitReason, string>> = {
  not_due: 'The delivery waits until it is due.',
  backoff: '',
  breaker_open:
    'Too many attempts to its endpoint failed in a row, so the circuit breaker is open. The delivery is deferred until the breaker lets a probe through.',
  probe_in_flight:
    'The circuit breaker of its endpoint is half open. One delivery is sent as a probe, and this one is deferred until the probe has ended.',
  // It is that of its schedule, or that of notifications.
  rate_limit: `A rate limit defers the delivery. ${RESERVED}`,
  retry_budget: `The retry budget of its endpoint defers the retry. ${RESERVED}`,
  rate_limit_or_retry_budget: `The rate limit of its schedule or the retry budget of its endpoint defers the retry. ${RESERVED}`,
  deferred: 'The gate of its endpoint (circuit breaker, rate limit) has deferred the delivery.',
  in_queue:
    'The delivery is due and waits in the queue of its endpoint. It is sent when a permit is free: requests in flight, or a receiver that answers slowly, hold the permits.',
  schedule_paused: 'The delivery waits because its schedule is paused. Resume the schedule to send it.',
  schedule_changing: 'Its schedule was paused, resumed or canceled. The change reaches this delivery soon.',
};
