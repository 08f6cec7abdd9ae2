/** The delivery that a handler gets: verified, with its body read. */
import { readJson } from '../json/read-json.ts';
import type { ReceivedHeaders } from './normalized-request.ts';
import type { Verified } from './result.ts';

export interface DeliveryRequest {
  readonly method: string;
  /** The path as it arrived, without the query, which is not signed. */
  readonly path: string;
  readonly headers: Headers;
}

/** A verified delivery. */
export class ReceivedDelivery implements DeliveryRequest {
  /** `dlv_…`. It is the same for every attempt, and different for a replay. */
  readonly deliveryId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt of a delivery and for its replays. It is not signed. */
  readonly idempotencyKey: string;
  /** The time of the signature, in Unix seconds. */
  readonly timestamp: number;
  readonly method: string;
  readonly path: string;
  /** Headers are not signed, except those that the signature is made of. */
  readonly headers: Headers;
  /** The raw bytes that were signed. */
  readonly body: Uint8Array;

  constructor({ deliveryId, attempt, idempotencyKey, timestamp, body }: Verified, request: DeliveryRequest) {
    this.deliveryId = deliveryId;
    this.attempt = attempt;
    this.idempotencyKey = idempotencyKey;
    this.timestamp = timestamp;
    this.body = body;
    this.method = request.method;
    this.path = request.path;
    this.headers = request.headers;
  }

  /** The body as UTF-8 text. */
  text(): string {
    return new TextDecoder().decode(this.body);
  }

  /** The body as JSON. Throws a SyntaxError if it is not JSON. The type `T` is not checked. */
  json<T = unknown>(): T {
    return readJson(this.text()) as T;
  }
}

/** Skips the pseudo-headers of HTTP/2, whose names start with a colon. */
export function headersFrom(received: Exclude<ReceivedHeaders, Pick<Headers, 'get'>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (name.startsWith(':')) continue;
    for (const each of typeof value === 'string' ? [value] : (value ?? [])) headers.append(name, each);
  }
  return headers;
}
