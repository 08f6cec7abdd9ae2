/**
 * Idempotent requests. The receipt, with the finished answer, is stored in the same transaction as the
 * effect; so there is never an effect without a receipt or a key that is stuck, whatever crashes when.
 * What is in flight is known only in memory: on another node, the second of two equal requests does its
 * work in vain, finds the key taken when it stores, and gives the first one's answer. A request made again
 * later goes the same way: to look for a receipt first would cost every new request a read, and nearly all are
 * new. Whatever keeps the act from being stored, a receipt under its key is the answer.
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
  /** Of method, path and the raw bytes of the body. */
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

  /** Has `act` take effect once per key; null: no key, every request counts. */
  async once(
    partition: Partition,
    request: IdempotentRequest | null,
    act: (keep: MakeReceipt) => Promise<RenderedAnswer>,
  ): Promise<IdempotentAnswer> {
    if (request === null) return afresh(await act(keepNothing));

    const slot = `${partition}/${request.key}`;
    if (this.#inFlight.has(slot)) throw new Refusal('idempotency_in_progress');
    this.#inFlight.add(slot);
    try {
      return afresh(await act(keepFor(request)));
    } catch (error) {
      const earlier = await this.#earlier(partition, request);
      if (earlier !== null) return earlier;
      throw error instanceof IdempotencyKeyTaken ? new Refusal('idempotency_in_progress') : error;
    } finally {
      this.#inFlight.delete(slot);
    }
  }

  async #earlier(partition: Partition, request: IdempotentRequest): Promise<IdempotentAnswer | null> {
    const receipt = await this.#store.findReceipt(partition, request.key, this.#clock.now());
    if (receipt === null) return null;
    if (receipt.fingerprint !== request.fingerprint) throw new Refusal('idempotency_key_reuse');
    return { status: receipt.status, body: receipt.body, replayed: true };
  }
}

function afresh({ status, body }: RenderedAnswer): IdempotentAnswer {
  return { status, body, replayed: false };
}

function keepNothing(): null {
  return null;
}

function keepFor({ key, fingerprint }: IdempotentRequest): MakeReceipt {
  return ({ status, body }, now) => ({
    key,
    fingerprint,
    status,
    body,
    createdAt: now,
    expiresAt: instant(now + IDEMPOTENCY_WINDOW_MS),
  });
}
