/**
 * Verifies signatures as a receiver does. It is written only from the specification and must not share code with
 * `src/`, because a mistake there would be confirmed here.
 *
 *     Sched-Signature: t=<timestamp>,v1=<signature>[,v1=<signature>…]
 *
 * The signed text is `<timestamp>.<delivery_id>.<attempt>.<METHOD>.<path>.<body>`, with the path as sent without
 * the query and the exact bytes of the body. The signature is HMAC-SHA256 in hex. The key is the whole text of the
 * secret in UTF-8. One v1 that matches is enough. A timestamp may be at most 300 s away.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { headerOf, type ReceivedRequest } from './receiver.ts';

const TIMESTAMP_AWAY_S_MAX = 300;
const DELIVERY_ID = /^[A-Za-z0-9_-]{1,64}$/;
const ATTEMPT = /^[1-9][0-9]{0,8}$/;
const SIGNATURE = /^t=(?<timestamp>\d+)(?<parts>(?:,v1=[0-9a-f]{64})+)$/;

export type Verdict = 'verified' | 'malformed' | 'another timestamp' | 'too old' | 'no signature matches';

export interface Signature {
  readonly timestamp: string;
  /** The v1 signatures in order. */
  readonly v1: readonly string[];
}

export function signatureOf(request: ReceivedRequest): Signature | null {
  const found = SIGNATURE.exec(headerOf(request, 'Sched-Signature'))?.groups;
  if (found === undefined) return null;
  const { timestamp = '', parts = '' } = found;
  return { timestamp, v1: parts.split(',v1=').slice(1) };
}

export function expectedSignature(request: ReceivedRequest, secret: string): string {
  const timestamp = headerOf(request, 'Sched-Timestamp');
  const deliveryId = headerOf(request, 'Sched-Delivery-Id');
  const attempt = headerOf(request, 'Sched-Attempt');
  const path = request.path.replace(/\?.*$/s, '');
  const head = [timestamp, deliveryId, attempt, request.method, path, ''].join('.');
  return createHmac('sha256', Buffer.from(secret, 'utf8'))
    .update(head, 'utf8')
    .update(request.body)
    .digest('hex');
}

/** `now` is the clock of the receiver in ms. */
export function verify(request: ReceivedRequest, secret: string, now: number = request.arrivedAt): Verdict {
  const signature = signatureOf(request);
  if (signature === null) return 'malformed';
  // With a period in either, the start of the body could pass as part of the header.
  if (!DELIVERY_ID.test(headerOf(request, 'Sched-Delivery-Id'))) return 'malformed';
  if (!ATTEMPT.test(headerOf(request, 'Sched-Attempt'))) return 'malformed';
  if (signature.timestamp !== headerOf(request, 'Sched-Timestamp')) return 'another timestamp';
  if (Math.abs(now / 1_000 - Number(signature.timestamp)) > TIMESTAMP_AWAY_S_MAX) return 'too old';
  const expected = Buffer.from(expectedSignature(request, secret));
  const hasMatch = signature.v1.some((each) => timingSafeEqual(Buffer.from(each), expected));
  return hasMatch ? 'verified' : 'no signature matches';
}
