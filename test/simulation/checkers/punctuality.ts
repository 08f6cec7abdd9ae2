/**
 * While the service is up and the store works, nothing due is forgotten, and nothing stays claimed without an
 * attempt in progress. Without disturbances, a delivery is claimed within the few milliseconds that a timer
 * may be late.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { isWaitingStatus } from '../observer.ts';
import { gateKey } from './breaker.ts';
import { type Checker, type InstanceFacts, type RequestedClaim, Violation } from './checker.ts';
import { countedPermits } from './counted-permits.ts';
import { CustomerBursts } from './customer-bursts.ts';
import { foundWithinMs } from './found-within.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'punctuality';
/** After a disturbance the engine rests and scans. This includes the time that both take. */
const UNCLAIMED_MS_MAX = 2_500;
const ABANDONED_MS_MAX = 3_000;
const LATE_MS_MAX = 60;
/** A start has to close interrupted attempts, possibly on a slow disk. */
const STARTS_WITHIN_MS = 15_000;
/** The engine claims nothing for this long after the store failed. */
const RESTS_MS = 700;
/** A delivery that is known this long before it is due is in memory by then. */
const KNOWN_MS = 3_000;
const CHECK_EVERY_MS = 100;

export function punctualityChecker(simulation: SimulationView): Checker {
  const { time, observer } = simulation;
  /** Since when a delivery has been due in its current revision. */
  const dueSince = new Map<DeliveryId, { readonly revision: number; readonly ms: number }>();
  const changedMs = new Map<DeliveryId, number>();
  /** When the dispatcher learned the current revision of a delivery. */
  const learnedMs = new Map<DeliveryId, { readonly revision: number; readonly ms: number }>();
  const customerBursts = new CustomerBursts();
  let checkedMs = 0;

  /** The process, if there is one. */
  const instance = (): InstanceFacts | null => simulation.instances[0] ?? null;
  const undisturbedSince = (): number => Math.max(simulation.disturbedMs, instance()?.upSinceMs ?? 0);
  /** The engine waits for a slow disk, because only a few batches are in flight at once. */
  const slowSince = (): number => Math.min(simulation.slowUntilMs, time.elapsedMs);

  const { permits, waitsAs, claimRequested, counting } = countedPermits(simulation);
  /** When the endpoint was last seen without a free permit. */
  const fullMs = new Map<string, number>();

  const checkWaiting = (delivery: Delivery, nowMs: number): void => {
    const { id, revision, dueAt } = delivery;
    if (dueAt === null || dueAt > time.now() || observer.isAwaitingSweep(delivery)) {
      dueSince.delete(id);
      return;
    }
    const known = dueSince.get(id);
    if (known?.revision !== revision) dueSince.set(id, { revision, ms: nowMs });
    const key = gateKey(delivery);
    const since = Math.max(
      known?.revision === revision ? known.ms : nowMs,
      undisturbedSince(),
      slowSince(),
      fullMs.get(key) ?? 0,
    );
    if (nowMs - since > UNCLAIMED_MS_MAX && !simulation.hasPendingWrite(id)) {
      const kinds = waitsAs(delivery, time.elapsedAt(dueAt));
      if (kinds.some((kind) => permits.isFull(delivery, kind))) {
        fullMs.set(key, nowMs);
        return;
      }
      throw new Violation(NAME, `${id} was due at ${new Date(dueAt).toISOString()} and was not claimed`);
    }
  };

  const checkClaimed = (delivery: Delivery, nowMs: number): void => {
    const { id, attemptCount, claim } = delivery;
    const sent = observer.sentOf(id, attemptCount);
    const isOurs = claim?.node === instance()?.node;
    if (isOurs && ((sent !== null && sent.outcome === null) || simulation.hasPendingWrite(id))) return;
    const endedMs = (isOurs && sent?.endedMs) || 0;
    const since = Math.max(changedMs.get(id) ?? 0, endedMs, undisturbedSince(), slowSince());
    if (nowMs - since > ABANDONED_MS_MAX && !simulation.hasPendingWrite(id)) {
      throw new Violation(
        NAME,
        `${id} stays claimed by ${isOurs ? 'this process' : claim?.node}, and no attempt is in progress`,
      );
    }
  };

  /** Whether no permit was free at some moment since then. */
  const wasFull = (delivery: Delivery, dueMs: number, sinceMs: number): boolean =>
    waitsAs(delivery, dueMs).some((kind) => permits.wasFullSince(delivery, kind, sinceMs));

  const lateMsMax = (delivery: Delivery, sinceMs: number): number =>
    LATE_MS_MAX + customerBursts.waitMsMax(delivery, sinceMs);

  const judgeLateness = (delivery: Delivery, dueMs: number, sinceMs: number): void => {
    const lateMs = time.elapsedMs - sinceMs;
    const hintedMsMax = lateMsMax(delivery, sinceMs);
    if (
      lateMs <= foundWithinMs(delivery, delivery.revision - 1, hintedMsMax) ||
      wasFull(delivery, dueMs, sinceMs)
    )
      return;
    throw new Violation(NAME, `${delivery.id} was claimed ${lateMs} ms after it was due and known`);
  };

  const judgeClaim = ({ delivery, attempt }: RequestedClaim): void => {
    const dueMs = time.elapsedAt(attempt.dueAt);
    const knownMs = changedMs.get(delivery.id) ?? 0;
    const lateMs = attempt.firedAt - attempt.dueAt;
    // While the disk is slow, the next batches wait.
    if (simulation.slowUntilMs >= dueMs) return;
    const learned = learnedMs.get(delivery.id);
    // The time counts from the revision that is claimed here.
    if (learned?.revision === delivery.revision - 1 && undisturbedSince() + RESTS_MS < knownMs) {
      judgeLateness(delivery, dueMs, Math.max(dueMs, learned.ms));
    }
    if (dueMs - Math.max(knownMs, undisturbedSince()) < KNOWN_MS) return;
    if (lateMs <= lateMsMax(delivery, dueMs) || wasFull(delivery, dueMs, dueMs)) return;
    throw new Violation(NAME, `${delivery.id} was claimed ${lateMs} ms late`);
  };

  return {
    ...counting,
    name: NAME,
    learned(deliveries) {
      for (const { id, revision } of deliveries) learnedMs.set(id, { revision, ms: time.elapsedMs });
    },
    delivery(change) {
      const { after } = change;
      counting.delivery(change);
      if (after !== null) changedMs.set(after.id, time.elapsedMs);
    },
    claimRequested(write, by) {
      judgeClaim(write);
      customerBursts.claimed(write.delivery, time.elapsedMs);
      claimRequested(write, by);
    },
    step() {
      const nowMs = time.elapsedMs;
      const current = instance();
      if (current?.state === 'starting') {
        const since = Math.max(current.startedMs, simulation.disturbedMs);
        if (nowMs - since > STARTS_WITHIN_MS) throw new Violation(NAME, 'a start does not end');
      }
      if (current?.state !== 'up' || nowMs - checkedMs < CHECK_EVERY_MS) return;
      checkedMs = nowMs;
      for (const id of observer.open) {
        const delivery = observer.deliveries.get(id);
        if (delivery === undefined) continue;
        if (delivery.status === 'claimed') checkClaimed(delivery, nowMs);
        else if (isWaitingStatus(delivery.status)) checkWaiting(delivery, nowMs);
      }
    },
  };
}
