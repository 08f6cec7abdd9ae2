/**
 * Each delivery that ends as its customer wants to be told has exactly one notification, made in the transaction that
 * ends it. Nothing else has one: no canceled delivery, no other outcome, no notification. What a delivery notifies is
 * what the notify model says. A notification belongs to no schedule, waits for no deadline, and goes to the profile
 * that was named: first in a version that was the present one since the delivery was read for its first claim. Only its
 * own cancel stops it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { isFirstClaimOfNotification, isWaitingStatus, TERMINAL } from '../observer.ts';
import { type Checker, type InstanceFacts, Violation } from './checker.ts';
import { notificationListsChecker } from './notification-lists.ts';
import { notificationRequestsChecker } from './notification-requests.ts';
import { notificationRetentionChecker } from './notification-retention.ts';
import { notifiedProfilesChecker } from './notified-profiles.ts';
import { type ProfileVersions, profileVersions } from './profile-versions.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'notifications';
/** A notification is due at once, and everything due is claimed within this time. */
const CLAIMED_WITHIN_MS = 5_000;

export function notificationsChecker(simulation: SimulationView): Checker {
  const { observer, notifies, time } = simulation;
  const requests = notificationRequestsChecker(simulation);
  const lists = notificationListsChecker(simulation);
  const retention = notificationRetentionChecker(simulation);
  const profiles = notifiedProfilesChecker(simulation);
  const versions: ProfileVersions = profileVersions(time);
  /** When the read began by which a node decides about a delivery. */
  const readSinceMs = new Map<string, number>();
  /** The versions that were the present one when a first claim was decided, by the id of its attempt. */
  const decided = new Map<string, readonly number[]>();
  const canceled = new Set<DeliveryId>();
  /** What the verb that is being observed has ended and made. */
  let ended: Delivery[] = [];
  let made: Delivery[] = [];

  const checkNotify = (delivery: Delivery): void => {
    const possible = notifies.possibleFor(delivery.id);
    if (possible.some((told) => isDeepStrictEqual(told, delivery.notify))) return;
    const [expected] = possible;
    throw new Violation(
      NAME,
      `${delivery.id} would tell ${JSON.stringify(delivery.notify)}, not ${JSON.stringify(expected)}`,
    );
  };

  const checkMade = (notification: Delivery): void => {
    const violation = (what: string) => new Violation(NAME, `${notification.id} ${what}`);
    const { target, idempotencyKey, id, scheduledFor, dueAt } = notification;
    if (idempotencyKey !== id) throw violation(`has the key ${idempotencyKey}`);
    if (dueAt !== scheduledFor) throw violation('is not due at once');
    checkVersion(notification);
    const told = notifies.of(notification.notificationOf as DeliveryId);
    if (target.endpointId === told?.endpointId) return;
    throw violation(`goes to ${target.endpointId}, not to ${told?.endpointId}`);
  };

  /** URL, method and policy are those of one version of its profile. */
  const checkVersion = (notification: Delivery): void => {
    const { target, retryPolicy } = notification;
    const version = observer.versionOf(notification);
    const isWhole =
      version?.url === target.url &&
      version.method === target.method &&
      isDeepStrictEqual(version.retryPolicy, retryPolicy);
    if (isWhole) return;
    throw new Violation(NAME, `${notification.id} is not made of version ${target.endpointVersion}`);
  };

  const checkReplay = (replay: Delivery): void => {
    const original = observer.deliveries.get(replay.replayOf as DeliveryId);
    if (original === undefined) throw new Violation(NAME, `${replay.id} is a replay of nothing`);
    checkSame(original, replay, [
      'notificationOf',
      'target',
      'retryPolicy',
      'idempotencyKey',
      'payloadBytes',
    ]);
    if (observer.deliveries.has(replay.notificationOf as DeliveryId)) return;
    throw new Violation(NAME, `${replay.id} would tell of ${replay.notificationOf}, which is gone`);
  };

  const checkChange = (before: Delivery, after: Delivery): void => {
    const violation = (what: string) => new Violation(NAME, `${after.id} ${what}`);
    if (after.status === 'paused') throw violation('was paused');
    if (after.status === 'canceled' && !canceled.has(after.id)) throw violation('was canceled by nobody');
    if (after.status === 'canceled' && before.status !== 'retry_scheduled') {
      throw violation(`was canceled while ${before.status}`);
    }
    if (!isFirstClaimOfNotification(before, after)) {
      checkSame(before, after, ['target', 'retryPolicy', 'scheduledFor']);
      return;
    }
    checkSame(before, after, ['scheduledFor']);
    checkVersion(after);
    const { endpointId, endpointVersion } = after.target;
    if (endpointId !== before.target.endpointId) throw violation(`was turned to ${endpointId}`);
    const allowed = decided.get(after.claim?.attemptId ?? '') ?? [];
    if (endpointVersion !== null && allowed.includes(endpointVersion)) return;
    throw violation(`was claimed with version ${endpointVersion}, not ${allowed.join(' or ')}`);
  };

  const compare = (): void => {
    for (const delivery of ended) {
      const told = toldOf(delivery);
      const own = made.filter(({ notificationOf }) => notificationOf === delivery.id);
      const expected = told ? 1 : 0;
      if (own.length === expected) continue;
      throw new Violation(
        NAME,
        `${delivery.id} ended ${delivery.status} with ${own.length} notifications, not ${expected}`,
      );
    }
    for (const { id, notificationOf } of made) {
      if (ended.some((delivery) => delivery.id === notificationOf)) continue;
      throw new Violation(NAME, `${id} tells of ${notificationOf}, which did not end now`);
    }
  };

  /** Whether the end of this delivery has to be told. */
  const toldOf = ({ id, status, notificationOf }: Delivery): boolean =>
    notificationOf === null && (notifies.of(id)?.on.some((outcome) => outcome === status) ?? false);

  /** All that is stored, counted once more. */
  const checkAll = (): void => {
    const counts = new Map<DeliveryId, number>();
    for (const { notificationOf, replayOf } of observer.deliveries.values()) {
      if (notificationOf === null || replayOf !== null) continue;
      counts.set(notificationOf, (counts.get(notificationOf) ?? 0) + 1);
    }
    for (const delivery of observer.deliveries.values()) {
      const expected = toldOf(delivery) ? 1 : 0;
      const count = counts.get(delivery.id) ?? 0;
      // A notification may be removed before the delivery that it tells of.
      const isRemoved = simulation.retentionMs > 0 && count < expected;
      if (count === expected || isRemoved) continue;
      throw new Violation(NAME, `${delivery.id} (${delivery.status}) has ${count} notifications at the end`);
    }
    for (const id of observer.open) {
      const delivery = observer.deliveries.get(id);
      if (delivery === undefined || delivery.notificationOf === null || delivery.attemptCount > 0) continue;
      const isLate = (delivery.dueAt ?? 0) < time.now() - CLAIMED_WITHIN_MS;
      if (isLate || !isWaitingStatus(delivery.status)) {
        throw new Violation(NAME, `${id} was never sent, and is ${delivery.status}`);
      }
    }
  };

  return {
    name: NAME,
    callSent({ cancels }) {
      if (cancels !== undefined) canceled.add(cancels);
    },
    callAnswered(call) {
      profiles.callAnswered(call);
      lists.callAnswered(call);
    },
    schedule(before, after) {
      profiles.schedule(before, after);
      requests.schedule(after);
    },
    profile(before, after) {
      profiles.profile(before, after);
      versions.changed(before, after);
    },
    loaded(loaded, sinceMs, by) {
      for (const { delivery } of loaded) readSinceMs.set(readingOf(delivery, by), sinceMs);
    },
    claimRequested({ delivery, attempt }, by) {
      const { notificationOf, replayOf, target } = delivery;
      if (notificationOf === null || replayOf !== null || attempt.attemptNo > 1) return;
      const sinceMs = readSinceMs.get(readingOf(delivery, by)) ?? 0;
      decided.set(attempt.id, versions.presentSince(target.endpointId, sinceMs));
    },
    delivery({ before, after }) {
      retention.delivery(before, after);
      if (after === null) return;
      if (before !== null && !TERMINAL.has(before.status) && TERMINAL.has(after.status)) ended.push(after);
      if (after.notificationOf === null) {
        checkNotify(after);
        return;
      }
      checkOrdinary(after);
      if (before === null) lists.made(after);
      if (before !== null) checkChange(before, after);
      else if (after.replayOf !== null) checkReplay(after);
      else {
        made.push(after);
        checkMade(after);
      }
    },
    verbEnded() {
      compare();
      ended = [];
      made = [];
      profiles.verbEnded();
    },
    requestSent: (sent) => requests.requestSent(sent),
    cleanerRound: (trustedAt) => retention.cleanerRound(trustedAt),
    instanceEnded: () => retention.instanceEnded(),
    atEnd: checkAll,
  };
}

/** What no notification has. */
function checkOrdinary(notification: Delivery): void {
  const { id, scheduleId, occurrence, movedFrom, notify, ttl, deadline } = notification;
  for (const [field, value] of Object.entries({ scheduleId, occurrence, movedFrom, notify, ttl, deadline })) {
    if (value !== null) throw new Violation(NAME, `${id} has ${field} ${JSON.stringify(value)}`);
  }
}

function checkSame(before: Delivery, after: Delivery, fields: readonly (keyof Delivery)[]): void {
  for (const field of fields) {
    if (isDeepStrictEqual(before[field], after[field])) continue;
    throw new Violation(NAME, `${after.id} had its ${field} changed`);
  }
}

function readingOf({ id }: Delivery, { node }: InstanceFacts): string {
  return `${node}/${id}`;
}
