/**
 * Checks that both fault suites share. They compare the stored rows with the requests that arrived, for one
 * process and for a cluster.
 */
import type { Received } from './single-node/ledger.ts';

export interface ScheduleRow {
  readonly id: string;
  readonly kind: 'one_shot' | 'recurring';
  readonly state: string;
}

export interface DeliveryRow {
  readonly id: string;
  readonly schedule_id: string;
  readonly status: string;
  readonly scheduled_for: number;
  readonly attempt_count: number;
  readonly idempotency_key: string;
  /** A JSON text. */
  readonly retry_policy: string;
  readonly url: string;
}

export interface AttemptRow {
  readonly delivery_id: string;
  readonly attempt_no: number;
  readonly outcome: 'success' | 'retryable' | 'terminal';
  readonly status_code: number | null;
  readonly due_at: number;
  readonly fired_at: number;
  readonly finished_at: number | null;
  readonly error: string | null;
}

export const ENDED = new Set(['succeeded', 'dead_letter', 'expired', 'canceled']);
const FAULTS_SHOWN_MAX = 20;

/** The first few faults are enough to start with. */
export function firstOf(faults: readonly string[]): readonly string[] {
  if (faults.length <= FAULTS_SHOWN_MAX) return faults;
  return [...faults.slice(0, FAULTS_SHOWN_MAX), `… ${faults.length} in all`];
}

export function isOk(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function faultIf(isFault: boolean, fault: string): readonly string[] {
  return isFault ? [fault] : [];
}

/** Every acknowledged schedule exists, and no other. `deliveries` has no replays. */
export function scheduleFaults(
  acknowledged: ReadonlySet<string>,
  schedules: readonly ScheduleRow[],
  deliveries: readonly DeliveryRow[],
): readonly string[] {
  const deliveriesOf = Map.groupBy(deliveries, ({ schedule_id }) => schedule_id);
  const known = new Set(schedules.map(({ id }) => id));
  return [
    ...[...acknowledged].filter((id) => !known.has(id)).map((id) => `${id} was acknowledged and is lost`),
    ...schedules.flatMap(({ id, kind, state }) => {
      if (!acknowledged.has(id)) return [`${id} is stored, but was not acknowledged`];
      const own = deliveriesOf.get(id) ?? [];
      const open = own.filter(({ status }) => !ENDED.has(status)).map(({ status }) => status);
      const keys = new Set(own.map(({ idempotency_key }) => idempotency_key));
      const found = `${kind} ${id} is ${state}, ${own.length} deliveries, not ended: ${open.join() || 'none'}`;
      if (keys.size !== own.length) return [`${found}: two occurrences with one key`];
      if (kind === 'one_shot')
        return own.length === 1 && open.length === 0 && state === 'completed' ? [] : [found];
      return open.join() === 'scheduled' && state === 'active' ? [] : [found];
    }),
  ];
}

/** Every request has a row, every row its number, and all carry the key of their delivery. */
export function rowFaults(
  { status, attempt_count, idempotency_key }: DeliveryRow,
  attempts: readonly AttemptRow[],
  received: readonly Received[],
  attemptsMax: number,
): readonly string[] {
  const numbers = received.map(({ attemptNo }) => attemptNo);
  return [
    ...faultIf(status === 'claimed', 'is still claimed'),
    ...faultIf(new Set(numbers).size !== numbers.length, `an attempt was sent twice: ${numbers.join()}`),
    ...faultIf(
      attempts.some(({ attempt_no }, i) => attempt_no !== i + 1),
      'attempts are not 1..n',
    ),
    ...faultIf(attempts.length !== attempt_count, `attempt_count ${attempt_count}`),
    ...faultIf(attempts.length > attemptsMax, `${attempts.length} attempts of ${attemptsMax}`),
    ...faultIf(
      received.some(({ key }) => key !== idempotency_key),
      'another Idempotency-Key was sent',
    ),
    ...faultIf(
      numbers.some((number) => attempts[number - 1] === undefined),
      'an attempt was sent without a row',
    ),
  ];
}
