/** Counts the situations of notifications of outcomes. */
import type { Delivery } from '#src/domain/delivery.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Checker, DeliveryChange } from './checkers/checker.ts';
import type { SimulationView } from './checkers/simulation-view.ts';
import { notifyCallOf } from './contents.ts';
import { isFirstClaimOfNotification, TERMINAL } from './observer.ts';

/** A notification lists this many attempts at most. */
const LISTED_MAX = 10;

export const NOTIFICATION_SITUATIONS = [
  'told of a success',
  'told of a dead letter',
  'told of an expiry',
  'told of an end without an attempt',
  'told of an interrupted attempt',
  'told when a resume expired it',
  'told of a replay',
  'told of more attempts than are listed',
  'told with the answer',
  'told as the profile wants',
  'told as the schedule wants, unlike the profile',
  'an outcome that is not told',
  'a cancel that is not told',
  'an opt-out from what the profile wants',
  'a PATCH reached whom the pending delivery notifies',
  'a PUT reached whom the pending delivery notifies',
  'a replay notifies as its original did, unlike its schedule',
  'a profile that notifies itself',
  'a notification sent',
  'a notification retried',
  'a notification that failed',
  'a notification canceled',
  'a notification replayed',
  'a notification deferred by its rate limit',
  'a notification deferred by the breaker',
  'a notification claimed with a newer version of its profile',
  'a list of what tells of a delivery',
  'a notify refused',
  'an archive of a notified profile refused',
  'a delivery kept for its notification',
  'a notification removed by retention',
] as const;
export type NotificationSituation = (typeof NOTIFICATION_SITUATIONS)[number];

const TOLD: Readonly<Partial<Record<Delivery['status'], NotificationSituation>>> = {
  succeeded: 'told of a success',
  dead_letter: 'told of a dead letter',
  expired: 'told of an expiry',
};

export function notificationCoverage(
  { observer, notifies, rows, retentionMs }: SimulationView,
  count: (what: NotificationSituation) => void,
): Checker {
  /** Deliveries that are told, and their notifications, which have not ended. */
  const telling = new Map<DeliveryId, DeliveryId>();

  const countMade = (told: Delivery): void => {
    const { id, status, attemptCount, replayOf } = told;
    const outcome = TOLD[status];
    if (outcome !== undefined) count(outcome);
    const attempts = observer.attempts.get(id) ?? [];
    if (replayOf !== null) count('told of a replay');
    if (attemptCount > LISTED_MAX) count('told of more attempts than are listed');
    if (attempts.at(-1)?.error === 'interrupted') count('told of an interrupted attempt');
    if (rows.response(told.partition, id, attemptCount) !== null) count('told with the answer');
    const schedule = observer.scheduleOf(told);
    if (schedule === null) return;
    const ofProfile = notifies.wantedByProfile(schedule);
    if (schedule.notify === null && ofProfile !== null) count('told as the profile wants');
    if (schedule.notify !== null && ofProfile !== null && ofProfile.endpointId !== told.notify?.endpointId) {
      count('told as the schedule wants, unlike the profile');
    }
  };

  const countEnded = ({ before }: DeliveryChange, after: Delivery): void => {
    const isTold = after.notify?.on.some((outcome) => outcome === after.status) === true;
    const hasEndedNow = before !== null && TERMINAL.has(after.status);
    if (!hasEndedNow) return;
    if (isTold && before.status !== 'claimed') count('told of an end without an attempt');
    if (isTold && before.status === 'paused') count('told when a resume expired it');
    if (after.notify !== null && !isTold) {
      count(after.status === 'canceled' ? 'a cancel that is not told' : 'an outcome that is not told');
    }
  };

  const countNotification = (before: Delivery, after: Delivery): void => {
    if (before.status === 'claimed' && after.status === 'succeeded') count('a notification sent');
    if (before.status === 'claimed' && after.status === 'retry_scheduled') count('a notification retried');
    if (after.status === 'dead_letter') count('a notification that failed');
    if (after.status === 'canceled') count('a notification canceled');
    if (isFirstClaimOfNotification(before, after)) {
      if (before.target.endpointVersion !== after.target.endpointVersion)
        count('a notification claimed with a newer version of its profile');
    }
  };

  /** Whether what the pending delivery notifies has just changed. */
  const isReached = (before: Delivery | null, after: Delivery): boolean =>
    before !== null &&
    observer.scheduleOf(after)?.pendingId === after.id &&
    JSON.stringify(before.notify) !== JSON.stringify(after.notify);

  return {
    name: 'coverage',
    profile(_, after) {
      if (after.notify?.endpointId === after.id) count('a profile that notifies itself');
    },
    delivery(change) {
      const { before, after } = change;
      if (after === null) {
        if (before !== null && before.notificationOf !== null) count('a notification removed by retention');
        return;
      }
      const { notificationOf } = after;
      if (notificationOf === null) {
        countEnded(change, after);
        const schedule = observer.scheduleOf(after);
        if (isReached(before, after)) {
          const isPatch = schedule !== null && notifies.isPatch(notifyCallOf(schedule));
          count(
            isPatch
              ? 'a PATCH reached whom the pending delivery notifies'
              : 'a PUT reached whom the pending delivery notifies',
          );
        }
        if (before !== null) return;
        const isOptOut = schedule?.notify?.on.length === 0 && notifies.wantedByProfile(schedule) !== null;
        if (isOptOut) count('an opt-out from what the profile wants');
        if (after.replayOf === null || schedule === null) return;
        const wanted = schedule.notify ?? notifies.wantedByProfile(schedule);
        if (after.notify !== null && wanted?.endpointId !== after.notify.endpointId)
          count('a replay notifies as its original did, unlike its schedule');
        return;
      }
      if (TERMINAL.has(after.status)) telling.delete(notificationOf);
      else telling.set(notificationOf, after.id);
      if (before !== null) countNotification(before, after);
      else if (after.replayOf !== null) count('a notification replayed');
      else {
        const told = observer.deliveries.get(notificationOf);
        if (told !== undefined) countMade(told);
      }
    },
    cleanerRound(trustedAt) {
      if (retentionMs === 0) return;
      for (const id of telling.keys()) {
        const finalizedAt = observer.deliveries.get(id)?.finalizedAt ?? trustedAt;
        if (finalizedAt < trustedAt - retentionMs) count('a delivery kept for its notification');
      }
    },
    deferRequested({ notificationOf, reserved, attemptCount }) {
      if (notificationOf === null) return;
      if (!reserved) count('a notification deferred by the breaker');
      else if (attemptCount === 0) count('a notification deferred by its rate limit');
    },
    callAnswered({ what, error, rendered }) {
      if (rendered?.of === 'list' && rendered.ids.length > 0) count('a list of what tells of a delivery');
      const code = error instanceof Refusal ? error.code : null;
      if (code === 'invalid_notify') count('a notify refused');
      if (code !== 'profile_in_use') return;
      const id = what.replace('archive ', '');
      const isNotified = [...observer.schedules.values(), ...observer.profiles.values()].some(
        ({ notify }) => notify?.endpointId?.endsWith(id.slice('ep_'.length)) === true,
      );
      if (isNotified) count('an archive of a notified profile refused');
    },
  };
}
