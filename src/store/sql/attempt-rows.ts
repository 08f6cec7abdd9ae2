/**
 * Rows of `attempts`, which are attempts that ended. The attempt in flight is in the claim of its delivery, and a
 * list reads both in one query.
 */
import { type Attempt, type AttemptTiming, type FinishedAttempt, NO_RESULT } from '#src/domain/delivery.ts';
import type { KeptResponse } from '#src/ports/kept-response.ts';
import type { RecentAttempt } from '#src/ports/lists.ts';
import { field, mapping, plain, type Row } from './mapping.ts';

const timing = field(toTimingText, (stored) => fromTimingText(stored as string | null));

export const ATTEMPT = mapping<FinishedAttempt>({
  partition: plain,
  deliveryId: plain,
  attemptNo: plain,
  id: plain,
  dueAt: plain,
  firedAt: plain,
  endpointId: plain,
  outcome: plain,
  statusCode: plain,
  finishedAt: plain,
  egressMs: plain,
  error: plain,
  timing,
});

/** The first columns of an attempt, in the row of its delivery. An attempt in flight has no value for the others. */
const IN_FLIGHT = [
  'partition',
  'id',
  'attempt_count',
  'claim_attempt_id',
  'claim_due_at',
  'claim_fired_at',
  'endpoint_id',
];
const NO_VALUES = ATTEMPT.columns.slice(IN_FLIGHT.length).map(() => 'NULL');

/** Takes partition, delivery and number twice, then the limit. It sees one moment, so no attempt is listed twice. */
export const LIST_ATTEMPTS = `SELECT ${ATTEMPT.columns.join(', ')} FROM attempts
    WHERE partition = $1 AND delivery_id = $2 AND attempt_no > $3
  UNION ALL
  SELECT ${[...IN_FLIGHT, ...NO_VALUES].join(', ')}
    FROM deliveries WHERE partition = $4 AND id = $5 AND attempt_count > $6 AND claim_attempt_id IS NOT NULL
  ORDER BY attempt_no LIMIT $7`;

const JOINED_ATTEMPT = ATTEMPT.joined('a');

/** An attempt with its delivery `d` and its schedule `s`. */
export const RECENT_ATTEMPT_COLUMNS = `${JOINED_ATTEMPT.columns}, d.schedule_id, s.name AS schedule_name, d.url, d.method`;

export function recentAttemptIn(row: Row): RecentAttempt {
  const { schedule_id, schedule_name, url, method } = row as unknown as DeliveryOfAttempt;
  return {
    attempt: JOINED_ATTEMPT.from(row),
    scheduleId: schedule_id,
    scheduleName: schedule_name,
    url,
    method,
  };
}

interface DeliveryOfAttempt {
  readonly schedule_id: RecentAttempt['scheduleId'];
  readonly schedule_name: string | null;
  readonly url: string;
  readonly method: RecentAttempt['method'];
}

/** The columns of `attempt_responses`. */
export const RESPONSE_COLUMNS = [
  'partition',
  'delivery_id',
  'attempt_no',
  'status_code',
  'content_type',
  'is_truncated',
  'sealed',
];

/** The columns of a kept answer, without its key. */
export interface ResponseRow {
  readonly status_code: number;
  readonly content_type: string | null;
  readonly is_truncated: number;
  readonly sealed: Uint8Array;
}

export function toResponse(row: ResponseRow): KeptResponse {
  const { status_code: statusCode, content_type: contentType, is_truncated: isTruncated, sealed } = row;
  return { statusCode, contentType, isTruncated: isTruncated === 1, sealed };
}

export function toAttempt(row: Row): Attempt {
  const attempt = ATTEMPT.from(row);
  return row.outcome === null ? { ...attempt, ...NO_RESULT } : attempt;
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
