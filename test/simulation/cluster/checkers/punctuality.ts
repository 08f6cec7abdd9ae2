/**
 * While a healthy node runs, nothing due is forgotten, and nothing stays claimed without an attempt in
 * progress. Attempts of a dead node are closed and continue within seconds. Without disturbances a delivery
 * is claimed on time, no matter which node created it.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { CustomerBursts } from '#test/simulation/checkers/customer-bursts.ts';
import { gateKey } from '../../checkers/breaker.ts';
import { Violation } from '../../checkers/checker.ts';
import { foundWithinMs } from '../../checkers/found-within.ts';
import { isWaitingStatus } from '../../observer.ts';
import type { ClusterNode } from '../node.ts';
import type { ClusterChecker, ClusterSimulationView } from '../simulation-view.ts';

const NAME = 'punctuality';
/** After a disturbance the engine rests and scans. This includes the time that both take. */
const UNCLAIMED_MS_MAX = 2_500;
/** A node that lost track of its own claim finds it by its periodic search. */
const ABANDONED_MS_MAX = 8_000;
/** The slot was taken over before, and its new owner searches for open claims. */
const CLOSED_WITHIN_MS = 3_000;
const TAKEN_OVER_WITHIN_MS = 5_000;
const LATE_MS_MAX = 80;
/** The longest time for a change through another node: write, answer, hint and read. */
const HINTED_MS_MAX = 250;
/** A new owner scans a slot at once. */
const FOUND_MS_MAX = 250;
/** A delivery that is known this long before it is due is in memory by then. */
const KNOWN_MS = 3_000;
const STARTS_WITHIN_MS = 15_000;
const CHECK_EVERY_MS = 100;
/**
 * An endpoint with this many claims in a short time may be full. Four endpoints of one host have 39 permits
 * each for overdue work.
 */
const CLAIMS_TO_BE_CROWDED = 30;
const CLAIMS_LAST_MS = 31_000;

interface Known {
  readonly revision: number;
  readonly ms: number;
}

/** A revision, and the node whose verb made it. */
interface Change extends Known {
  readonly by: string | null;
}

export function punctualityInCluster(simulation: ClusterSimulationView): ClusterChecker {
  const { time, observer, slots } = simulation;
  /** When a delivery got its current revision. */
  const changes = new Map<DeliveryId, Change>();
  /** Since when a delivery has been due in its current revision. */
  const dueSince = new Map<DeliveryId, Known>();
  /** When deliveries took permits, by endpoint. */
  const claimedMsOf = new Map<string, number[]>();
  const customerBursts = new CustomerBursts();
  let checkedMs = 0;

  const isCrowded = (gate: string): boolean => {
    const since = time.elapsedMs - CLAIMS_LAST_MS;
    return (claimedMsOf.get(gate) ?? []).filter((ms) => ms >= since).length >= CLAIMS_TO_BE_CROWDED;
  };
  const noteClaim = (delivery: Delivery): void => {
    const gate = gateKey(delivery);
    claimedMsOf.set(gate, [...(claimedMsOf.get(gate) ?? []), time.elapsedMs]);
  };

  const checkWaiting = (delivery: Delivery): void => {
    const { id, revision, dueAt } = delivery;
    if (dueAt === null || dueAt > time.now() || observer.isAwaitingSweep(delivery)) {
      dueSince.delete(id);
      return;
    }
    const known = dueSince.get(id);
    if (known?.revision !== revision) dueSince.set(id, { revision, ms: time.elapsedMs });
    const dispatchedMs = simulation.undisturbedSinceMs(delivery);
    if (known?.revision !== revision || dispatchedMs === null || simulation.hasPendingWrite(id)) return;
    const overdueMs = time.elapsedMs - Math.max(known.ms, dispatchedMs);
    if (overdueMs > UNCLAIMED_MS_MAX && !isCrowded(gateKey(delivery))) {
      throw new Violation(NAME, `${id} was due at ${new Date(dueAt).toISOString()} and was not claimed`);
    }
  };

  const isAtWork = (instance: ClusterNode | null, delivery: Delivery): boolean => {
    if (instance === null) return false;
    const sent = observer.sentOf(delivery.id, delivery.attemptCount);
    return (sent !== null && sent.outcome === null) || simulation.hasPendingWrite(delivery.id);
  };

  const checkClaimed = (delivery: Delivery): void => {
    const { id, attemptCount, claim } = delivery;
    const instance = simulation.findInstance(claim?.node);
    const dispatchedMs = simulation.undisturbedSinceMs(delivery);
    if (isAtWork(instance, delivery) || dispatchedMs === null || instance?.state === 'stopping') return;
    const changedMs = changes.get(id)?.ms ?? 0;
    const endedMs = observer.sentOf(id, attemptCount)?.endedMs ?? 0;
    const since =
      instance === null
        ? Math.max(changedMs, dispatchedMs, simulation.endedMs(claim?.node ?? '') + TAKEN_OVER_WITHIN_MS)
        : Math.max(changedMs, endedMs, instance.disturbedMs);
    const withinMs = instance === null ? CLOSED_WITHIN_MS : ABANDONED_MS_MAX;
    if (time.elapsedMs - since > withinMs && !simulation.hasPendingWrite(id)) {
      const whose = instance === null ? `the dead ${claim?.node}` : claim?.node;
      throw new Violation(NAME, `${id} stays claimed by ${whose}, and no attempt is in progress`);
    }
  };

  return {
    name: NAME,
    delivery({ after }) {
      if (after !== null) {
        const { revision } = after;
        changes.set(after.id, { revision, ms: time.elapsedMs, by: simulation.writer });
      }
    },
    claimRequested({ delivery, attempt }, by) {
      noteClaim(delivery);
      const lateMsMax = LATE_MS_MAX + customerBursts.waitMsMax(delivery, time.elapsedAt(attempt.dueAt));
      customerBursts.claimed(delivery, time.elapsedMs);
      const undisturbedMs = simulation.findInstance(by.node)?.undisturbedSinceMs ?? null;
      const known = changes.get(delivery.id);
      if (undisturbedMs === null || known?.revision !== delivery.revision - 1) return;
      const gate = gateKey(delivery);
      if (!simulation.holds(by, delivery) || isCrowded(gate)) return;
      const dueMs = time.elapsedAt(attempt.dueAt);
      const { sinceMs } = slots.slotOfGate(gate);
      const lateMs = time.elapsedMs - Math.max(dueMs, known.ms, sinceMs);
      const knownMs = Math.max(known.ms, sinceMs, undisturbedMs);
      if (lateMs > lateMsMax && dueMs - knownMs >= KNOWN_MS) {
        throw new Violation(NAME, `${delivery.id} was claimed ${lateMs} ms late`);
      }
      const writerUndisturbedMs =
        simulation.findInstance(known.by ?? undefined)?.undisturbedSinceMs ?? time.elapsedMs;
      const allUndisturbedMs = Math.max(simulation.disturbedMs, writerUndisturbedMs);
      const isUndisturbed = simulation.areHintsReliable && allUndisturbedMs < known.ms - KNOWN_MS;
      if (
        lateMs > foundWithinMs(delivery, known.revision, HINTED_MS_MAX) &&
        isUndisturbed &&
        known.ms - Math.max(sinceMs, undisturbedMs) >= KNOWN_MS
      ) {
        throw new Violation(
          NAME,
          `${delivery.id} was claimed ${lateMs} ms after it was due and a hint was sent`,
        );
      }
      if (
        lateMs > FOUND_MS_MAX &&
        sinceMs - undisturbedMs >= KNOWN_MS &&
        sinceMs > Math.max(dueMs, known.ms)
      ) {
        throw new Violation(NAME, `${delivery.id} was claimed ${lateMs} ms after its slot was taken`);
      }
    },
    deferRequested(delivery) {
      noteClaim(delivery);
    },
    endRequested({ delivery }) {
      noteClaim(delivery);
    },
    step() {
      if (time.elapsedMs - checkedMs < CHECK_EVERY_MS) return;
      checkedMs = time.elapsedMs;
      for (const { node, state, startedMs, storeDisturbedMs, resumedMs, isPaused } of simulation.instances) {
        if (state !== 'starting' || isPaused) continue;
        const since = Math.max(startedMs, storeDisturbedMs, resumedMs);
        if (checkedMs - since > STARTS_WITHIN_MS)
          throw new Violation(NAME, `the start of ${node} does not end`);
      }
      for (const id of observer.open) {
        const delivery = observer.deliveries.get(id);
        if (delivery === undefined) continue;
        if (delivery.status === 'claimed') checkClaimed(delivery);
        else if (isWaitingStatus(delivery.status)) checkWaiting(delivery);
      }
    },
  };
}
