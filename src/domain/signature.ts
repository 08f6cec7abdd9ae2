/**
 * The signature of a delivery is an HMAC-SHA256 over `<timestamp>.<delivery_id>.<attempt>.<METHOD>.<path>.<body>`.
 * That of Standard Webhooks is one over `<delivery_id>.<timestamp>.<body>`. There is one for each signing secret.
 */
import { createHmac, type KeyObject } from 'node:crypto';
import type { Method } from './destination.ts';
import type { DeliveryId } from './id.ts';

export interface Signed {
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly deliveryId: DeliveryId;
  readonly attemptNo: number;
  readonly method: Method;
  /** The path as it is sent, without the query. */
  readonly path: string;
  readonly body: Uint8Array | null;
}

/** Returns the value of the header: the timestamp, and one `v1` for each key in their order. */
export function signatureHeader(signed: Signed, keys: readonly KeyObject[]): string {
  const { timestamp, deliveryId, attemptNo, method, path, body } = signed;
  const head = `${timestamp}.${deliveryId}.${attemptNo}.${method}.${path}.`;
  const parts = keys.map((key) => `v1=${digest(key, head, body, 'hex')}`);
  return [`t=${timestamp}`, ...parts].join(',');
}

/**
 * Returns the value of `webhook-signature`: a `v1` for each key in their order. The keys are those of
 * `standardWebhooksKey`, and the delivery's id is the `webhook-id`.
 */
export function standardSignatureHeader(
  { timestamp, deliveryId, body }: Pick<Signed, 'timestamp' | 'deliveryId' | 'body'>,
  keys: readonly KeyObject[],
): string {
  const head = `${deliveryId}.${timestamp}.`;
  return keys.map((key) => `v1,${digest(key, head, body, 'base64')}`).join(' ');
}

function digest(key: KeyObject, head: string, body: Uint8Array | null, encoding: 'hex' | 'base64'): string {
  const hmac = createHmac('sha256', key).update(head, 'utf8');
  if (body !== null) hmac.update(body);
  return hmac.digest(encoding);
}
