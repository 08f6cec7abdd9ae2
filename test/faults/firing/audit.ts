/**
 * The promises, held against both ledgers when all is over: what the clients were told, what the receiver saw
 * and what the database says. Every attempt is compared on its own; so a lost or a doubled one has a name.
 */
import { integrityOf } from '#test/fuzz/audit.ts';
import { type AttemptRow, faultIf, firstOf, isOk, rowFaults, scheduleFaults } from '../promises.ts';
import type { Received } from './ledger.ts';
import { readStored, type Stored, type StoredDelivery } from './stored.ts';

export interface Evidence {
  readonly dataDir: string;
  /** By schedule id: what was answered with 201. */
  readonly acknowledged: ReadonlyMap<string, 'one_shot' | 'recurring'>;
  readonly received: readonly Received[];
  /** Errors after which the receiver may have answered 200 all the same; none unless said. */
  readonly excuses?: readonly string[];
  /** False: the clock was set while requests were under way. */
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
  /** Acknowledged, and not delivered nor ended. */
  readonly lost: number;
  readonly interrupted: number;
  /** Interrupted ones that had reached the receiver. */
  readonly interruptedSeen: number;
  readonly timeouts: number;
  /** Answered 200 again after a 200. */
  readonly doubles: number;
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
      doubles: [...receivedOf.values()].reduce((sum, each) => sum + doublesIn(each), 0),
    },
  };
}

function doublesIn(received: readonly Received[]): number {
  return Math.max(received.filter(({ answered }) => isOk(answered)).length - 1, 0);
}

function faultsOf(
  delivery: StoredDelivery,
  attempts: readonly AttemptRow[],
  received: readonly Received[],
  { excuses = [], isClockSteady = true }: Evidence,
): readonly string[] {
  const { max_attempts } = JSON.parse(delivery.retry_policy) as { readonly max_attempts: number };
  const excused = attempts.filter(({ error }) => excuses.includes(error ?? '')).length;
  return [
    ...rowFaults(delivery, attempts, received, max_attempts),
    ...faultIf(doublesIn(received) > excused, `200 answered ${doublesIn(received) + 1} times`),
    ...endFaults(delivery, attempts, max_attempts),
    ...attempts.flatMap((attempt) => {
      const seen = received.find(({ attemptNo }) => attemptNo === attempt.attempt_no);
      const at = `attempt ${attempt.attempt_no} (${attempt.outcome}, ${attempt.error})`;
      return [...attemptFaults(attempt, seen, excuses), ...timeFaults(attempt, seen, isClockSteady)].map(
        (fault) => `${at} ${fault}`,
      );
    }),
  ];
}

/** The end follows from the last attempt. */
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

/** The row says what the receiver saw. */
function attemptFaults(
  { outcome, status_code, error }: AttemptRow,
  seen: Received | undefined,
  excuses: readonly string[],
): readonly string[] {
  if (error !== null && excuses.includes(error)) return faultIf(outcome !== 'retryable', 'is not retryable');
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
