/** A delivery as a handler gets it: verified, with its body read. */
import { readJson } from '../json/read-json.ts';
import type { ReceivedHeaders } from './normalized-request.ts';
import type { Verified } from './result.ts';

export interface DeliveryRequest {
  readonly method: string;
  /** As it arrived, without the query: that one is not signed. */
  readonly path: string;
  readonly headers: Headers;
}

export class ReceivedDelivery implements DeliveryRequest {
  /** `dlv_…`: the same for every attempt, another one for a replay. */
  readonly deliveryId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt of an occurrence and for its replays. */
  readonly idempotencyKey: string;
  /** When it was signed, in Unix seconds. */
  readonly timestamp: number;
  readonly method: string;
  readonly path: string;
  /** Of these only what makes up the signature is signed. */
  readonly headers: Headers;
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

  text(): string {
    return new TextDecoder().decode(this.body);
  }

  /** Throws a SyntaxError where the body is not JSON. What type it has is the caller's word. */
  json<T = unknown>(): T {
    return readJson(this.text()) as T;
  }
}

/** Names with a colon in front are HTTP/2's own. */
export function headersFrom(received: Exclude<ReceivedHeaders, Pick<Headers, 'get'>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (name.startsWith(':')) continue;
    for (const each of typeof value === 'string' ? [value] : (value ?? [])) headers.append(name, each);
  }
  return headers;
}
