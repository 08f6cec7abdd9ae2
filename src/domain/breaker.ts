/**
 * The circuit breaker of an endpoint.
 *
 *   closed ──threshold failures in a row──▶ open ──window over──▶ half_open ──failure──▶ open, window doubled
 *     ▲                                                               │
 *     └────────────────────────────success────────────────────────────┘
 *
 * The functions are pure: they take a state, an event and the time. While the breaker is open, nothing is sent. The
 * time for which it is open is its window. When the window is over, the breaker is `half_open`: one delivery is sent as
 * the probe, and the others wait for its result. They wait for `probeTimeout` at most; then another is the probe.
 *
 * A person may reset it at any time, because the person knows that the endpoint is well again. Failures of attempts
 * that were sent before the reset do not count (`countsAfterReset`).
 */
import { durationMsCeil } from './duration.ts';
import type { BreakerPolicy } from './endpoint-profile.ts';
import { type Instant, instant } from './instant.ts';

export interface Breaker {
  /** Failures in a row while closed. */
  readonly failures: number;
  /** The end of the window. It stays while the breaker is `half_open`, and is null while it is closed. */
  readonly openUntil: Instant | null;
  readonly windowMs: number;
  /** The time until which others wait for the probe in flight; null when there is no probe. */
  readonly probeUntil: Instant | null;
}

export const CLOSED: Breaker = { failures: 0, openUntil: null, windowMs: 0, probeUntil: null };

export type BreakerState = 'closed' | 'open' | 'half_open';

export function stateOf({ openUntil }: Breaker, now: Instant): BreakerState {
  if (openUntil === null) return 'closed';
  return now < openUntil ? 'open' : 'half_open';
}

export type BreakerDecision =
  | { readonly kind: 'pass'; readonly probe: boolean; readonly breaker: Breaker }
  | { readonly kind: 'wait'; readonly until: Instant; readonly breaker: Breaker };

/** Decides whether a delivery may be sent now. A probe that passes counts as sent. */
export function requestPass(before: Breaker, policy: BreakerPolicy, now: Instant): BreakerDecision {
  const probeTimeoutMs = windowOf(policy.probeTimeout);
  const breaker = withinWindows(before, probeTimeoutMs, now);
  const { openUntil, probeUntil } = breaker;
  if (openUntil === null) return { kind: 'pass', probe: false, breaker };
  if (now < openUntil) return { kind: 'wait', until: openUntil, breaker };
  if (probeUntil !== null && now < probeUntil) return { kind: 'wait', until: probeUntil, breaker };
  const until = instant(now + probeTimeoutMs);
  return { kind: 'pass', probe: true, breaker: { ...breaker, probeUntil: until } };
}

/** After the clock was set back, a window must not last longer than it should. */
function withinWindows(breaker: Breaker, probeTimeoutMs: number, now: Instant): Breaker {
  const { openUntil, probeUntil, windowMs } = breaker;
  const openAtMost = now + windowMs;
  const probeAtMost = now + probeTimeoutMs;
  if ((openUntil ?? now) <= openAtMost && (probeUntil ?? now) <= probeAtMost) return breaker;
  return {
    ...breaker,
    openUntil: openUntil && instant(Math.min(openUntil, openAtMost)),
    probeUntil: probeUntil && instant(Math.min(probeUntil, probeAtMost)),
  };
}

/**
 * The evidence of an attempt about its destination. `nothing` means that the attempt did not reach the destination, or
 * failed for a reason that is not the destination's fault. `domain/failures.ts` decides which one an attempt gives.
 */
export type Evidence = 'success' | 'failure' | 'nothing';

const AGAINST_ENDPOINT: Readonly<Record<Evidence, boolean>> = {
  success: false,
  failure: true,
  nothing: false,
};

/** Returns true for evidence that may open the breaker. After a reset, older attempts must not give such evidence. */
export function isAgainstEndpoint(evidence: Evidence): boolean {
  return AGAINST_ENDPOINT[evidence];
}

export function recordEvidence(
  breaker: Breaker,
  policy: BreakerPolicy,
  evidence: Evidence,
  isProbe: boolean,
  now: Instant,
): Breaker {
  if (evidence === 'success') return isQuiet(breaker) ? breaker : CLOSED;
  if (breaker.openUntil === null) {
    if (evidence === 'nothing') return breaker;
    const failures = breaker.failures + 1;
    if (failures < policy.threshold) return { ...breaker, failures };
    return opened(failures, Math.min(windowOf(policy.baseOpen), windowOf(policy.maxOpen)), now);
  }
  // Failures of attempts that were sent before the breaker opened add no information.
  if (!isProbe) return breaker;
  if (evidence === 'nothing') return { ...breaker, probeUntil: null };
  return opened(breaker.failures, Math.min(breaker.windowMs * 2, windowOf(policy.maxOpen)), now);
}

/** Closes the breaker and forgets the failures. */
export function reset(breaker: Breaker): Breaker {
  return isQuiet(breaker) ? breaker : CLOSED;
}

/** Returns true when a failure of an attempt sent at `firedAt` counts, after a person reset the breaker at `resetAt`. */
export function countsAfterReset(firedAt: Instant, resetAt: Instant, now: Instant): boolean {
  // After the clock was set back it is not known which came first.
  return firedAt > resetAt || now < resetAt;
}

/** Returns true when the breaker remembers nothing, so that `CLOSED` would decide the same. */
export function isQuiet({ failures, openUntil }: Breaker): boolean {
  return failures === 0 && openUntil === null;
}

function opened(failures: number, windowMs: number, now: Instant): Breaker {
  return { failures, openUntil: instant(now + windowMs), windowMs, probeUntil: null };
}

function windowOf(duration: string): number {
  return durationMsCeil(duration) ?? 0;
}
