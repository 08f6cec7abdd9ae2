/** The delivery that a handler gets: verified, with its body read. */
import { readJson } from '../json/read-json.ts';
import { type Alert, isAlert } from './alert.ts';
import type { ReceivedHeaders } from './normalized-request.ts';
import { isNotification, type Notification } from './notification.ts';
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
  #composed: { readonly json: unknown } | null = null;

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

  /**
   * How another delivery ended, if this request tells that. Null for every other request, and for a notification of a type
   * that this package does not know.
   */
  get notification(): Notification | null {
    return this.#composedBody(isNotification);
  }

  /** The message of an alert, if this request is one. Null for every other request. */
  get alert(): Alert | null {
    return this.#composedBody(isAlert);
  }

  /**
   * Returns a body that Sched composed. Such a body names the delivery that carries it. A body that is sent on does not,
   * so it is not taken for a new notification.
   */
  #composedBody<T extends Notification | Alert>(isComposed: (body: unknown) => body is T): T | null {
    this.#composed ??= { json: this.#jsonOrNull() };
    const { json } = this.#composed;
    return isComposed(json) && json.id === this.deliveryId ? json : null;
  }

  #jsonOrNull(): unknown {
    try {
      return this.json();
    } catch {
      return null;
    }
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
