/**
 * The promises, held against both ledgers when all is over: what the clients were told, what the receiver saw
 * and what the database says. Every attempt is compared on its own; so a lost or a doubled one has a name.
 */
import { integrityOf } from '#test/fuzz/audit.ts';
import type { Received } from './ledger.ts';
import { readStored, type Stored, type StoredAttempt, type StoredDelivery } from './stored.ts';

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

const FAULTS_SHOWN_MAX = 20;
const ENDED = new Set(['succeeded', 'dead_letter', 'expired', 'canceled']);
const INTERRUPTED = 'interrupted';

/** Enough to go by. */
export function firstOf(faults: readonly string[]): readonly string[] {
  if (faults.length <= FAULTS_SHOWN_MAX) return faults;
  return [...faults.slice(0, FAULTS_SHOWN_MAX), `… ${faults.length} in all`];
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(items, keyOf);
}

function isOk(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function audit(evidence: Evidence): Audit {
  const stored = readStored(evidence.dataDir);
  const { received } = evidence;
  const attemptsOf = groupBy(stored.attempts, ({ delivery_id }) => delivery_id);
  const receivedOf = groupBy(received, ({ deliveryId }) => deliveryId);
  const known = new Set(stored.deliveries.map(({ id }) => id));
  const integrity = integrityOf(evidence.dataDir);

  const scheduleFaults = faultsOfSchedules(evidence, stored);
  const faults = [
    ...(integrity === 'ok' ? [] : [`integrity_check: ${integrity}`]),
    ...scheduleFaults,
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
      lost: scheduleFaults.length,
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

/** Nothing that was acknowledged is missing, and nothing is there that was not. */
function faultsOfSchedules({ acknowledged }: Evidence, stored: Stored): readonly string[] {
  const deliveriesOf = groupBy(stored.deliveries, ({ schedule_id }) => schedule_id);
  const known = new Set(stored.schedules.map(({ id }) => id));
  return [
    ...[...acknowledged.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `${id} was acknowledged and is lost`),
    ...stored.schedules.flatMap(({ id, kind, state }) => {
      if (!acknowledged.has(id)) return [`${id} is stored, and nobody was told`];
      const deliveries = deliveriesOf.get(id) ?? [];
      const open = deliveries.filter(({ status }) => !ENDED.has(status)).map(({ status }) => status);
      const keys = new Set(deliveries.map(({ idempotency_key }) => idempotency_key));
      const found = `${kind} ${id} is ${state}, ${deliveries.length} deliveries, not ended: ${open.join() || 'none'}`;
      if (keys.size !== deliveries.length) return [`${found}: two occurrences with one key`];
      if (kind === 'one_shot')
        return deliveries.length === 1 && open.length === 0 && state === 'completed' ? [] : [found];
      return open.join() === 'scheduled' && state === 'active' ? [] : [found];
    }),
  ];
}

function faultsOf(
  delivery: StoredDelivery,
  attempts: readonly StoredAttempt[],
  received: readonly Received[],
  { excuses = [], isClockSteady = true }: Evidence,
): readonly string[] {
  const { max_attempts } = JSON.parse(delivery.retry_policy) as { readonly max_attempts: number };
  const numbers = received.map(({ attemptNo }) => attemptNo);
  const excused = attempts.filter(({ error }) => excuses.includes(error ?? '')).length;
  return [
    ...faultIf(delivery.status === 'claimed', 'is still claimed'),
    ...faultIf(new Set(numbers).size !== numbers.length, `an attempt was sent twice: ${numbers.join()}`),
    ...faultIf(
      attempts.some(({ attempt_no }, i) => attempt_no !== i + 1),
      'attempts are not 1..n',
    ),
    ...faultIf(attempts.length !== delivery.attempt_count, `attempt_count ${delivery.attempt_count}`),
    ...faultIf(attempts.length > max_attempts, `${attempts.length} attempts of ${max_attempts}`),
    ...faultIf(
      received.some(({ key }) => key !== delivery.idempotency_key),
      'another Idempotency-Key was sent',
    ),
    ...faultIf(
      numbers.some((number) => attempts[number - 1] === undefined),
      'an attempt was sent without a row',
    ),
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
  attempts: readonly StoredAttempt[],
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
  { outcome, status_code, error }: StoredAttempt,
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
  { due_at, fired_at, finished_at }: StoredAttempt,
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

function faultIf(isFault: boolean, fault: string): readonly string[] {
  return isFault ? [fault] : [];
}
