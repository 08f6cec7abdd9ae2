/** Arrivals as the page is told of them: a line for the list, and the rest when somebody looks at one. */
import { isUtf8 } from 'node:buffer';
import { isWaiting } from '#src/domain/delivery-life.ts';
import type { Arrival } from './arrival.ts';

const HEX_BYTES_MAX = 4_096;
/** A page that opens is told of all arrivals at once: no line may be long. */
const LINE_WORDS_CHARACTERS_MAX = 512;

export function presentLine(arrival: Arrival) {
  const { number, at, method, target, body, signature, answered } = arrival;
  return {
    number,
    at,
    method,
    target: shortened(target),
    bytes: body.length,
    signature: signature.verified ? signature : { ...signature, why: shortened(signature.why) },
    answered,
    delivery: deliveryOf(arrival),
  };
}

function shortened(text: string): string {
  const most = LINE_WORDS_CHARACTERS_MAX;
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function deliveryOf({ at, sent, delivery }: Arrival) {
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

export function presentDetails({ number, target, headers, body }: Arrival) {
  return { number, target, headers, body: presentBody(body) };
}

/** Text where it is text; else the first bytes, in hex. */
function presentBody(body: Uint8Array) {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return isUtf8(bytes)
    ? { kind: 'text', text: bytes.toString() }
    : { kind: 'binary', hex: bytes.subarray(0, HEX_BYTES_MAX).toString('hex'), shown: HEX_BYTES_MAX };
}
