/**
 * What every adapter does with a request once it has its raw body:
 *
 *     verify        no: 401, or 413 for a body that is too long
 *     begin         done before: 200; in progress: 409, so that Sched comes again
 *     handle        its keys are done after a 2xx, and forgotten after anything else
 *
 * Whoever is refused is told the reason's word alone. An error of the handler goes on to the framework, which
 * knows how to log it and answers 500: Sched tries again.
 */

import { checkTolerance, NO_SECRET, usableSecrets } from './checks.ts';
import type { BeginResult, DeduplicationStore } from './deduplication.ts';
import { ReceivedDelivery } from './delivery.ts';
import { type PathOption, type ReceivedRequest, splitUrl } from './normalized-request.ts';
import { BODY_BYTES_MAX, type ReadBody } from './read-body.ts';
import type { NotVerified, Reason } from './result.ts';
import { verify } from './verify.ts';

/** Sched looks at the status alone. A `Response` is one. */
export interface Answer {
  readonly status: number;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is what most will write.
export type Handled<A extends Answer> = A | undefined | void;

export interface ReceiverOptions<A extends Answer = Answer> {
  /** Several while one is being rotated. */
  readonly secret: string | readonly string[];
  /** The work. Answers 204 if it returns nothing; throws, or answers other than 2xx, to be tried again. */
  readonly handle: (delivery: ReceivedDelivery) => Handled<A> | Promise<Handled<A>>;
  /** Where the keys of what was done are kept. Without one, every attempt is handled. */
  readonly deduplicate?: DeduplicationStore | undefined;
  /**
   * A replay is handled again by `delivery_id`, and is a duplicate by `idempotency_key`, the default. The key is not
   * signed, so the delivery id counts beside it: a captured request that is sent again with another key is a
   * duplicate too.
   */
  readonly deduplicateBy?: 'idempotency_key' | 'delivery_id' | undefined;
  /** Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * The path that Sched was told, where it arrives as another one. On a wildcard route give it as a fixed text:
   * path and body are signed joined by a period, and what follows a period may be moved from one to the other.
   */
  readonly path?: PathOption | undefined;
  /** Default, and at most: 1,048,576, the most that Sched sends. */
  readonly bodyBytesMax?: number | undefined;
  /**
   * Told why a request was refused, with a sentence for the log. The usual mistakes are tried out if it is given.
   * Neither this one nor the next is waited for, and what it throws is dropped.
   */
  readonly onRejected?: ((refusal: NotVerified) => unknown) | undefined;
  /** Told when the store could not note what came of a delivery: its answer stays as it is. */
  readonly onStoreError?: ((error: unknown, delivery: ReceivedDelivery) => unknown) | undefined;
  /** The clock, in Unix milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** A request with its headers in the one form that handlers see. */
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

  /** What is wrong with the options shows at the start, not at the first delivery. */
  constructor(options: ReceiverOptions<A>) {
    const { secret, toleranceSeconds, bodyBytesMax = BODY_BYTES_MAX } = options;
    if (usableSecrets(secret).length === 0) throw new TypeError(NO_SECRET);
    checkTolerance(toleranceSeconds);
    if (!(bodyBytesMax >= 0 && bodyBytesMax <= BODY_BYTES_MAX)) {
      throw new RangeError(`bodyBytesMax must be a number from 0 to ${BODY_BYTES_MAX}.`);
    }
    this.bodyBytesMax = bodyBytesMax;
    this.#options = options;
  }

  /** Whether the request says itself that its body is too long to be read. */
  declaresTooLarge(contentLength: string | null | undefined): boolean {
    return Number(contentLength ?? 0) > this.bodyBytesMax;
  }

  async reply(arrived: IncomingRequest): Promise<Reply<A>> {
    const { body } = arrived;
    if (body === 'too_large' || body.length > this.bodyBytesMax) return this.#tooLarge();
    const { secret, toleranceSeconds, path, onRejected, now } = this.#options;
    const result = await verify({ ...arrived, body }, secret, {
      toleranceSeconds,
      path,
      now: now?.(),
      diagnose: onRejected !== undefined,
    });
    if (!result.ok) return this.#refuse(UNAUTHORIZED, result);
    const { method, url, headers } = arrived;
    return this.#once(new ReceivedDelivery(result, { method, path: splitUrl(url).path, headers }));
  }

  async #once(delivery: ReceivedDelivery): Promise<Reply<A>> {
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
        await this.#note(delivery, () => (isDone ? store.done(key) : store.forget(key)));
    }
  }

  /** Takes all of the keys or none. A store that fails here rejects: better tried again than done twice. */
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
        for (const key of taken) await this.#note(delivery, () => store.forget(key));
      }
    }
  }

  async #handle(delivery: ReceivedDelivery): Promise<A | null> {
    return (await this.#options.handle(delivery)) ?? null;
  }

  /** The work is over, one way or the other: what the store says to it changes nothing about that. */
  async #note(delivery: ReceivedDelivery, write: () => unknown): Promise<void> {
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

/** The keys of the delivery, the signed one first. A key that anybody may write is not taken before it. */
function keysOf(
  { deliveryId, idempotencyKey }: ReceivedDelivery,
  by: ReceiverOptions['deduplicateBy'],
): readonly string[] {
  return by === 'delivery_id' || idempotencyKey === deliveryId ? [deliveryId] : [deliveryId, idempotencyKey];
}

/** Whoever is told may fail at it, at once or later: that changes no answer and ends no process. */
function callSafely(call: () => unknown): void {
  const told = async () => {
    await call();
  };
  told().catch(() => {});
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** The reply's status and JSON; null where it has none. */
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
