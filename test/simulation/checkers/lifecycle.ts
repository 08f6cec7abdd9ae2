/** A delivery follows its lifecycle and never goes back. A delivery that has ended does not change. */
import { isDeepStrictEqual } from 'node:util';
import type { Delivery, DeliveryStatus } from '#src/domain/delivery.ts';
import { isFirstClaimOfNotification, TERMINAL } from '#test/simulation/observer.ts';
import { type Checker, type DeliveryChange, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'lifecycle';

/** The allowed transitions, written by hand a second time. */
const MAY_FOLLOW: Readonly<Record<DeliveryStatus, readonly DeliveryStatus[]>> = {
  scheduled: ['scheduled', 'claimed', 'expired', 'dead_letter', 'paused', 'canceled'],
  claimed: ['succeeded', 'retry_scheduled', 'dead_letter', 'expired', 'canceled', 'paused'],
  retry_scheduled: ['retry_scheduled', 'claimed', 'expired', 'dead_letter', 'paused', 'canceled'],
  paused: ['paused', 'scheduled', 'retry_scheduled', 'expired', 'canceled'],
  succeeded: [],
  dead_letter: [],
  expired: [],
  canceled: [],
};

export function lifecycleChecker(simulation: SimulationView): Checker {
  let latest = 0;
  return {
    name: NAME,
    step() {
      latest = Math.max(latest, simulation.time.now());
    },
    delivery(change) {
      if (change.after === null)
        checkRemoval(change, latest - simulation.retentionMs, simulation.retentionMs);
      else checkTransition(change.before, change.after);
    },
    deferRequested(delivery) {
      const before = simulation.observer.deliveries.get(delivery.id);
      // The store refuses a delivery that was changed since it was read.
      if (before?.revision !== delivery.revision - 1) return;
      checkUnchanged(before, delivery, isUnclaimedNotification(before) ? OF_VERSION : NONE);
    },
  };
}

function checkRemoval({ before }: DeliveryChange, endedBefore: number, retentionMs: number): void {
  if (before === null) return;
  const isOld = before.finalizedAt !== null && before.finalizedAt <= endedBefore;
  if (retentionMs === 0 || !TERMINAL.has(before.status) || !isOld) {
    throw new Violation(NAME, `${before.id} was removed while it was ${before.status}`);
  }
}

function checkTransition(before: Delivery | null, after: Delivery): void {
  const { id, status } = after;
  if (before === null) {
    if (status !== 'scheduled') throw new Violation(NAME, `${id} was created ${status}`);
    if (after.attemptCount !== 0) throw new Violation(NAME, `${id} was created with attempts`);
  } else {
    if (!MAY_FOLLOW[before.status].includes(status)) {
      throw new Violation(NAME, `${id} went from ${before.status} to ${status}`);
    }
    if (after.revision !== before.revision + 1) {
      throw new Violation(NAME, `${id} went from revision ${before.revision} to ${after.revision}`);
    }
    if (before.status === 'claimed' || status === 'claimed') {
      checkUnchanged(before, after, isFirstClaimOfNotification(before, after) ? OF_VERSION : NONE);
    }
    const attempts = after.attemptCount - before.attemptCount;
    if (attempts !== (status === 'claimed' ? 1 : 0)) {
      throw new Violation(NAME, `${id} became ${status} and counts ${attempts} more attempts`);
    }
  }
  const isTerminal = TERMINAL.has(status);
  if (isTerminal !== (after.finalizedAt !== null)) {
    throw new Violation(NAME, `${id} is ${status}, finalized at ${after.finalizedAt}`);
  }
  if ((status === 'claimed') !== (after.claim !== null)) {
    throw new Violation(NAME, `${id} is ${status}, its claim ${JSON.stringify(after.claim)}`);
  }
  if ((isTerminal || status === 'claimed') !== (after.dueAt === null)) {
    throw new Violation(NAME, `${id} is ${status}, due at ${after.dueAt}`);
  }
}

/** Only the customer decides these fields. Sending changes none of them. */
const CUSTOMER_FIELDS = [
  'scheduleId',
  'occurrence',
  'scheduledFor',
  'ttl',
  'deadline',
  'retryPolicy',
  'target',
  'notify',
  'notificationOf',
] as const;

/** Each decision about it is made with the present version of its profile. Only the claim stores that. */
function isUnclaimedNotification({ notificationOf, replayOf, attemptCount }: Delivery): boolean {
  return notificationOf !== null && replayOf === null && attemptCount === 0;
}

/** The fields in which the first claim of a notification takes the present version of its profile. */
const OF_VERSION: ReadonlySet<string> = new Set(['target', 'retryPolicy']);
const NONE: ReadonlySet<string> = new Set();

function checkUnchanged(before: Delivery, after: Delivery, except = NONE): void {
  for (const field of CUSTOMER_FIELDS) {
    if (except.has(field) || isDeepStrictEqual(before[field], after[field])) continue;
    throw new Violation(NAME, `${after.id} had its ${field} changed by being sent`);
  }
}
