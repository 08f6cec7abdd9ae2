/** Arrivals in the form that the page gets: a summary for the list, and the details of one on request. */
import { isUtf8 } from 'node:buffer';
import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { Arrival } from './arrivals.ts';
import type { ArrivalDetails, ArrivalSummary } from './contract.ts';

const HEX_BYTES_MAX = 4_096;
/** A page that opens gets the summaries of all arrivals at once, so each text is short. */
const SUMMARY_TEXT_CHARACTERS_MAX = 512;

export function presentSummary(arrival: Arrival): ArrivalSummary {
  const { number, at, method, target, body, signature, answered } = arrival;
  return {
    number,
    at,
    method,
    target: shorten(target),
    bytes: body.length,
    signature: signature.verified ? signature : { ...signature, why: shorten(signature.why) },
    answered,
    delivery: deliveryOf(arrival),
  };
}

function shorten(text: string): string {
  const max = SUMMARY_TEXT_CHARACTERS_MAX;
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function deliveryOf({ at, sent, delivery }: Arrival): ArrivalSummary['delivery'] {
  if (sent === null) return null;
  const { deliveryId, attemptNo, dueAt } = sent;
  const lateness = dueAt === null ? null : at - dueAt;
  if (delivery === null) return { id: deliveryId, attempt: attemptNo, lateness_ms: lateness, now: null };
  return {
    id: deliveryId,
    attempt: attemptNo,
    lateness_ms: lateness,
    now: {
      schedule_id: delivery.scheduleId,
      status: delivery.status,
      attempt_count: delivery.attemptCount,
      max_attempts: delivery.retryPolicy.maxAttempts,
      next_at: isWaiting(delivery.status) ? delivery.dueAt : null,
      error: delivery.error,
    },
  };
}

export function presentDetails({ number, target, headers, body }: Arrival): ArrivalDetails {
  return { number, target, headers, body: presentBody(body) };
}

/** Presents UTF-8 as text, and other bytes as hex, up to a limit. */
function presentBody(body: Uint8Array): ArrivalDetails['body'] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return isUtf8(bytes)
    ? { kind: 'text', text: bytes.toString() }
    : { kind: 'binary', hex: bytes.subarray(0, HEX_BYTES_MAX).toString('hex'), shown: HEX_BYTES_MAX };
}
