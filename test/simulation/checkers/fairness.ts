/**
 * Nobody is late because of somebody else. What other customers do, however much of it there is and however long their
 * endpoints hang, delays neither the claim nor the request of a customer who asks for little.
 *
 * Why this must hold, and when. An endpoint may take a permit while `2 × free > c + 2 × (h + 16 × e)`, where c, h and e
 * are what its customer, its host and itself hold. Others leave some free: a customer takes a permit only while it
 * holds less than twice of what is free, so n of them leave more than a (2n + 1)th of all free, but for the large body
 * that each may take with the last one. A customer is quiet towards an endpoint while what the endpoint needs is less
 * than that. So a permit is at hand for every delivery of a quiet customer, whatever others do, and its turn comes
 * after at most one turn of each other customer. What is left is the time that timers, turns and the store take, which
 * `LATE_MS_MAX` allows for.
 *
 * Nothing is asked of a delivery that the engine did not know well before its instant, or whose owner was disturbed
 * since then: it started, the store failed or was slow, the clock was set, its slot moved. Only small bodies are
 * judged: large ones are read one after the other, a quiet customer's own among them.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { bodyBytesOf } from '#test/simulation/bodies.ts';
import { isWaitingStatus } from '#test/simulation/observer.ts';
import { gateKey } from './breaker.ts';
import { type Checker, Violation } from './checker.ts';
import { countedPermits } from './counted-permits.ts';
import { CustomerBursts } from './customer-bursts.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'fairness';
/** Others hold so many at least: where nobody is in the way, the checker of punctuality has the word. */
const FLOOD_PERMITS = 8;
/** Time from its instant until its claim is asked for. */
const LATE_MS_MAX = 80;
/** Time from its instant until its request is handed to the network. The claim is stored in between. */
const SENT_MS_MAX = 160;
/** Known so long before its instant, in calm times, a delivery is in memory then. */
const KNOWN_MS = 3_000;
const SMALL_BYTES_MAX = 16_384;
const CHECK_EVERY_MS = 50;

export function fairnessChecker(simulation: SimulationView): Checker {
  const { time, observer } = simulation;
  const { permits, claimRequested, counting } = countedPermits(simulation);
  const changedMs = new Map<DeliveryId, number>();
  /** When an endpoint of a customer last needed more than others leave for sure. */
  const busyMs = new Map<string, number>();
  /** When those were due that are claimed and not sent yet, by delivery. */
  const dueMsOf = new Map<DeliveryId, number>();
  const customerBursts = new CustomerBursts();
  let checkedMs = 0;

  const left = permits.leftBeside(simulation.secrets.size - 1);
  const isQuiet = (delivery: Delivery): boolean => permits.needOf(delivery) < left;
  const noteBusy = (delivery: Delivery): void => {
    if (!isQuiet(delivery)) busyMs.set(gateKey(delivery), time.elapsedMs);
  };

  /** Whether only others can be the reason that it was not dealt with at its instant. */
  const isOthersDoing = (delivery: Delivery, dueMs: number): boolean => {
    const { id, partition, scheduleId } = delivery;
    const undisturbedMs = simulation.undisturbedSinceMs(delivery);
    const knownMs = changedMs.get(id);
    if (undisturbedMs === null || knownMs === undefined) return false;
    if (Math.max(undisturbedMs, knownMs) > dueMs - KNOWN_MS) return false;
    const schedule = observer.schedules.get(scheduleId);
    if (schedule === undefined || (bodyBytesOf(schedule) ?? 0) > SMALL_BYTES_MAX) return false;
    if (!isQuiet(delivery) || (busyMs.get(gateKey(delivery)) ?? -1) >= dueMs) return false;
    return permits.held - permits.heldBy(partition) >= FLOOD_PERMITS;
  };

  const judge = (delivery: Delivery, dueMs: number, withinMs: number, what: string): void => {
    const lateMs = time.elapsedMs - dueMs;
    const ownMs = customerBursts.waitMsMax(delivery, dueMs);
    if (lateMs <= withinMs + ownMs || !isOthersDoing(delivery, dueMs)) return;
    throw new Violation(
      NAME,
      `${delivery.id} ${what} ${lateMs} ms after its instant, and its customer is quiet`,
    );
  };

  return {
    ...counting,
    name: NAME,
    delivery(change) {
      const { after } = change;
      counting.delivery(change);
      // A claim changes it too: its request is judged by when it was known before.
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
