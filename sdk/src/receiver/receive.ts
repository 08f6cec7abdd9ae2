/**
 * The steps of every adapter, once it has the raw body of a request:
 *
 *     verify        answers 401 if it fails, or 413 for a body that is too long
 *     begin         answers 200 if the work was done before, or 409 if it is in progress, so that Sched retries
 *     handle        marks the keys as done after a 2xx, and forgets them after any other answer
 *
 * A refused sender only learns the reason code. An error of the handler passes on to the framework, which logs it and
 * answers 500. Sched then retries.
 */

import { checkReceiverOptions, checkTolerance, NO_SECRET, usableSecrets } from './checks.ts';
import type { BeginResult, DeduplicationStore } from './deduplication.ts';
import { ReceivedDelivery } from './delivery.ts';
import { type PathOption, type ReceivedRequest, splitUrl } from './normalized-request.ts';
import { BODY_BYTES_MAX, type ReadBody } from './read-body.ts';
import type { NotVerified, Reason } from './result.ts';
import { verify } from './verify.ts';

/** The answer of a handler. Sched only uses the status. A `Response` is a valid answer. */
export interface Answer {
  readonly status: number;
}

// biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing.
export type Handled<A extends Answer> = A | undefined | void;

/** The options of every receiver. */
export interface ReceiverOptions<A extends Answer = Answer> {
  /** The signing secret. Give several during a rotation. */
  readonly secret: string | readonly string[];
  /** Does the work. Return nothing to answer 204. Throw, or return another status than 2xx, to be retried. */
  readonly handle: (delivery: ReceivedDelivery) => Handled<A> | Promise<Handled<A>>;
  /** The store for the keys of done work. Without a store, every attempt is handled. */
  readonly deduplicate?: DeduplicationStore | undefined;
  /**
   * The key for deduplication. Default: `idempotency_key`, where a replay is a duplicate of its original. With
   * `delivery_id`, a replay is handled again. The idempotency key is not signed, so the delivery id always counts too:
   * a captured request that is sent again with another key is a duplicate.
   */
  readonly deduplicateBy?: 'idempotency_key' | 'delivery_id' | undefined;
  /** The allowed difference between the timestamp and this clock, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * The path that Sched signed, if it arrives as another one. On a wildcard route, give a fixed text. The signature
   * joins path and body with a period, so an attacker could move text after a period from one to the other.
   */
  readonly path?: PathOption | undefined;
  /** The longest accepted body, at most 1,048,576, which is also the default and the most that Sched sends. */
  readonly bodyBytesMax?: number | undefined;
  /**
   * Called when a request is refused, with the reason and a sentence for the log. If it is given, the receiver tries
   * out common mistakes to find the reason. The receiver does not wait for this callback, and ignores its errors. The
   * same holds for `onStoreError`.
   */
  readonly onRejected?: ((refusal: NotVerified) => unknown) | undefined;
  /** Called when the store could not record the result of a delivery. The answer to Sched does not change. */
  readonly onStoreError?: ((error: unknown, delivery: ReceivedDelivery) => unknown) | undefined;
  /** The clock, in Unix milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** A request with its headers in the form that handlers see. */
export interface IncomingRequest extends Pick<ReceivedRequest, 'method' | 'url'> {
  readonly headers: Headers;
  readonly body: ReadBody;
}

export type Reply<A extends Answer> =
  | { readonly kind: 'handled'; readonly answer: A | null }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'refused'; readonly status: number; readonly error: Reason | 'in_progress' };

const HANDLED_STATUS = 204;
const DUPLICATE_STATUS = 200;
const UNAUTHORIZED = 401;
const IN_PROGRESS = 409;
const TOO_LARGE = 413;

export class DeliveryReceiver<A extends Answer> {
  readonly bodyBytesMax: number;
  readonly #options: ReceiverOptions<A>;

  /** Checks the options, so that a mistake shows at the start and not at the first delivery. */
  constructor(options: ReceiverOptions<A>) {
    checkReceiverOptions(options);
    const { secret, toleranceSeconds, bodyBytesMax = BODY_BYTES_MAX } = options;
    if (usableSecrets(secret).length === 0) throw new TypeError(NO_SECRET);
    checkTolerance(toleranceSeconds);
    if (!(bodyBytesMax >= 0 && bodyBytesMax <= BODY_BYTES_MAX)) {
      throw new RangeError(`bodyBytesMax must be a number from 0 to ${BODY_BYTES_MAX}.`);
    }
    this.bodyBytesMax = bodyBytesMax;
    this.#options = options;
  }

  /** Whether `Content-Length` already shows that the body is too long. */
  declaresTooLarge(contentLength: string | null | undefined): boolean {
    return Number(contentLength ?? 0) > this.bodyBytesMax;
  }

  async reply(request: IncomingRequest): Promise<Reply<A>> {
    const { body } = request;
    if (body === 'too_large' || body.length > this.bodyBytesMax) return this.#tooLarge();
    const { secret, toleranceSeconds, path, onRejected, now } = this.#options;
    const result = await verify({ ...request, body }, secret, {
      toleranceSeconds,
      path,
      now: now?.(),
      diagnose: onRejected !== undefined,
    });
    if (!result.ok) return this.#refuse(UNAUTHORIZED, result);
    const { method, url, headers } = request;
    return this.#handleOnce(new ReceivedDelivery(result, { method, path: splitUrl(url).path, headers }));
  }

  async #handleOnce(delivery: ReceivedDelivery): Promise<Reply<A>> {
    const { deduplicate: store, deduplicateBy } = this.#options;
    if (store === undefined) return { kind: 'handled', answer: await this.#handle(delivery) };
    const keys = keysOf(delivery, deduplicateBy);
    const begun = await this.#begin(store, keys, delivery);
    if (begun === 'done') return { kind: 'duplicate' };
    if (begun === 'in_progress') return { kind: 'refused', status: IN_PROGRESS, error: 'in_progress' };
    let isDone = false;
    try {
      const answer = await this.#handle(delivery);
      isDone = answer === null || isSuccess(answer);
      return { kind: 'handled', answer };
    } finally {
      for (const key of keys)
        await this.#record(delivery, () => (isDone ? store.done(key) : store.forget(key)));
    }
  }

  /** Takes all keys or none. If the store fails, this rejects: a retry is better than doing the work twice. */
  async #begin(
    store: DeduplicationStore,
    keys: readonly string[],
    delivery: ReceivedDelivery,
  ): Promise<BeginResult> {
    const taken: string[] = [];
    let begun: BeginResult = 'in_progress';
    try {
      for (const key of keys) {
        begun = await store.begin(key);
        if (begun !== 'new') break;
        taken.push(key);
      }
      return begun;
    } finally {
      if (taken.length < keys.length) {
        for (const key of taken) await this.#record(delivery, () => store.forget(key));
      }
    }
  }

  async #handle(delivery: ReceivedDelivery): Promise<A | null> {
    return (await this.#options.handle(delivery)) ?? null;
  }

  /** The work has ended, so a failure of the store must not change the answer. */
  async #record(delivery: ReceivedDelivery, write: () => unknown): Promise<void> {
    try {
      await write();
    } catch (error) {
      callSafely(() => this.#options.onStoreError?.(error, delivery));
    }
  }

  #tooLarge(): Reply<A> {
    const message = `The body has more than ${this.bodyBytesMax} bytes.`;
    return this.#refuse(TOO_LARGE, { ok: false, reason: 'body_too_large', message });
  }

  #refuse(status: number, refusal: NotVerified): Reply<A> {
    callSafely(() => this.#options.onRejected?.(refusal));
    return { kind: 'refused', status, error: refusal.reason };
  }
}

/** The signed key comes first, so that the unsigned key, which anybody could forge, is never taken alone. */
function keysOf(
  { deliveryId, idempotencyKey }: ReceivedDelivery,
  by: ReceiverOptions['deduplicateBy'],
): readonly string[] {
  return by === 'delivery_id' || idempotencyKey === deliveryId ? [deliveryId] : [deliveryId, idempotencyKey];
}

/** Ignores errors of a callback, so that they change no answer and end no process. */
function callSafely(call: () => unknown): void {
  const run = async () => {
    await call();
  };
  run().catch(() => {});
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Returns the status of the reply, and its JSON or null. */
export function toPlainReply(reply: Reply<Answer>): {
  readonly status: number;
  readonly json: string | null;
} {
  switch (reply.kind) {
    case 'handled':
      return { status: reply.answer?.status ?? HANDLED_STATUS, json: null };
    case 'duplicate':
      return { status: DUPLICATE_STATUS, json: '{"duplicate":true}' };
    case 'refused':
      return { status: reply.status, json: JSON.stringify({ error: reply.error }) };
  }
}
