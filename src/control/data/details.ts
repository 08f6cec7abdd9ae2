/** `GET deliveries/:id/details` shows a delivery with its attempts as a waterfall, and explains both in plain words. */
import { presentDelivery, presentSchedule } from '#src/api/present.ts';
import { requireFound } from '#src/commands/command.ts';
import { isCancelable } from '#src/commands/deliveries.ts';
import type { AttemptInfo } from '#src/control/http/data-contract.ts';
import { byId } from '#src/control/http/fields.ts';
import { orNull } from '#src/control/http/present.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import type { Attempt } from '#src/domain/delivery.ts';
import { formatInstant } from '#src/domain/instant.ts';
import { RETRY_BOUNDS } from '#src/domain/retry.ts';
import { waitOf } from '#src/domain/wait.ts';
import { attemptText } from '#src/texts/attempt-text.ts';
import { deliveryText } from '#src/texts/delivery-text.ts';
import type { DataDependencies } from './dependencies.ts';
import { presentWait } from './present.ts';
import { RequestShapes } from './request-shape.ts';

/** A rescheduled delivery keeps its attempts, and may then have more than its policy allows. */
const ATTEMPTS_SHOWN_MAX = 2 * RETRY_BOUNDS.maxAttempts.max;

export function detailsRoute({ commands, insight }: DataDependencies): ProjectRoute {
  const { store, clock } = commands;
  const shapes = new RequestShapes(commands);
  return projectRoute('GET deliveries/:id/details', {
    needs: 'viewer',
    params: byId('dlv'),
    handle: async ({ params: { id }, partition, mode }) => {
      const delivery = requireFound(await store.findDelivery(partition, id));
      const [attempts, view, [loaded], shape] = await Promise.all([
        store.listAttempts(partition, id, 0, ATTEMPTS_SHOWN_MAX),
        delivery.scheduleId === null ? null : store.findSchedule(partition, delivery.scheduleId),
        store.loadDeliveries([delivery]),
        shapes.get(delivery),
      ]);
      // It is read after the attempts, so that no attempt is shown without an answer that was kept with it.
      const kept = attempts.some(mayBeKept)
        ? await insight.listKeptResponses(partition, id, ATTEMPTS_SHOWN_MAX)
        : [];
      const wait = waitOf({ ...(loaded ?? NO_CIRCUMSTANCES), delivery }, clock.now());
      const scheduleState = view?.schedule.state ?? null;
      return json({
        delivery: presentDelivery(delivery, mode),
        schedule: view === null ? null : presentSchedule(view, mode),
        header_names: shape && [...shape.headerNames],
        has_body: shape?.hasBody ?? null,
        attempts: attempts.map((attempt) =>
          presentAttempt(attempt, delivery.target.url, kept.includes(attempt.attemptNo)),
        ),
        waiting: presentWait(wait),
        endpoint_name: loaded?.endpointProfile?.name ?? null,
        can_cancel: isCancelable(delivery, view?.schedule ?? null),
        words: deliveryText(delivery, { attempts, scheduleState, wait }),
      });
    },
  });
}

/** Of a delivery that was removed meanwhile. */
const NO_CIRCUMSTANCES = { schedule: null, gate: null, sweep: null };

/** Answers with 2xx are never kept. */
function mayBeKept({ statusCode, outcome }: Attempt): boolean {
  return statusCode !== null && outcome !== 'success';
}

function presentAttempt(attempt: Attempt, url: string, isResponseKept: boolean): AttemptInfo {
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
    response_kept: isResponseKept,
    words: attemptText(attempt, url),
  };
}
