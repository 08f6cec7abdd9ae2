/**
 * The gate of an endpoint: circuit breaker, retry budget and rate limit. It decides before a delivery is claimed.
 * A delivery that is deferred by budget or rate has a token reserved: when it comes back at that instant, it passes
 * without a second token.
 */
import {
  type Breaker,
  CLOSED,
  type Evidence,
  isQuiet,
  recordEvidence,
  requestPass,
  reset,
} from './breaker.ts';
import type { Delivery } from './delivery.ts';
import {
  type BreakerPolicy,
  DEFAULT_BREAKER_POLICY,
  DEFAULT_RETRY_BUDGET,
  type FiringProfile,
  type RateLimit,
  type RetryBudget,
} from './endpoint-profile.ts';
import { type Instant, instant } from './instant.ts';
import { NOTIFICATIONS_PER_SECOND } from './notification.ts';
import { isFree, type RateLimiter, takeToken } from './rate-limiter.ts';
import type { FiringSchedule } from './schedule.ts';
import { type Bucket, isFull, reserveToken } from './token-bucket.ts';

/** The stores keep a gate as JSON. When a field is added, `readGate` has to fill it in for gates stored before. */
export interface Gate {
  readonly breaker: Breaker;
  readonly budget: Bucket | null;
  /** One limiter for each rate limit towards the endpoint, so that a slow one does not delay the others. */
  readonly rateLimiters: RateLimiters;
}

/** The key is the limit, requests per second, or the name of the limiter. */
export type RateLimiters = Readonly<Record<string, RateLimiter>>;

/** Rate limiters of one endpoint. */
const RATE_LIMITERS_MAX = 16;

export const NEW_GATE: Gate = { breaker: CLOSED, budget: null, rateLimiters: {} };

export interface GateTerms {
  readonly breaker: BreakerPolicy;
  readonly budget: RetryBudget;
  readonly rateLimit: NamedRateLimit | null;
}

/** Deliveries with the same limit share a limiter, unless it has a name. */
interface NamedRateLimit extends RateLimit {
  readonly limiter?: string;
  /** A retry that waits for the retry budget takes its token before it goes. */
  readonly isTakenAtOnce?: boolean;
}

/**
 * Notifications do not share a limiter with the deliveries of schedules, which must not wait for them. A retry takes its
 * token at once: with a token of a later instant, it would delay all notifications until then.
 */
export const NOTIFICATION_LIMIT: NamedRateLimit = {
  perSecond: NOTIFICATIONS_PER_SECOND,
  limiter: 'notifications',
  isTakenAtOnce: true,
};

/** Returns the current policies of the endpoint. All its deliveries share them, as they share its gate. */
export function gateTerms(profile: FiringProfile | null, rateLimit: NamedRateLimit | null): GateTerms {
  return {
    breaker: profile?.breakerPolicy ?? DEFAULT_BREAKER_POLICY,
    budget: profile?.retryBudget ?? DEFAULT_RETRY_BUDGET,
    rateLimit: rateLimit === null || rateLimit.perSecond === 0 ? null : rateLimit,
  };
}

/** A delivery without a schedule is a notification. */
export function termsFor({
  schedule,
  endpointProfile,
}: {
  readonly schedule: Pick<FiringSchedule, 'rateLimit'> | null;
  readonly endpointProfile: FiringProfile | null;
}): GateTerms {
  return gateTerms(endpointProfile, schedule === null ? NOTIFICATION_LIMIT : schedule.rateLimit);
}

export type Admission =
  | { readonly kind: 'pass'; readonly probe: boolean; readonly gate: Gate }
  | {
      readonly kind: 'wait';
      readonly until: Instant;
      /** Whether a token is reserved for `until`. Otherwise the delivery has to ask again then. */
      readonly reserved: boolean;
      readonly gate: Gate;
    }
  /** No token of the retry budget can ever come. */
  | { readonly kind: 'never' };

/** A reservation that was missed by more than this lapses: after a downtime there must be no burst. */
export const RESERVATION_LAPSES_MS = 300;

export function admit(gate: Gate, terms: GateTerms, delivery: Delivery, now: Instant): Admission {
  const passage = requestPass(gate.breaker, terms.breaker, now);
  if (passage.kind === 'wait') {
    return { kind: 'wait', until: passage.until, reserved: false, gate: withBreaker(gate, passage.breaker) };
  }

  const reserved = delivery.reserved && now <= (delivery.dueAt ?? now) + RESERVATION_LAPSES_MS;
  const needsToken = delivery.attemptCount > 0 && !reserved;
  const budget = needsToken ? reserveToken(gate.budget, terms.budget, now) : null;
  if (budget !== null && budget.readyAt === null) return { kind: 'never' };
  const { perSecond = null, limiter = `${perSecond}`, isTakenAtOnce = false } = terms.rateLimit ?? {};
  // The delivery goes when its budget token is there, so the rate limit counts from then.
  const goesAt = isTakenAtOnce ? now : (budget?.readyAt ?? now);
  const taken =
    perSecond === null || reserved ? null : takeToken(gate.rateLimiters[limiter] ?? null, perSecond, goesAt);
  const limited = taken && { ...taken, limiter: { ...taken.limiter, at: now } };

  const isTaken = budget !== null || limited !== null;
  const after = isTaken
    ? {
        ...gate,
        budget: budget?.bucket ?? gate.budget,
        rateLimiters:
          limited === null ? gate.rateLimiters : withRateLimiter(gate.rateLimiters, limiter, limited.limiter),
      }
    : gate;
  const readyAt = instant(Math.max(now, budget?.readyAt ?? now, limited?.readyAt ?? now));
  // A probe that has to wait for its token has not been sent.
  if (readyAt > now) return { kind: 'wait', until: readyAt, reserved: true, gate: after };
  return { kind: 'pass', probe: passage.probe, gate: withBreaker(after, passage.breaker) };
}

/** When there are more limiters than fit, the one that is free first is dropped. */
function withRateLimiter(limiters: RateLimiters, name: string, limiter: RateLimiter): RateLimiters {
  const others = Object.entries(limiters).filter(([key]) => key !== name);
  others.sort(([, a], [, b]) => b.freeAt - a.freeAt);
  return Object.fromEntries([...others.slice(0, RATE_LIMITERS_MAX - 1), [name, limiter]]);
}

/** Returns the same object when nothing changed, so that the caller knows there is nothing to save. */
function withBreaker(gate: Gate, breaker: Breaker): Gate {
  return breaker === gate.breaker ? gate : { ...gate, breaker };
}

/** Returns true when a token was taken between the two, of the retry budget, of a rate limit or of both. */
export function hasTakenToken(before: Gate, after: Gate): boolean {
  return before.budget !== after.budget || before.rateLimiters !== after.rateLimiters;
}

/** Returns the gate with the tokens of `base`, as if none had been taken since. */
export function withTokensOf(gate: Gate, { budget, rateLimiters }: Gate): Gate {
  return { ...gate, budget, rateLimiters };
}

/** Returns the gate after an attempt has ended. */
export function withEvidence(
  gate: Gate,
  policy: BreakerPolicy,
  evidence: Evidence,
  isProbe: boolean,
  now: Instant,
): Gate {
  return withBreaker(gate, recordEvidence(gate.breaker, policy, evidence, isProbe, now));
}

/** Returns the gate after a person closed its breaker. Reserved tokens stay reserved. */
export function withBreakerReset(gate: Gate): Gate {
  return withBreaker(gate, reset(gate.breaker));
}

/** Returns true when the gate can be dropped, because a new one would decide the same. */
export function isForgettable({ breaker, budget, rateLimiters }: Gate, now: Instant): boolean {
  if (!isQuiet(breaker) || !isFull(budget, now)) return false;
  return Object.values(rateLimiters).every((limiter) => isFree(limiter, now));
}
