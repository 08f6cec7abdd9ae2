/**
 * Checks the promises at the end of a run. It compares the answers to clients, the requests at the receiver
 * and the rows in the database. Every attempt is compared, so a lost or repeated one is named.
 */

import { type AttemptRow, faultIf, firstOf, isOk, rowFaults, scheduleFaults } from '#test/faults/promises.ts';
import { integrityOf } from '#test/fuzz/audit.ts';
import type { Received } from './ledger.ts';
import { readStored, type Stored, type StoredDelivery } from './stored.ts';

export interface Evidence {
  readonly dataDir: string;
  /** Schedules that were answered with 201, by id. */
  readonly acknowledged: ReadonlyMap<string, 'one_shot' | 'recurring'>;
  readonly received: readonly Received[];
  /** Errors after which the receiver may still have answered 200. The default is none. */
  readonly toleratedErrors?: readonly string[];
  /** False when the clock was set while requests were in flight. */
  readonly isClockSteady?: boolean;
}

export interface Figures {
  readonly schedules: number;
  readonly deliveries: number;
  readonly succeeded: number;
  readonly deadLetter: number;
  readonly expired: number;
  readonly attempts: number;
  readonly received: number;
  /** Acknowledged deliveries that were neither delivered nor ended. */
  readonly lost: number;
  readonly interrupted: number;
  /** Interrupted attempts that had reached the receiver. */
  readonly interruptedSeen: number;
  readonly timeouts: number;
  /** Deliveries answered 200 again after a 200. */
  readonly duplicates: number;
}

export interface Audit {
  readonly figures: Figures;
  readonly stored: Stored;
  readonly faults: readonly string[];
}

const INTERRUPTED = 'interrupted';

export function audit(evidence: Evidence): Audit {
  const stored = readStored(evidence.dataDir);
  const { received } = evidence;
  const attemptsOf = Map.groupBy(stored.attempts, ({ delivery_id }) => delivery_id);
  const receivedOf = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  const known = new Set(stored.deliveries.map(({ id }) => id));
  const integrity = integrityOf(evidence.dataDir);

  const lost = scheduleFaults(new Set(evidence.acknowledged.keys()), stored.schedules, stored.deliveries);
  const faults = [
    ...(integrity === 'ok' ? [] : [`integrity_check: ${integrity}`]),
    ...lost,
    ...stored.deliveries.flatMap((delivery) => {
      const attempts = attemptsOf.get(delivery.id) ?? [];
      const seen = receivedOf.get(delivery.id) ?? [];
      return faultsOf(delivery, attempts, seen, evidence).map((fault) => `${delivery.id}: ${fault}`);
    }),
    ...received.flatMap(({ deliveryId }) => (known.has(deliveryId) ? [] : [`${deliveryId}: is not stored`])),
  ];
  const count = (status: string) => stored.deliveries.filter((each) => each.status === status).length;
  const errors = (error: string) => stored.attempts.filter((each) => each.error === error);
  const seen = new Set(received.map(({ deliveryId, attemptNo }) => `${deliveryId} ${attemptNo}`));
  return {
    stored,
    faults: firstOf(faults),
    figures: {
      schedules: stored.schedules.length,
      deliveries: stored.deliveries.length,
      succeeded: count('succeeded'),
      deadLetter: count('dead_letter'),
      expired: count('expired'),
      attempts: stored.attempts.length,
      received: received.length,
      lost: lost.length,
      interrupted: errors(INTERRUPTED).length,
      interruptedSeen: errors(INTERRUPTED).filter((each) =>
        seen.has(`${each.delivery_id} ${each.attempt_no}`),
      ).length,
      timeouts: errors('timeout').length,
      duplicates: [...receivedOf.values()].reduce((sum, each) => sum + countDuplicates(each), 0),
    },
  };
}

function countDuplicates(received: readonly Received[]): number {
  return Math.max(received.filter(({ answered }) => isOk(answered)).length - 1, 0);
}

function faultsOf(
  delivery: StoredDelivery,
  attempts: readonly AttemptRow[],
  received: readonly Received[],
  { toleratedErrors = [], isClockSteady = true }: Evidence,
): readonly string[] {
  const { max_attempts } = JSON.parse(delivery.retry_policy) as { readonly max_attempts: number };
  const tolerated = attempts.filter(({ error }) => toleratedErrors.includes(error ?? '')).length;
  return [
    ...rowFaults(delivery, attempts, received, max_attempts),
    ...faultIf(countDuplicates(received) > tolerated, `200 answered ${countDuplicates(received) + 1} times`),
    ...endFaults(delivery, attempts, max_attempts),
    ...attempts.flatMap((attempt) => {
      const seen = received.find(({ attemptNo }) => attemptNo === attempt.attempt_no);
      const at = `attempt ${attempt.attempt_no} (${attempt.outcome}, ${attempt.error})`;
      return [
        ...attemptFaults(attempt, seen, toleratedErrors),
        ...timeFaults(attempt, seen, isClockSteady),
      ].map((fault) => `${at} ${fault}`);
    }),
  ];
}

/** The final status follows from the last attempt. */
function endFaults(
  { status }: StoredDelivery,
  attempts: readonly AttemptRow[],
  attemptsMax: number,
): readonly string[] {
  const last = attempts.at(-1);
  const isSuccess = last?.outcome === 'success';
  return [
    ...faultIf(isSuccess !== (status === 'succeeded'), `is ${status} after ${last?.outcome}`),
    ...faultIf(
      attempts.slice(0, -1).some(({ outcome }) => outcome !== 'retryable'),
      'was tried after its end',
    ),
    ...faultIf(
      status === 'dead_letter' && last?.outcome === 'retryable' && attempts.length < attemptsMax,
      `was given up after ${attempts.length} of ${attemptsMax} attempts`,
    ),
  ];
}

/** The row agrees with what the receiver saw. */
function attemptFaults(
  { outcome, status_code, error }: AttemptRow,
  seen: Received | undefined,
  toleratedErrors: readonly string[],
): readonly string[] {
  if (error !== null && toleratedErrors.includes(error))
    return faultIf(outcome !== 'retryable', 'is not retryable');
  if (seen === undefined) return ['never reached the receiver'];
  return [
    ...faultIf(seen.answered !== status_code, `was answered ${seen.answered}`),
    ...faultIf(isOk(seen.answered) !== (outcome === 'success'), `was answered ${seen.answered}`),
  ];
}

function timeFaults(
  { due_at, fired_at, finished_at }: AttemptRow,
  seen: Received | undefined,
  isClockSteady: boolean,
): readonly string[] {
  return [
    ...faultIf(finished_at === null, 'is not closed'),
    ...faultIf(fired_at < due_at, `was fired ${due_at - fired_at} ms early`),
    ...faultIf(isClockSteady && (finished_at ?? fired_at) < fired_at, 'ended before it began'),
    ...faultIf(isClockSteady && seen !== undefined && seen.arrivedAt < due_at, 'arrived early'),
  ];
}
