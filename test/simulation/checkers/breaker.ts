/**
 * A second model of the circuit breaker, fed by what the network saw. The first is `src/domain/breaker.ts`; a
 * new rule goes into both. The breaker opens after exactly `threshold` failures in a row of a destination that
 * was reached. Nothing is sent while it is open. Then it lets through one probe at a time, and its window
 * doubles up to its bound. A delivery is deferred to exactly the end of the window. The breaker is saved soon
 * after it changed, so that a restart does not lose it.
 */

import type { Evidence } from '#src/domain/breaker.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { BreakerPolicy } from '#src/domain/endpoint-profile.ts';
import type { FailureCode } from '#src/domain/failures.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { ms } from '../durations.ts';
import type { SentRequest } from '../network.ts';
import { type Checker, type InstanceFacts, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'breaker';
/** Enough time to save a gate on a disk that works. */
const SAVED_WITHIN_MS = 4_000;

interface Policy {
  readonly threshold: number;
  readonly baseMs: number;
  readonly maxMs: number;
  readonly probeMs: number;
}

const DEFAULT: Policy = { threshold: 5, baseMs: 30_000, maxMs: 3_600_000, probeMs: 30_000 };

interface Model {
  failures: number;
  openUntil: number | null;
  windowMs: number;
  probeUntil: number | null;
  /** When it last opened or closed without a save since then. Null when it is saved. */
  changedMs: number | null;
  changedBy: string | undefined;
  /** When it last got evidence. */
  learnedMs: number;
  /** The clock was set while it was open, so its windows are not exact to the millisecond. */
  isInexact: boolean;
}

interface GatedAttempt {
  readonly deliveryId: DeliveryId;
  readonly attemptNo: number;
  readonly key: string;
  readonly by: InstanceFacts;
  /** The window that the attempt probes. It is not a probe of a window that opened later. */
  readonly probeOf: number | null;
  readonly policy: Policy;
  /** Whether it may begin: its claim is stored, and the engine knows it. */
  isClaimed: boolean;
}

const UNCHANGED = { changedMs: null, changedBy: undefined, learnedMs: 0 };
const CLOSED = { failures: 0, openUntil: null, windowMs: 0, probeUntil: null };

export function breakerChecker(simulation: SimulationView): Checker {
  const { time, observer } = simulation;
  const models = new Map<string, Model>();
  const saved = new Map<string, string>();
  /** Attempts in flight, by id. */
  const attempts = new Map<string, GatedAttempt>();

  const modelOf = (key: string): Model => {
    const known = models.get(key) ?? { ...CLOSED, ...UNCHANGED, isInexact: false };
    models.set(key, known);
    return known;
  };

  const restored = (key: string): Model => {
    const state = saved.get(key);
    const breaker = state === undefined ? CLOSED : (JSON.parse(state) as { breaker: typeof CLOSED }).breaker;
    return { ...breaker, ...UNCHANGED, isInexact: modelOf(key).isInexact };
  };

  const learn = (token: string, evidence: Evidence, now: number): void => {
    const gated = attempts.get(token);
    if (gated === undefined) return;
    attempts.delete(token);
    const { key, by, probeOf, policy } = gated;
    const model = modelOf(key);
    const isProbe = probeOf !== null && probeOf === model.openUntil;
    const wasOpen = model.openUntil;
    if (evidence === 'success') Object.assign(model, CLOSED, { isInexact: false });
    else if (model.openUntil === null) {
      if (evidence === 'nothing') return;
      model.failures++;
      if (model.failures >= policy.threshold) open(model, now, Math.min(policy.baseMs, policy.maxMs));
    } else if (isProbe) {
      if (evidence === 'nothing') model.probeUntil = null;
      else open(model, now, Math.min(model.windowMs * 2, policy.maxMs));
    }
    model.learnedMs = time.elapsedMs;
    if (wasOpen === model.openUntil) return;
    model.changedMs ??= time.elapsedMs;
    model.changedBy = by.node;
  };

  const open = (model: Model, now: number, windowMs: number): void => {
    model.openUntil = now + windowMs;
    model.windowMs = windowMs;
    model.probeUntil = null;
  };

  /** The policy may have been edited since the probe was sent. The current policy limits the wait for it. */
  const probedUntil = ({ probeUntil }: Model, { probeMs }: Policy, now: number): number | null =>
    probeUntil === null ? null : Math.min(probeUntil, now + probeMs);

  /** Until when the breaker defers everything, or null when it lets a request through. */
  const deferralEnd = (model: Model, policy: Policy, now: number): number | null => {
    const { openUntil } = model;
    if (openUntil === null) return null;
    if (now < openUntil) return openUntil;
    const probeUntil = probedUntil(model, policy, now);
    return probeUntil !== null && now < probeUntil ? probeUntil : null;
  };

  /**
   * The end of a probe whose request cannot be sent is known here when it is written. Before, it may wait for the writes
   * of others and for what its notification needs, and the engine may already send the next probe.
   */
  const endUnsentProbe = (key: string, now: number): void => {
    const { openUntil } = modelOf(key);
    if (openUntil === null) return;
    for (const [token, { deliveryId, attemptNo, isClaimed, ...gated }] of attempts) {
      const isProbe = gated.key === key && gated.probeOf === openUntil;
      const isUnsent = isClaimed && observer.sentOf(deliveryId, attemptNo) === null;
      if (isProbe && isUnsent) learn(token, 'nothing', now);
    }
  };

  const policyOf = (delivery: Delivery, by: InstanceFacts): Policy =>
    policyIn(simulation.limits.of(delivery, by).breaker);

  const isGraceOver = ({ stopping }: InstanceFacts): boolean =>
    stopping !== null && time.elapsedMs >= stopping.sinceMs + stopping.graceMs;

  /** A node saves its gates before it gives an endpoint back or stops. */
  const checkHandOver = (isAmong: (gate: string) => boolean): void => {
    for (const [key, { failures, openUntil, isInexact, learnedMs }] of models) {
      if (!isAmong(key) || time.elapsedMs - learnedMs < simulation.handOverMs) continue;
      const kept = restored(key);
      if (isInexact || (kept.failures === failures && kept.openUntil === openUntil)) continue;
      throw new Violation(NAME, `the hand-over lost ${failures - kept.failures} failures of ${key}`);
    }
  };

  return {
    name: NAME,
    claimRequested({ delivery, attempt }, by) {
      if (!simulation.holds(by, delivery)) return;
      const now = by.now();
      const key = gateKey(delivery);
      const policy = policyOf(delivery, by);
      const model = modelOf(key);
      if (deferralEnd(model, policy, now) === model.probeUntil) endUnsentProbe(key, now);
      const until = deferralEnd(model, policy, now);
      if (until !== null && !model.isInexact) {
        const earlyMs = until - now;
        throw new Violation(NAME, `${delivery.id} is sent while ${key} defers for ${earlyMs} ms more`);
      }
      const isProbe = model.openUntil !== null;
      if (isProbe) model.probeUntil = now + policy.probeMs;
      const { deliveryId, attemptNo } = attempt;
      const isClaimed = false;
      attempts.set(attempt.id, {
        deliveryId,
        attemptNo,
        key,
        by,
        probeOf: model.openUntil,
        policy,
        isClaimed,
      });
    },
    claimAnswered({ attempt }, answer) {
      const gated = attempts.get(attempt.id);
      if (answer !== 'done') learn(attempt.id, 'nothing', time.now());
      else if (gated !== undefined) gated.isClaimed = true;
    },
    /** An attempt counts when it ends. It may be settled a moment later, together with others. */
    requestEnded(sent) {
      if (sent.outcome?.kind === 'orphaned') return;
      for (const [token, { deliveryId, attemptNo, by }] of attempts) {
        if (deliveryId !== sent.deliveryId || attemptNo !== sent.attemptNo || by.node !== sent.node) continue;
        // The attempt may have timed out at the moment when the stop aborted it. Its row will show which.
        if (sent.outcome?.kind === 'aborted' && isGraceOver(by)) continue;
        learn(token, evidenceOf(sent, observer.timeoutMsOf(deliveryId)), by.now());
      }
    },
    settleRequested({ attempt }, by) {
      // The request was never sent, or a stop aborted it.
      const evidence = attempt.error === 'timeout' ? 'failure' : 'nothing';
      if (attempts.get(attempt.id)?.by === by) learn(attempt.id, evidence, attempt.finishedAt ?? by.now());
    },
    deferRequested(delivery, by) {
      const { dueAt, reserved } = delivery;
      if (reserved || dueAt === null || !simulation.holds(by, delivery)) return;
      const now = by.now();
      // The delivery was released because the breaker closed.
      if (dueAt === now) return;
      const key = gateKey(delivery);
      const model = modelOf(key);
      const policy = policyOf(delivery, by);
      const until = deferralEnd(model, policy, now);
      model.probeUntil = probedUntil(model, policy, now);
      if (model.isInexact) return;
      if (until !== dueAt) {
        const expected =
          until === null
            ? `nothing defers it (${JSON.stringify(model)})`
            : `its window ends in ${until - now} ms`;
        throw new Violation(NAME, `${delivery.id} of ${key} was deferred by ${dueAt - now} ms: ${expected}`);
      }
    },
    endRequested({ delivery }, by) {
      const { deadline, attemptCount, scheduledFor, finalizedAt, status } = delivery;
      if (status !== 'expired' || deadline === null || attemptCount > 0) return;
      const now = finalizedAt ?? 0;
      if (now > deadline && now > scheduledFor + 300) return;
      if (simulation.limits.of(delivery, by).perSecond !== null) return;
      const model = modelOf(gateKey(delivery));
      if (!simulation.holds(by, delivery)) return;
      if (!model.isInexact && (deferralEnd(model, policyOf(delivery, by), by.now()) ?? 0) <= deadline) {
        throw new Violation(NAME, `${delivery.id} ended as if the breaker deferred it past its deadline`);
      }
    },
    gateSaved({ partition, endpoint, state }) {
      const key = `${partition}/${endpoint}`;
      if (state === null) saved.delete(key);
      else saved.set(key, state);
      const model = modelOf(key);
      if (restored(key).openUntil === model.openUntil) model.changedMs = null;
    },
    gatesMoved(isAmong, how) {
      if (how === 'given_back') checkHandOver(isAmong);
      for (const [token, { key }] of attempts) if (isAmong(key)) attempts.delete(token);
      for (const key of models.keys()) if (isAmong(key)) models.set(key, restored(key));
    },
    clockSet(byMs) {
      for (const model of models.values()) {
        if (model.openUntil !== null && byMs < 0) model.isInexact = true;
      }
    },
    step() {
      for (const [key, model] of models) {
        const disturbedMs = simulation.findInstance(model.changedBy)?.disturbedMs;
        if (disturbedMs === undefined) continue;
        const since = Math.max(model.changedMs ?? time.elapsedMs, disturbedMs);
        if (model.changedMs !== null && time.elapsedMs - since > SAVED_WITHIN_MS) {
          throw new Violation(NAME, `the change of the breaker of ${key} was not saved`);
        }
      }
    },
  };
}

function policyIn(policy: BreakerPolicy | null): Policy {
  if (policy === null) return DEFAULT;
  return {
    threshold: policy.threshold,
    baseMs: ms(policy.baseOpen),
    maxMs: ms(policy.maxOpen),
    probeMs: ms(policy.probeTimeout),
  };
}

/** Failures of the simulated network that say nothing about the destination. */
const WITHOUT_EVIDENCE: ReadonlySet<FailureCode> = new Set(['address_not_allowed', 'name_unresolved']);

function evidenceOf(sent: SentRequest, timeoutMs: number): Evidence {
  const { outcome } = sent;
  if (outcome === null || outcome.kind === 'orphaned') return 'nothing';
  if (outcome.kind === 'aborted') {
    return (sent.endedMs ?? 0) - sent.elapsedMs >= timeoutMs ? 'failure' : 'nothing';
  }
  const { result } = outcome;
  if (result.kind === 'failed') return WITHOUT_EVIDENCE.has(result.failure) ? 'nothing' : 'failure';
  if (result.statusCode < 300) return 'success';
  return result.statusCode < 400 ? 'nothing' : 'failure';
}

/** The key of a gate: the endpoint profile, or origin and path of the URL. */
export function gateKey({ partition, target }: Pick<Delivery, 'partition' | 'target'>): string {
  const { origin, pathname } = new URL(target.url);
  return `${partition}/${target.endpointId ?? origin + pathname}`;
}
