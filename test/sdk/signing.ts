/** Requests as Sched sends them, signed by the signer of the service. */
import { createSecretKey } from 'node:crypto';
import type { Method } from '#src/domain/destination.ts';
import { parseId } from '#src/domain/id.ts';
import { signatureHeader } from '#src/domain/signature.ts';

export const SECRET = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgcmVjZWl2ZXI=';
export const DELIVERY_ID = 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6a';

export interface Signing {
  readonly method?: Method;
  /** The path without the query. */
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly secrets?: readonly string[];
  readonly deliveryId?: string;
  readonly attempt?: number;
  readonly idempotencyKey?: string;
  /** The time of the signature in Unix seconds. Default: now. */
  readonly timestamp?: number;
}

export function signedHeaders(signing: Signing = {}): Record<string, string> {
  const { method = 'POST', path = '/hook', body = '', secrets = [SECRET], attempt = 1 } = signing;
  const timestamp = signing.timestamp ?? Math.floor(Date.now() / 1_000);
  const deliveryId = parseId('dlv', signing.deliveryId ?? DELIVERY_ID);
  if (deliveryId === null) throw new Error('That is no delivery id.');
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret, 'utf8')));
  const signed = { timestamp, deliveryId, attemptNo: attempt, method, path, body: Buffer.from(body) };
  return {
    'Idempotency-Key': signing.idempotencyKey ?? deliveryId,
    'Sched-Delivery-Id': deliveryId,
    'Sched-Attempt': `${attempt}`,
    'Sched-Timestamp': `${timestamp}`,
    'Sched-Signature': signatureHeader(signed, keys),
  };
}
