/** `GET deliveries/:id/details` shows a delivery with its attempts as a waterfall, and explains both in plain words. */
import { presentDelivery, presentSchedule } from '#src/api/present.ts';
import { requireFound } from '#src/commands/command.ts';
import type { AttemptInfo } from '#src/control/http/data-contract.ts';
import { byId } from '#src/control/http/fields.ts';
import { orNull } from '#src/control/http/present.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { stateOf } from '#src/domain/breaker.ts';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { RETRY_BOUNDS } from '#src/domain/retry.ts';
import type { Store } from '#src/ports/store.ts';
import { attemptText } from '#src/texts/attempt-text.ts';
import { deliveryText } from '#src/texts/delivery-text.ts';
import type { DataDependencies } from './dependencies.ts';

/** A rescheduled delivery keeps its attempts, and may then have more than its policy allows. */
const ATTEMPTS_SHOWN_MAX = 2 * RETRY_BOUNDS.maxAttempts.max;

export function detailsRoute({ commands: { store, clock } }: DataDependencies): ProjectRoute {
  return projectRoute('GET deliveries/:id/details', {
    needs: 'viewer',
    params: byId('dlv'),
    handle: async ({ params: { id }, partition, mode }) => {
      const delivery = requireFound(await store.findDelivery(partition, id));
      const [attempts, view, isDeferredByBreaker] = await Promise.all([
        store.listAttempts(partition, id, 0, ATTEMPTS_SHOWN_MAX),
        store.findSchedule(partition, delivery.scheduleId),
        waitsForBreaker(store, delivery, clock.now()),
      ]);
      const { url, method } = delivery.target;
      const scheduleState = view?.schedule.state ?? null;
      return json({
        delivery: presentDelivery(delivery, mode),
        schedule: view === null ? null : presentSchedule(view, mode),
        url,
        method,
        attempts: attempts.map((attempt) => presentAttempt(attempt, url)),
        words: deliveryText(delivery, { attempts, scheduleState, isDeferredByBreaker }),
      });
    },
  });
}

/**
 * Uses the gate that was saved last. A delivery that is due after the breaker's window does not wait for the breaker.
 */
async function waitsForBreaker(
  store: Pick<Store, 'loadDeliveries'>,
  delivery: Delivery,
  now: Instant,
): Promise<boolean> {
  const { dueAt, status } = delivery;
  if (!isWaiting(status) || dueAt === null) return false;
  const [work = null] = await store.loadDeliveries([delivery]);
  const breaker = work?.gate?.breaker ?? null;
  if (breaker === null || stateOf(breaker, now) !== 'open') return false;
  return dueAt <= (breaker.openUntil ?? now);
}

function presentAttempt(attempt: Attempt, url: string): AttemptInfo {
  const { timing } = attempt;
  return {
    attempt_no: attempt.attemptNo,
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    due_at: formatInstant(attempt.dueAt),
    fired_at: formatInstant(attempt.firedAt),
    finished_at: orNull(attempt.finishedAt),
    lateness_ms: attempt.firedAt - attempt.dueAt,
    claimed_ms: timing?.claimedMs ?? null,
    connected_ms: timing?.connectedMs ?? null,
    first_byte_ms: timing?.firstByteMs ?? null,
    end_ms: attempt.egressMs,
    was_connected_before: timing?.wasConnected ?? false,
    error: attempt.error,
    words: attemptText(attempt, url),
  };
}
