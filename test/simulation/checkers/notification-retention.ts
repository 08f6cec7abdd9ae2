/**
 * Retention keeps a delivery while a notification, or the replay of one, has yet to tell of it. Afterwards it removes
 * both within the next rounds of the cleaner.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { TERMINAL } from '../observer.ts';
import { Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'notifications';
/** A round may find the removals of the round before still under way. */
const ROUNDS_MAX = 3;

export function notificationRetentionChecker(simulation: SimulationView) {
  const { observer, time, retentionMs } = simulation;
  /** Notifications that have not ended, by the delivery of which they tell. */
  const telling = new Map<DeliveryId, Set<DeliveryId>>();
  /** Deliveries that are told and their notifications, once they have ended, with the undisturbed rounds since then. */
  const removable = new Map<DeliveryId, number>();
  let judgedMs = -1;

  const note = ({ id, status, notificationOf }: Delivery): void => {
    if (notificationOf === null) return;
    const open = telling.get(notificationOf) ?? new Set();
    if (TERMINAL.has(status)) open.delete(id);
    else open.add(id);
    telling.set(notificationOf, open);
  };

  const isTold = (id: DeliveryId): boolean => (telling.get(id)?.size ?? 0) === 0;

  const isOld = (id: DeliveryId, trustedAt: Instant): boolean => {
    const finalizedAt = observer.deliveries.get(id)?.finalizedAt ?? null;
    return finalizedAt !== null && finalizedAt < trustedAt - retentionMs;
  };

  const forgetRounds = (): void => {
    for (const id of removable.keys()) removable.set(id, 0);
  };

  return {
    delivery(before: Delivery | null, after: Delivery | null): void {
      if (after !== null) {
        note(after);
        const isConcerned = after.notify !== null || after.notificationOf !== null;
        if (isConcerned && TERMINAL.has(after.status)) removable.set(after.id, 0);
        return;
      }
      if (before === null) return;
      removable.delete(before.id);
      const [open] = telling.get(before.id) ?? [];
      if (open === undefined) return;
      throw new Violation(NAME, `${before.id} was removed, but ${open} has yet to tell of it`);
    },
    cleanerRound(trustedAt: Instant): void {
      const { disturbedMs, slowUntilMs } = simulation;
      if (Math.max(disturbedMs, slowUntilMs) >= judgedMs) forgetRounds();
      judgedMs = time.elapsedMs;
      if (retentionMs === 0) return;
      for (const [id, rounds] of removable) {
        const isFree = isTold(id) && isOld(id, trustedAt);
        if (isFree && rounds >= ROUNDS_MAX) throw new Violation(NAME, `${id} is never removed`);
        removable.set(id, isFree ? rounds + 1 : 0);
      }
    },
    instanceEnded: forgetRounds,
  };
}
