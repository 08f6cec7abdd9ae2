/**
 * Retries never exceed the retry budget, and deliveries never exceed the rate limit. Both are counted over
 * any span of time, from the moment when they were let through. A reservation may be used up to 300 ms late.
 * A token whose use was not saved before a crash counts as not used.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { gateKey } from './breaker.ts';
import { type Checker, type InstanceFacts, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const LAPSE_MS = 300;
/** Allows for rounding to whole milliseconds. */
const SLACK = 0.01;

interface Bucket {
  terms: string;
  level: number;
  at: number;
  /** Tokens that were taken since the last save. */
  unsaved: number;
}

interface Pace {
  readonly gate: string;
  freeAt: number;
  savedFreeAt: number;
}

interface StepTerms {
  readonly perSecond: number;
  readonly limiter: string;
}

export function rateLimitsChecker(simulation: SimulationView): Checker {
  const { observer } = simulation;
  const buckets = new Map<string, Bucket>();
  const paces = new Map<string, Pace>();
  /**
   * Claims in flight, by token, with functions that give back what they took. A claim that fails sends no
   * request.
   */
  const claimsInFlight = new Map<string, { readonly key: string; readonly takeBack: (() => void)[] }>();

  const takeToken = (key: string, rate: number, burst: number, id: string, now: number): (() => void) => {
    const terms = `${rate}/${burst}`;
    // Late deliveries go out together, so the tokens that arrived in the meantime count for them.
    const most = burst + (rate * LAPSE_MS) / 1_000 + 1;
    const known = buckets.get(key);
    const bucket = known?.terms === terms ? known : { terms, level: most, at: now, unsaved: 0 };
    bucket.level = Math.min(bucket.level + (Math.max(now - bucket.at, 0) * rate) / 1_000, most);
    bucket.at = now;
    bucket.level--;
    bucket.unsaved++;
    buckets.set(key, bucket);
    // With a rate of 0 nothing can be late: the burst is all there is.
    const least = rate === 0 ? 1 - SLACK : -SLACK;
    if (bucket.level < least) {
      throw new Violation('budget', `${id} is a retry of ${key} beyond ${rate}/s, burst ${burst}`);
    }
    return () => {
      bucket.level++;
    };
  };

  const takeStep = (
    key: string,
    { perSecond, limiter }: StepTerms,
    id: string,
    now: number,
  ): (() => void) => {
    const limit = `${key} ${limiter}`;
    const pace = paces.get(limit) ?? { gate: key, freeAt: 0, savedFreeAt: 0 };
    if (now < pace.freeAt - 1) {
      throw new Violation('rate', `${id} comes ${pace.freeAt - now} ms too early for ${key}`);
    }
    pace.freeAt = Math.max(pace.freeAt, now - LAPSE_MS) + 1_000 / perSecond;
    paces.set(limit, pace);
    return () => {
      pace.freeAt -= 1_000 / perSecond;
    };
  };

  /** Deliveries whose reservation was lost with the process before it was saved. They do not count. */
  const unaccounted = new Set<DeliveryId>();
  const excludeReserved = (key: string): void => {
    for (const id of observer.open) {
      const delivery = observer.deliveries.get(id);
      if (delivery?.reserved && gateKey(delivery) === key) unaccounted.add(id);
    }
  };

  /** Deliveries that were reserved since their gate was last saved, by gate. */
  const unsavedReservations = new Map<string, Set<DeliveryId>>();

  /** A reservation is used even when the limits changed since it was made. */
  const reservedUnder = new Map<DeliveryId, string>();
  const isOfOldTerms = (delivery: Delivery, by: InstanceFacts): boolean => {
    const reserved = reservedUnder.get(delivery.id);
    reservedUnder.delete(delivery.id);
    const wasReserved = observer.deliveries.get(delivery.id)?.reserved === true;
    return wasReserved && reserved !== undefined && reserved !== termsOf(delivery, by);
  };
  const termsOf = (delivery: Delivery, by: InstanceFacts): string => {
    const { perSecond, limiter, budget } = simulation.limits.of(delivery, by);
    return JSON.stringify([perSecond, limiter, budget]);
  };

  return {
    name: 'budget and rate',
    deferRequested(delivery, by) {
      if (!delivery.reserved) return;
      reservedUnder.set(delivery.id, termsOf(delivery, by));
      const key = gateKey(delivery);
      unsavedReservations.set(key, (unsavedReservations.get(key) ?? new Set()).add(delivery.id));
    },
    claimRequested({ delivery, attempt }, by) {
      // The delivery changed since it was read, so the store will refuse the claim.
      const isStale = observer.deliveries.get(delivery.id)?.revision !== delivery.revision - 1;
      if (isStale || !simulation.holds(by, delivery)) return;
      const now = by.now();
      if (unaccounted.delete(delivery.id) || isOfOldTerms(delivery, by)) return;
      const key = gateKey(delivery);
      const { perSecond, limiter, budget } = simulation.limits.of(delivery, by);
      const { rate, burst } = budget;
      const takeBack: (() => void)[] = [];
      claimsInFlight.set(attempt.id, { key, takeBack });
      // The delivery reserved its token together with its step, so the token was counted before.
      const isEarlier = perSecond !== null && observer.deliveries.get(delivery.id)?.reserved === true;
      if (attempt.attemptNo > 1 && !isEarlier) takeBack.push(takeToken(key, rate, burst, delivery.id, now));
      if (perSecond !== null) takeBack.push(takeStep(key, { perSecond, limiter }, delivery.id, now));
    },
    claimAnswered({ attempt }, answer) {
      const taken = claimsInFlight.get(attempt.id)?.takeBack ?? [];
      claimsInFlight.delete(attempt.id);
      if (answer !== 'done') for (const takeBack of taken) takeBack();
    },
    gateSaved({ partition, endpoint }) {
      const key = `${partition}/${endpoint}`;
      unsavedReservations.delete(key);
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.unsaved = 0;
      for (const pace of paces.values()) if (pace.gate === key) pace.savedFreeAt = pace.freeAt;
    },
    gatesMoved(isAmong) {
      for (const [key, ids] of unsavedReservations) {
        if (!isAmong(key)) continue;
        for (const id of ids) if (observer.deliveries.get(id)?.reserved === true) unaccounted.add(id);
        unsavedReservations.delete(key);
      }
      for (const [token, { key, takeBack: taken }] of claimsInFlight) {
        if (!isAmong(key)) continue;
        for (const takeBack of taken) takeBack();
        claimsInFlight.delete(token);
      }
      for (const [key, bucket] of buckets) {
        if (!isAmong(key)) continue;
        if (bucket.unsaved > 0) excludeReserved(key);
        bucket.level += bucket.unsaved;
        bucket.unsaved = 0;
      }
      for (const pace of paces.values()) {
        if (!isAmong(pace.gate)) continue;
        if (pace.freeAt > pace.savedFreeAt) excludeReserved(pace.gate);
        pace.freeAt = Math.min(pace.freeAt, pace.savedFreeAt);
      }
    },
    clockSet(byMs) {
      if (byMs > 0) return;
      for (const bucket of buckets.values()) bucket.at += byMs;
      for (const pace of paces.values()) {
        pace.freeAt += byMs;
        pace.savedFreeAt += byMs;
      }
    },
  };
}
