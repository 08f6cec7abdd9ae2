/**
 * A notification tells what is stored of the delivery that ended: how it ended, its last attempts, and what is kept of
 * its last answer. The delivery has ended, so none of that changes any more. Only the name and the labels of the
 * schedule may change, so they may be those of any moment.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { answerTextOf, type SentRequest } from '../network.ts';
import { TERMINAL } from '../observer.ts';
import { Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'notifications';
/** The attempts that a notification lists. */
const ATTEMPTS_MAX = 10;

type Json = Readonly<Record<string, unknown>>;

export function notificationRequestsChecker({ observer, rows }: SimulationView) {
  /** The names and labels that each schedule has had, as texts. */
  const shownOf = new Map<ScheduleId, Set<string>>();

  const checkBody = (sent: SentRequest, notification: Delivery, told: Delivery): void => {
    const violation = (what: string) =>
      new Violation(NAME, `${sent.deliveryId} attempt ${sent.attemptNo} ${what}`);
    const body = jsonOf(sent);
    if (body === null) throw violation('carried no JSON object');
    const expect = (what: string, found: unknown, expected: unknown) => {
      if (isDeepStrictEqual(found, expected)) return;
      throw violation(`has the ${what} ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
    };
    const { type, id, created_at: createdAt, data, ...rest } = body;
    expect('type', type, `delivery.${told.status}`);
    expect('id', id, notification.id);
    expect('time', createdAt, iso(notification.createdAt));
    expect('rest', rest, {});
    const { delivery, schedule, attempts, response } = data as Readonly<Record<string, Json | null>>;
    const expected = shownDelivery(told);
    expect('delivery', part(delivery, Object.keys(expected)), expected);
    expect('schedule', schedule?.id, told.scheduleId);
    const shown = shownSchedule(schedule?.name, schedule?.metadata);
    if (told.scheduleId === null || shownOf.get(told.scheduleId)?.has(shown) !== true) {
      throw violation(`says of its schedule ${shown}`);
    }
    const all = observer.attempts.get(told.id) ?? [];
    expect(
      'attempts',
      (attempts as unknown as readonly Json[]).map(shownPart),
      all.slice(-ATTEMPTS_MAX).map(shownAttempt),
    );
    expect('response', response, shownResponse(told));
  };

  /** The last answer, if it was kept. The network knows what it said. */
  const shownResponse = ({ partition, id, attemptCount }: Delivery): Json | null => {
    const kept = rows.response(partition, id, attemptCount);
    if (kept === null) return null;
    return {
      status_code: kept.statusCode,
      excerpt: answerTextOf({ deliveryId: id, attemptNo: attemptCount }),
      encoding: 'utf-8',
      truncated: false,
    };
  };

  return {
    schedule(after: Schedule | null): void {
      if (after === null) return;
      const shown = shownSchedule(after.name, Object.fromEntries(after.metadata));
      shownOf.set(after.id, (shownOf.get(after.id) ?? new Set()).add(shown));
    },
    requestSent(sent: SentRequest): void {
      const notification = observer.deliveries.get(sent.deliveryId);
      const { notificationOf = null } = notification ?? {};
      if (notification === undefined || notificationOf === null) return;
      const told = observer.deliveries.get(notificationOf);
      if (told === undefined || !TERMINAL.has(told.status)) {
        throw new Violation(NAME, `${notification.id} was sent, but ${notificationOf} is ${told?.status}`);
      }
      checkBody(sent, notification, told);
    },
  };
}

function jsonOf({ body }: SentRequest): Json | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body ?? []).toString());
    return typeof parsed === 'object' && parsed !== null ? (parsed as Json) : null;
  } catch {
    return null;
  }
}

function part(object: Json | null | undefined, fields: readonly string[]): Json {
  return Object.fromEntries(fields.map((field) => [field, object?.[field]]));
}

function shownDelivery(told: Delivery): Json {
  const { id, scheduleId, status, attemptCount, lastStatusCode, error, target, notify } = told;
  return {
    id,
    object: 'delivery',
    schedule_id: scheduleId,
    status,
    url: target.url,
    method: target.method,
    scheduled_for: iso(told.scheduledFor),
    next_fire_at: null,
    attempt_count: attemptCount,
    last_status_code: lastStatusCode,
    error,
    idempotency_key: told.idempotencyKey,
    replay_of: told.replayOf,
    notification_of: null,
    notify: notify && { endpoint_id: notify.endpointId, on: notify.on },
    endpoint_id: target.endpointId,
    endpoint_version: target.endpointVersion,
    finalized_at: iso(told.finalizedAt),
  };
}

function shownSchedule(name: unknown, metadata: unknown): string {
  return JSON.stringify([name, metadata]);
}

function shownAttempt(attempt: Attempt): Json {
  return {
    id: attempt.id,
    delivery_id: attempt.deliveryId,
    attempt_no: attempt.attemptNo,
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    error: attempt.error,
    finished_at: iso(attempt.finishedAt),
  };
}

const ATTEMPT_FIELDS = ['id', 'delivery_id', 'attempt_no', 'outcome', 'status_code', 'error', 'finished_at'];

function shownPart(attempt: Json): Json {
  return part(attempt, ATTEMPT_FIELDS);
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
