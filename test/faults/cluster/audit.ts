/**
 * Checks the promises of a cluster at the end of a run. It compares the answers to clients, the requests at
 * the receiver, the rows in the database and the violations that its triggers recorded.
 */
import type { Received } from '#test/faults/single-node/ledger.ts';
import { type Spread, spreadOf } from '#test/faults/single-node/numbers.ts';
import { type AttemptRow, ENDED, faultIf, firstOf, isOk, rowFaults, scheduleFaults } from '../promises.ts';
import type { Stored, StoredDelivery } from './stored.ts';

export interface Evidence {
  readonly stored: Stored;
  /** Schedules that were answered with 201, by id. */
  readonly acknowledged: ReadonlyMap<string, 'one_shot' | 'recurring'>;
  /** Ids of deliveries whose replay was answered with 201. */
  readonly replays: ReadonlySet<string>;
  readonly received: readonly Received[];
}

export interface Figures {
  readonly acknowledged: number;
  /** Acknowledged deliveries that were neither delivered nor ended. */
  readonly lost: number;
  /** Deliveries answered 200 again after a 200. */
  readonly duplicates: number;
  /** Attempts that were closed without an answer, because they were in flight when something failed. */
  readonly interrupted: number;
  /** Interrupted attempts that had reached the receiver. */
  readonly interruptedSeen: number;
  /** Attempts that ended before they were sent, because their payload could not be read. */
  readonly unsent: number;
  readonly deliveries: number;
  readonly succeeded: number;
  readonly deadLetter: number;
  readonly attempts: number;
  readonly received: number;
  /** The time from the instant of a delivery until its first attempt arrived. Replays are left out. */
  readonly lateness: Spread;
}

export interface Audit {
  readonly figures: Figures;
  readonly faults: readonly string[];
}

const INTERRUPTED = 'interrupted';
const UNREAD = 'internal error';

export function audit(evidence: Evidence): Audit {
  const { stored, received } = evidence;
  const attemptsOf = Map.groupBy(stored.attempts, ({ delivery_id }) => delivery_id);
  const receivedOf = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  const known = new Set(stored.deliveries.map(({ id }) => id));
  const lost = faultsOfSchedules(evidence);
  const count = (status: string) => stored.deliveries.filter((each) => each.status === status).length;
  const interrupted = stored.attempts.filter(({ error }) => error === INTERRUPTED);
  const seen = new Set(received.map(({ deliveryId, attemptNo }) => `${deliveryId} ${attemptNo}`));
  return {
    faults: firstOf([
      ...stored.violations,
      ...lost,
      ...stored.deliveries.flatMap((delivery) =>
        faultsOf(delivery, attemptsOf.get(delivery.id) ?? [], receivedOf.get(delivery.id) ?? []).map(
          (fault) => `${delivery.id}: ${fault}`,
        ),
      ),
      ...received.flatMap(({ deliveryId }) =>
        known.has(deliveryId) ? [] : [`${deliveryId}: is not stored`],
      ),
    ]),
    figures: {
      acknowledged: evidence.acknowledged.size + evidence.replays.size,
      lost: lost.length,
      duplicates: duplicateIds(received).length,
      interrupted: interrupted.length,
      interruptedSeen: interrupted.filter((each) => seen.has(`${each.delivery_id} ${each.attempt_no}`))
        .length,
      unsent: stored.attempts.filter(({ error }) => error === UNREAD).length,
      deliveries: stored.deliveries.length,
      succeeded: count('succeeded'),
      deadLetter: count('dead_letter'),
      attempts: stored.attempts.length,
      received: received.length,
      lateness: spreadOf(latenesses(evidence)),
    },
  };
}

/** Ids of deliveries that were answered 200 more than once, once for each extra answer. */
export function duplicateIds(received: readonly Received[]): readonly string[] {
  const seen = new Set<string>();
  return received
    .filter(({ answered }) => isOk(answered))
    .flatMap(({ deliveryId }) => {
      if (seen.has(deliveryId)) return [deliveryId];
      seen.add(deliveryId);
      return [];
    });
}

function latenesses({ stored, received }: Evidence): readonly number[] {
  const own = stored.deliveries.filter(({ replay_of }) => replay_of === null);
  const dueAt = new Map(own.map(({ id, scheduled_for }) => [id, scheduled_for]));
  const arrived = new Map<string, number>();
  for (const { deliveryId, arrivedAt } of received) {
    if (!arrived.has(deliveryId)) arrived.set(deliveryId, arrivedAt);
  }
  return [...dueAt].flatMap(([id, due]) => {
    const at = arrived.get(id);
    return at === undefined ? [] : [at - due];
  });
}

/** Every acknowledged schedule exists, and no other. */
function faultsOfSchedules({ acknowledged, replays, stored }: Evidence): readonly string[] {
  const own = stored.deliveries.filter(({ replay_of }) => replay_of === null);
  const replayed = stored.deliveries.filter(({ replay_of }) => replay_of !== null);
  const known = new Set(replayed.map(({ id }) => id));
  return [
    ...scheduleFaults(new Set(acknowledged.keys()), stored.schedules, own),
    ...[...replays].filter((id) => !known.has(id)).map((id) => `${id} was acknowledged and is lost`),
    ...replayed.flatMap(({ id, status }) => {
      if (!replays.has(id)) return [`replay ${id} is stored, but was not acknowledged`];
      return ENDED.has(status) ? [] : [`replay ${id} is ${status}`];
    }),
  ];
}

function faultsOf(
  delivery: StoredDelivery,
  attempts: readonly AttemptRow[],
  received: readonly Received[],
): readonly string[] {
  const { max_attempts } = JSON.parse(delivery.retry_policy) as { readonly max_attempts: number };
  const last = attempts.at(-1);
  const tolerated = attempts.filter(({ error }) => error === INTERRUPTED).length;
  const duplicates = duplicateIds(received).length;
  return [
    ...rowFaults(delivery, attempts, received, max_attempts),
    ...faultIf(
      duplicates > tolerated,
      `200 answered ${duplicates + 1} times, ${tolerated} attempts interrupted`,
    ),
    ...faultIf(
      ENDED.has(delivery.status) && (last?.outcome === 'success') !== (delivery.status === 'succeeded'),
      `is ${delivery.status} after ${last?.outcome}`,
    ),
    ...faultIf(
      attempts.slice(0, -1).some(({ outcome }) => outcome !== 'retryable'),
      'was tried after its end',
    ),
    ...attempts.flatMap((attempt) =>
      attemptFaults(
        attempt,
        received.find(({ attemptNo }) => attemptNo === attempt.attempt_no),
      ).map((fault) => `attempt ${attempt.attempt_no} (${attempt.outcome}, ${attempt.error}) ${fault}`),
    ),
  ];
}

/** The row agrees with what the receiver saw. */
function attemptFaults(attempt: AttemptRow, seen: Received | undefined): readonly string[] {
  const { outcome, status_code, error, due_at, fired_at, finished_at } = attempt;
  return [
    ...faultIf(finished_at === null, 'is not closed'),
    ...faultIf(fired_at < due_at, `was fired ${due_at - fired_at} ms early`),
    ...(error === INTERRUPTED || (error === UNREAD && seen === undefined)
      ? faultIf(outcome !== 'retryable', 'is not retryable')
      : faultIf(seen?.answered !== status_code, `was answered ${seen?.answered}, not ${status_code}`)),
  ];
}
