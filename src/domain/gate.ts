/**
 * The gate of an endpoint: circuit breaker, retry budget and rate limit. It decides before a delivery is
 * claimed. One that is deferred because of budget or rate has its turn reserved: when it comes back at that
 * instant it passes, without a second token.
 */
import { ask, type Breaker, CLOSED, closedByHand, type Evidence, learn } from './breaker.ts';
import type { Delivery } from './delivery.ts';
import { type Instant, instant } from './instant.ts';
import { isFree, type Pace, step } from './pace.ts';
import {
  type BreakerPolicy,
  DEFAULT_BREAKER_POLICY,
  DEFAULT_RETRY_BUDGET,
  type FiringProfile,
  type RateLimit,
  type RetryBudget,
} from './profile.ts';
import { type Bucket, isFull, take } from './token-bucket.ts';

export interface Gate {
  readonly breaker: Breaker;
  readonly budget: Bucket | null;
  /** One for each rate limit towards the endpoint: a slow one does not hold up the others. */
  readonly paces: Paces;
}

/** By what they allow in a second. */
export type Paces = Readonly<Record<string, Pace>>;

/** Of one endpoint. */
const PACES_MAX = 16;

export const OPEN_GATE: Gate = { breaker: CLOSED, budget: null, paces: {} };

export interface GateTerms {
  readonly breaker: BreakerPolicy;
  readonly budget: RetryBudget;
  readonly rateLimit: RateLimit | null;
}

/** The policies of the endpoint as they are now: its state is shared, so its terms are too. */
export function gateTerms(profile: FiringProfile | null, rateLimit: RateLimit | null): GateTerms {
  return {
    breaker: profile?.breakerPolicy ?? DEFAULT_BREAKER_POLICY,
    budget: profile?.retryBudget ?? DEFAULT_RETRY_BUDGET,
    rateLimit: rateLimit === null || rateLimit.perSecond === 0 ? null : rateLimit,
  };
}

export type Admission =
  | { readonly kind: 'pass'; readonly probe: boolean; readonly gate: Gate }
  | {
      readonly kind: 'wait';
      readonly until: Instant;
      /** Whether its turn at `until` is reserved, or it has to ask again. */
      readonly reserved: boolean;
      readonly gate: Gate;
    }
  /** No token of the retry budget can ever come. */
  | { readonly kind: 'never' };

/** A reserved turn that was missed by more than this has lapsed: after a downtime the pace begins anew. */
export const RESERVATION_LAPSES_MS = 300;

export function admit(gate: Gate, terms: GateTerms, delivery: Delivery, now: Instant): Admission {
  const passage = ask(gate.breaker, terms.breaker, now);
  if (passage.kind === 'wait') {
    return { kind: 'wait', until: passage.until, reserved: false, gate: withBreaker(gate, passage.breaker) };
  }

  const reserved = delivery.reserved && now <= (delivery.dueAt ?? now) + RESERVATION_LAPSES_MS;
  const needsToken = delivery.attemptCount > 0 && !reserved;
  const budget = needsToken ? take(gate.budget, terms.budget, now) : null;
  if (budget !== null && budget.readyAt === null) return { kind: 'never' };
  const perSecond = terms.rateLimit?.perSecond ?? null;
  // It goes when its token is there: the next step counts from then.
  const goesAt = budget?.readyAt ?? now;
  const stepped =
    perSecond === null || reserved ? null : step(gate.paces[perSecond] ?? null, perSecond, goesAt);
  const paced = stepped && { ...stepped, pace: { ...stepped.pace, at: now } };

  const isTaken = budget !== null || paced !== null;
  const after = isTaken
    ? {
        ...gate,
        budget: budget?.bucket ?? gate.budget,
        paces: paced === null ? gate.paces : withPace(gate.paces, `${perSecond}`, paced.pace),
      }
    : gate;
  const readyAt = instant(Math.max(now, budget?.readyAt ?? now, paced?.readyAt ?? now));
  // A probe that has to wait for its token has not been sent.
  if (readyAt > now) return { kind: 'wait', until: readyAt, reserved: true, gate: after };
  return { kind: 'pass', probe: passage.probe, gate: withBreaker(after, passage.breaker) };
}

/** With more limits than fit, the one that is free first is forgotten. */
function withPace(paces: Paces, perSecond: string, pace: Pace): Paces {
  const others = Object.entries(paces).filter(([key]) => key !== perSecond);
  others.sort(([, a], [, b]) => b.freeAt - a.freeAt);
  return Object.fromEntries([...others.slice(0, PACES_MAX - 1), [perSecond, pace]]);
}

/** The very same gate where nothing changed: then there is nothing to keep. */
function withBreaker(gate: Gate, breaker: Breaker): Gate {
  return breaker === gate.breaker ? gate : { ...gate, breaker };
}

/** Whether a turn was taken between the two: a token, a step, or both. */
export function hasTakenTurn(before: Gate, after: Gate): boolean {
  return before.budget !== after.budget || before.paces !== after.paces;
}

/** The gate as if no turn had been taken since it was `base`. */
export function withTurnsOf(gate: Gate, { budget, paces }: Gate): Gate {
  return { ...gate, budget, paces };
}

/** What a finished attempt teaches the gate. */
export function recorded(
  gate: Gate,
  policy: BreakerPolicy,
  evidence: Evidence,
  isProbe: boolean,
  now: Instant,
): Gate {
  return withBreaker(gate, learn(gate.breaker, policy, evidence, isProbe, now));
}

/** A person closed its breaker; what is reserved stays reserved. */
export function withClosedBreaker(gate: Gate): Gate {
  return withBreaker(gate, closedByHand(gate.breaker));
}

/** Whether it can be forgotten: it would let everything through that a new one would. */
export function isForgettable({ breaker, budget, paces }: Gate, now: Instant): boolean {
  const isQuiet = breaker.openUntil === null && breaker.failures === 0;
  return isQuiet && isFull(budget, now) && Object.values(paces).every((pace) => isFree(pace, now));
}
