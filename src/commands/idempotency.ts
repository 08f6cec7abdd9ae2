/**
 * Idempotent requests. The receipt contains the rendered answer, and is stored in the same transaction as the effect.
 * So a crash leaves neither an effect without a receipt nor a key that is stuck.
 *
 * Requests in flight are known only in memory. On another node, the second of two equal requests does its work in vain:
 * it finds the key taken when it stores, and returns the answer of the first. A later repeated request works the same
 * way. Reading the receipt first would cost every new request a read, and nearly all requests are new. If the effect
 * cannot be stored for any reason, a receipt under the same key is the answer.
 */
import { Refusal } from '#src/domain/errors.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Store } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import { IdempotencyKeyTaken, type MakeReceipt, type RenderedAnswer } from './command.ts';

export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;

export interface IdempotentRequest {
  readonly key: string;
  /** A hash of the method, the path and the raw bytes of the body. */
  readonly fingerprint: string;
}

export interface IdempotentAnswer extends RenderedAnswer {
  readonly replayed: boolean;
}

export class Idempotency {
  readonly #store: Pick<Store, 'findReceipt'>;
  readonly #clock: Clock;
  readonly #inFlight = new Set<string>();

  constructor(store: Pick<Store, 'findReceipt'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Lets `act` take effect once for each key. A null request has no key, so it always takes effect. */
  async once(
    partition: Partition,
    request: IdempotentRequest | null,
    act: (makeReceipt: MakeReceipt) => Promise<RenderedAnswer>,
  ): Promise<IdempotentAnswer> {
    if (request === null) return firstAnswer(await act(() => null));

    const key = `${partition}/${request.key}`;
    if (this.#inFlight.has(key)) throw new Refusal('idempotency_in_progress');
    this.#inFlight.add(key);
    try {
      return firstAnswer(await act(receiptMaker(request)));
    } catch (error) {
      const earlier = await this.#findEarlierAnswer(partition, request);
      if (earlier !== null) return earlier;
      throw error instanceof IdempotencyKeyTaken ? new Refusal('idempotency_in_progress') : error;
    } finally {
      this.#inFlight.delete(key);
    }
  }

  async #findEarlierAnswer(
    partition: Partition,
    request: IdempotentRequest,
  ): Promise<IdempotentAnswer | null> {
    const receipt = await this.#store.findReceipt(partition, request.key, this.#clock.now());
    if (receipt === null) return null;
    if (receipt.fingerprint !== request.fingerprint) throw new Refusal('idempotency_key_reuse');
    return { status: receipt.status, body: receipt.body, replayed: true };
  }
}

function firstAnswer({ status, body }: RenderedAnswer): IdempotentAnswer {
  return { status, body, replayed: false };
}

function receiptMaker({ key, fingerprint }: IdempotentRequest): MakeReceipt {
  return ({ status, body }, now) => ({
    key,
    fingerprint,
    status,
    body,
    createdAt: now,
    expiresAt: instant(now + IDEMPOTENCY_WINDOW_MS),
  });
}
