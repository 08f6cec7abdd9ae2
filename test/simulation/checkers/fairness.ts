/**
 * No customer is late because of another. Other customers may have many deliveries and endpoints that hang
 * for long. They still delay neither the claim nor the request of a customer who needs little.
 *
 * An endpoint may take a permit while `2 × free > c + 2 × (h + 16 × e)`. Here c, h and e are the permits that
 * its customer, its host and itself hold. A customer takes a permit only while it holds less than twice the
 * free ones. Hence n other customers leave more than a (2n + 1)th of all permits free, except for the large
 * body that each may take with its last one. A customer is quiet towards an endpoint while the endpoint needs
 * less than that. A delivery of a quiet customer therefore always finds a permit, after at most one turn of
 * each other customer. `LATE_MS_MAX` allows for the time of timers, turns and the store.
 *
 * The checker ignores a delivery that the engine did not know well before its instant. It also ignores one
 * whose owner was disturbed since then: the owner started, the store failed or was slow, the clock was set,
 * or the slot moved. It judges only small bodies, because large ones are read one after the other, those of a
 * quiet customer included.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { isWaitingStatus } from '#test/simulation/observer.ts';
import { gateKey } from './breaker.ts';
import { type Checker, Violation } from './checker.ts';
import { countedPermits } from './counted-permits.ts';
import { CustomerBursts } from './customer-bursts.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'fairness';
/**
 * Other customers hold at least this many permits. With fewer, the punctuality checker judges the delivery.
 */
const FLOOD_PERMITS = 8;
/** The longest time from the instant until the claim is requested. */
const LATE_MS_MAX = 80;
/**
 * The longest time from the instant until the network receives the request. The claim is stored in between.
 */
const SENT_MS_MAX = 160;
/** A delivery that is known this long before its instant, without a disturbance, is in memory by then. */
const KNOWN_MS = 3_000;
const SMALL_BYTES_MAX = 16_384;
const CHECK_EVERY_MS = 50;

export function fairnessChecker(simulation: SimulationView): Checker {
  const { time, observer } = simulation;
  const { permits, claimRequested, counting } = countedPermits(simulation);
  const changedMs = new Map<DeliveryId, number>();
  /** When an endpoint last needed more permits than the other customers are certain to leave. */
  const busyMs = new Map<string, number>();
  /** The due instants of deliveries that are claimed and not sent yet. */
  const dueMsOf = new Map<DeliveryId, number>();
  const customerBursts = new CustomerBursts();
  let checkedMs = 0;

  const left = permits.leftBeside(simulation.secrets.size - 1);
  const isQuiet = (delivery: Delivery): boolean => permits.needOf(delivery) < left;
  const noteBusy = (delivery: Delivery): void => {
    if (!isQuiet(delivery)) busyMs.set(gateKey(delivery), time.elapsedMs);
  };

  /** Whether only other customers can be the reason that it was not handled at its instant. */
  const isDelayedByOthers = (delivery: Delivery, dueMs: number): boolean => {
    const { id, partition } = delivery;
    const undisturbedMs = simulation.undisturbedSinceMs(delivery);
    const knownMs = changedMs.get(id);
    if (undisturbedMs === null || knownMs === undefined) return false;
    if (Math.max(undisturbedMs, knownMs) > dueMs - KNOWN_MS) return false;
    if ((simulation.payloads.bodyBytesOf(id) ?? 0) > SMALL_BYTES_MAX) return false;
    if (!isQuiet(delivery) || (busyMs.get(gateKey(delivery)) ?? -1) >= dueMs) return false;
    return permits.held - permits.heldBy(partition) >= FLOOD_PERMITS;
  };

  const judge = (delivery: Delivery, dueMs: number, withinMs: number, what: string): void => {
    const lateMs = time.elapsedMs - dueMs;
    const ownMs = customerBursts.waitMsMax(delivery, dueMs);
    if (lateMs <= withinMs + ownMs || !isDelayedByOthers(delivery, dueMs)) return;
    throw new Violation(
      NAME,
      `${delivery.id} ${what} ${lateMs} ms after its instant, although its customer is quiet`,
    );
  };

  return {
    ...counting,
    name: NAME,
    delivery(change) {
      const { after } = change;
      counting.delivery(change);
      // A claim changes the delivery too, but its request is judged by the change before.
      if (after !== null && after.status !== 'claimed') changedMs.set(after.id, time.elapsedMs);
    },
    claimRequested(write, by) {
      const { delivery, attempt } = write;
      const dueMs = time.elapsedAt(attempt.dueAt);
      judge(delivery, dueMs, LATE_MS_MAX, 'was claimed');
      claimRequested(write, by);
      customerBursts.claimed(delivery, time.elapsedMs);
      noteBusy(delivery);
      dueMsOf.set(delivery.id, dueMs);
    },
    deferRequested(delivery, by) {
      counting.deferRequested(delivery, by);
      noteBusy(delivery);
    },
    endRequested(write, by) {
      counting.endRequested(write, by);
      noteBusy(write.delivery);
    },
    requestSent({ deliveryId }) {
      const delivery = observer.deliveries.get(deliveryId);
      const dueMs = dueMsOf.get(deliveryId);
      dueMsOf.delete(deliveryId);
      if (delivery !== undefined && dueMs !== undefined) judge(delivery, dueMs, SENT_MS_MAX, 'was sent');
    },
    step() {
      const nowMs = time.elapsedMs;
      if (nowMs - checkedMs < CHECK_EVERY_MS) return;
      checkedMs = nowMs;
      for (const id of observer.open) {
        const delivery = observer.deliveries.get(id);
        if (delivery === undefined || !isWaitingStatus(delivery.status) || delivery.dueAt === null) continue;
        if (
          delivery.dueAt > time.now() ||
          simulation.hasPendingWrite(id) ||
          observer.isAwaitingSweep(delivery)
        )
          continue;
        judge(delivery, time.elapsedAt(delivery.dueAt), SENT_MS_MAX, 'is not claimed');
      }
    },
  };
}
