/**
 * The headers of a delivery. The customer's headers come first, the service's own last, so that nobody can override
 * them. The customer's headers are the same at every attempt and may be prepared long before. The service's own name
 * the attempt and sign it.
 */
import { hash, type KeyObject } from 'node:crypto';
import { type Attempt, type Delivery, nominalInstant } from './delivery.ts';
import { type HeaderFault, type Headers, headerFault } from './headers.ts';
import type { AttemptId, DeliveryId } from './id.ts';
import { formatInstant, type Instant } from './instant.ts';
import { signatureHeader, standardSignatureHeader } from './signature.ts';

export const USER_AGENT = ['User-Agent', 'Sched/1'] as const;
export const JSON_TYPE = 'application/json';
const MS_PER_SECOND = 1_000;
const TRACE_ID_CHARACTERS = 32;
const SPAN_ID_CHARACTERS = 16;

/**
 * Names that the service sets itself. Every other `Sched-` name is reserved. A customer's `tracestate` is dropped
 * together with the `traceparent` that it describes. `baggage` does not belong to a trace and is sent.
 */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'idempotency-key',
  'traceparent',
  'tracestate',
  'user-agent',
]);
const OWN_PREFIX = 'sched-';
/** Names that the service sets only where a delivery is signed for Standard Webhooks too. */
const STANDARD_NAMES: ReadonlySet<string> = new Set(['webhook-id', 'webhook-timestamp', 'webhook-signature']);

export interface Outbound {
  readonly delivery: Pick<Delivery, 'id' | 'idempotencyKey' | 'target' | 'occurrence' | 'movedFrom'>;
  readonly attempt: Pick<Attempt, 'id' | 'attemptNo'>;
  /** The path of the URL, without the query. */
  readonly path: string;
  /** The result of `traceId`. */
  readonly trace: string;
  /** The result of `customerHeaders`. */
  readonly headers: Headers;
  readonly body: Uint8Array | null;
  readonly keys: readonly KeyObject[];
  /** The keys that sign for Standard Webhooks too; null where nothing does. */
  readonly standardKeys: readonly KeyObject[] | null;
  readonly now: Instant;
}

export interface UnsendableHeader {
  readonly name: string;
  readonly fault: HeaderFault;
}

/** Returns the first header that may not be sent, or null. */
export function unsendableHeader(headers: Headers): UnsendableHeader | null {
  for (const [name, value] of headers) {
    const fault = headerFault(name, value);
    if (fault !== null) return { name, fault };
  }
  return null;
}

/**
 * Returns the customer's headers that are sent. A JSON body without a Content-Type gets one. The names of Standard
 * Webhooks are the customer's, unless the delivery is signed for it.
 */
export function customerHeaders(custom: Headers, isJson: boolean, isStandard: boolean): Headers {
  const kept = custom.filter(([name]) => !isOwn(name, isStandard));
  const saysType = kept.some(([name]) => name.toLowerCase() === 'content-type');
  return isJson && !saysType ? [...kept, ['Content-Type', JSON_TYPE]] : kept;
}

export function outboundHeaders(outbound: Outbound): Headers {
  const { delivery, attempt, path, trace, headers, body, keys, standardKeys, now } = outbound;
  const timestamp = Math.floor(now / MS_PER_SECOND);
  const nominal = nominalInstant(delivery);
  const signature = signatureHeader(
    {
      timestamp,
      deliveryId: delivery.id,
      attemptNo: attempt.attemptNo,
      method: delivery.target.method,
      path,
      body,
    },
    keys,
  );
  return [
    ...headers,
    USER_AGENT,
    ['traceparent', traceparent(trace, attempt.id)],
    ['Idempotency-Key', delivery.idempotencyKey],
    ['Sched-Delivery-Id', delivery.id],
    ['Sched-Attempt', String(attempt.attemptNo)],
    ...(nominal === null ? [] : [['Sched-Occurrence', formatInstant(nominal)] as const]),
    ['Sched-Timestamp', String(timestamp)],
    ['Sched-Signature', signature],
    ...(standardKeys === null ? [] : standardHeaders(delivery.id, timestamp, body, standardKeys)),
  ];
}

/** Returns the headers of Standard Webhooks, as the standard writes their names. */
function standardHeaders(
  deliveryId: DeliveryId,
  timestamp: number,
  body: Uint8Array | null,
  keys: readonly KeyObject[],
): Headers {
  return [
    ['webhook-id', deliveryId],
    ['webhook-timestamp', String(timestamp)],
    ['webhook-signature', standardSignatureHeader({ timestamp, deliveryId, body }, keys)],
  ];
}

function isOwn(name: string, isStandard: boolean): boolean {
  const lower = name.toLowerCase();
  return OWN_NAMES.has(lower) || lower.startsWith(OWN_PREFIX) || (isStandard && STANDARD_NAMES.has(lower));
}

/** Returns the id of a delivery's trace, which is a hash of its own id. */
export function traceId(deliveryId: DeliveryId): string {
  return hash('sha256', deliveryId, 'hex').slice(0, TRACE_ID_CHARACTERS);
}

/** Returns the W3C trace context. Each delivery is a trace and each attempt a span. Both ids are hashes of ours. */
export function traceparent(trace: string, attemptId: AttemptId): string {
  const span = hash('sha256', attemptId, 'hex').slice(0, SPAN_ID_CHARACTERS);
  return `00-${trace}-${span}-01`;
}
