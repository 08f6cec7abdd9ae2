/**
 * Rows of `attempts`, which are attempts that ended. The attempt in flight is in the claim of its delivery, and a
 * list reads both in one query.
 */
import {
  type Attempt,
  type AttemptOutcome,
  type AttemptTiming,
  type FinishedAttempt,
  NO_RESULT,
} from '#src/domain/delivery.ts';
import type { AttemptId, DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';

interface AttemptFacts {
  readonly partition: Partition;
  readonly delivery_id: DeliveryId;
  readonly attempt_no: number;
  readonly id: AttemptId;
  readonly due_at: Instant;
  readonly fired_at: Instant;
}

export interface AttemptRow extends AttemptFacts {
  readonly outcome: AttemptOutcome;
  readonly status_code: number | null;
  readonly finished_at: Instant;
  readonly egress_ms: number;
  readonly error: string | null;
  readonly timing: string | null;
}

const FACTS = ['partition', 'delivery_id', 'attempt_no', 'id', 'due_at', 'fired_at'] as const;
const RESULT = ['outcome', 'status_code', 'finished_at', 'egress_ms', 'error', 'timing'] as const;
export const ATTEMPT = [...FACTS, ...RESULT] as const satisfies readonly (keyof AttemptRow)[];

/** A row of the attempt in flight has no result. */
export type ListedAttemptRow = AttemptRow | (AttemptFacts & { readonly outcome: null });

/** Takes partition, delivery and number twice, then the limit. It sees one moment, so no attempt is listed twice. */
export const LIST_ATTEMPTS = `SELECT ${ATTEMPT.join(', ')} FROM attempts
    WHERE partition = $1 AND delivery_id = $2 AND attempt_no > $3
  UNION ALL
  SELECT partition, id, attempt_count, claim_attempt_id, claim_due_at, claim_fired_at, ${RESULT.map(() => 'NULL').join(', ')}
    FROM deliveries WHERE partition = $4 AND id = $5 AND attempt_count > $6 AND claim_attempt_id IS NOT NULL
  ORDER BY attempt_no LIMIT $7`;

export function toAttemptRow(attempt: FinishedAttempt): AttemptRow {
  return {
    partition: attempt.partition,
    delivery_id: attempt.deliveryId,
    attempt_no: attempt.attemptNo,
    id: attempt.id,
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    due_at: attempt.dueAt,
    fired_at: attempt.firedAt,
    finished_at: attempt.finishedAt,
    egress_ms: attempt.egressMs,
    error: attempt.error,
    timing: toTimingText(attempt.timing),
  };
}

export function fromAttemptRow(row: ListedAttemptRow): Attempt {
  const facts = {
    partition: row.partition,
    id: row.id,
    deliveryId: row.delivery_id,
    attemptNo: row.attempt_no,
    dueAt: row.due_at,
    firedAt: row.fired_at,
  };
  if (row.outcome === null) return { ...facts, ...NO_RESULT };
  return {
    ...facts,
    outcome: row.outcome,
    statusCode: row.status_code,
    finishedAt: row.finished_at,
    egressMs: row.egress_ms,
    error: row.error,
    timing: fromTimingText(row.timing),
  };
}

/** The timing is stored as four numbers, some of which may be missing (`3,3,17,1`). */
function toTimingText(timing: AttemptTiming | null): string | null {
  if (timing === null) return null;
  const { claimedMs, connectedMs, firstByteMs, wasConnected } = timing;
  return `${claimedMs},${connectedMs ?? ''},${firstByteMs ?? ''},${wasConnected ? 1 : 0}`;
}

function fromTimingText(text: string | null): AttemptTiming | null {
  if (text === null) return null;
  const [claimed = '', connected = '', firstByte = '', wasConnected = ''] = text.split(',');
  return {
    claimedMs: Number(claimed),
    connectedMs: numberOf(connected),
    firstByteMs: numberOf(firstByte),
    wasConnected: wasConnected === '1',
  };
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text);
}
