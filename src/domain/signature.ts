/**
 * The signature of a delivery is an HMAC-SHA256 over `<timestamp>.<delivery_id>.<attempt>.<METHOD>.<path>.<body>`.
 * There is one for each signing secret.
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
  const parts = keys.map((key) => {
    const hmac = createHmac('sha256', key).update(head, 'utf8');
    if (body !== null) hmac.update(body);
    return `v1=${hmac.digest('hex')}`;
  });
  return [`t=${timestamp}`, ...parts].join(',');
}
