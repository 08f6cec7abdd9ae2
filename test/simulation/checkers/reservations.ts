/**
 * No delivery waits longer than the retry budget and the rate limit require. A reservation is for the instant
 * when the tokens taken so far have arrived and the steps taken so far are over, and no later.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { gateKey } from './breaker.ts';
import { type Checker, type InstanceFacts, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'reservations';
const LAPSE_MS = 300;

interface Bucket {
  readonly terms: { readonly rate: number; readonly burst: number };
  readonly tokens: number;
  readonly at: number;
}

interface Pace {
  readonly freeAt: number;
  readonly at: number;
}

interface Gate {
  budget: Bucket | null;
  /** The rate limits, by the number that they allow per second. That of notifications has a name. */
  readonly rateLimiters: Record<string, Pace>;
  /**
   * The rate limits as they were when the clock was set back. A write that fails takes back its step, and then they hold
   * again until the clock has caught up.
   */
  readonly beforeSetBack: Record<string, Pace>;
}

interface StepTerms {
  readonly perSecond: number;
  readonly limiter: string;
}

interface Reservation {
  readonly key: string;
  readonly delivery: Delivery;
  /** When the reservation was decided. */
  readonly now: number;
  readonly rate: number | null;
  readonly step: StepTerms | null;
}

export function reservationsChecker(simulation: SimulationView): Checker {
  const { observer } = simulation;
  const gates = new Map<string, Gate>();
  const saved = new Map<string, string>();
  let made: Reservation[] = [];

  const gateOf = (key: string): Gate => {
    const gate = gates.get(key) ?? { budget: null, rateLimiters: {}, beforeSetBack: {} };
    gates.set(key, gate);
    return gate;
  };

  const takeToken = (gate: Gate, terms: Bucket['terms'], now: number): void => {
    const { budget } = gate;
    const isSame = budget?.terms.rate === terms.rate && budget.terms.burst === terms.burst;
    const before = isSame ? budget : { terms, tokens: terms.burst, at: now };
    const come = (Math.max(now - before.at, 0) * terms.rate) / 1_000;
    gate.budget = { terms, tokens: Math.min(before.tokens + come, terms.burst) - 1, at: now };
  };

  /** A step counts from the moment when it is taken. If a token is still to come, it counts from then. */
  const takeStep = (gate: Gate, { perSecond, limiter }: StepTerms, debtMs: number, now: number): void => {
    const pace = gate.rateLimiters[limiter];
    const freeAt = pace === undefined ? now : freeAtOf(pace, now);
    if (pace !== undefined && pace.at > now) gate.beforeSetBack[limiter] = pace;
    gate.rateLimiters[limiter] = { freeAt: Math.max(freeAt, now + debtMs) + 1_000 / perSecond, at: now };
  };

  /** Takes from the gate what letting a delivery through, or reserving for it, costs. */
  const take = (delivery: Delivery, by: InstanceFacts): Reservation | null => {
    const now = by.now();
    const before = observer.deliveries.get(delivery.id);
    if (before === undefined) return null;
    const key = gateKey(delivery);
    if (before.reserved && now <= (before.dueAt ?? 0) + LAPSE_MS) return null;
    const { perSecond, limiter, budget: terms } = simulation.limits.of(delivery, by);
    const step = perSecond === null ? null : { perSecond, limiter };
    const needsToken = before.attemptCount > 0;
    if (needsToken) takeToken(gateOf(key), terms, now);
    const debt = needsToken ? Math.max(-(gateOf(key).budget?.tokens ?? 0), 0) : 0;
    const debtMs = debt === 0 ? 0 : (debt * 1_000) / terms.rate;
    if (step !== null) takeStep(gateOf(key), step, debtMs, now);
    return { key, delivery, now, rate: needsToken ? terms.rate : null, step };
  };

  const check = ({ key, delivery, now, rate, step }: Reservation): void => {
    const { budget, rateLimiters, beforeSetBack } = gateOf(key);
    const debt = rate === null ? 0 : Math.max(-(budget?.tokens ?? 0), 0);
    const tokenAt = debt === 0 ? now : now + (debt * 1_000) / (rate ?? 1);
    const stepAt = step === null ? now : (rateLimiters[step.limiter]?.freeAt ?? now) - 1_000 / step.perSecond;
    const again = step === null ? undefined : beforeSetBack[step.limiter];
    const againAt = again === undefined || again.at <= now ? now : freeAtOf(again, now);
    const latest = Math.ceil(Math.max(tokenAt, stepAt, againAt)) + 1;
    if ((delivery.dueAt ?? 0) > latest) {
      const inMs = (delivery.dueAt ?? 0) - now;
      throw new Violation(NAME, `${delivery.id} waits ${inMs} ms for ${key}, not ${latest - now}`);
    }
  };

  return {
    name: NAME,
    claimRequested({ delivery }, by) {
      if (simulation.holds(by, delivery)) take(delivery, by);
    },
    deferRequested(delivery, by) {
      if (!delivery.reserved || !simulation.holds(by, delivery)) return;
      const reservation = take(delivery, by);
      if (reservation === null)
        throw new Violation(NAME, `${delivery.id} had a reservation, and has to wait again`);
      made.push(reservation);
    },
    gateSaved({ partition, endpoint, state }) {
      const key = `${partition}/${endpoint}`;
      if (state === null) saved.delete(key);
      else saved.set(key, state);
    },
    gatesMoved(isAmong) {
      for (const key of gates.keys()) if (isAmong(key)) gates.delete(key);
      for (const [key, state] of saved) {
        if (!isAmong(key)) continue;
        const { budget, rateLimiters } = JSON.parse(state) as Gate;
        gates.set(key, { budget, rateLimiters, beforeSetBack: {} });
      }
    },
    step() {
      const reservations = made;
      made = [];
      for (const reservation of reservations) check(reservation);
    },
  };
}

/** A limiter that was used at a later time by the clock waits as long as it did then. */
function freeAtOf({ freeAt, at }: Pace, now: number): number {
  return freeAt - Math.max(at - now, 0);
}
