/**
 * Reads and opens large payloads before they are claimed: a few at a time, customers in turns, with a pause after each,
 * so that nothing else waits for them. Medium ones and the largest are read apart: many of 20 KB would wait too long for
 * turns that last as long as a megabyte. Each is answered by itself. They hold the permits of their delivery meanwhile,
 * which bound how many there are and the memory that they take.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import type { Draft, RequestBuilder, Unsendable } from '#src/engine/attempt/request-builder.ts';
import { type EngineDependencies, pause } from '#src/engine/dependencies.ts';

/** A payload up to this size does not wait for larger ones. */
const MEDIUM_BYTES_MAX = 65_536;
/** Bytes that are read at one time, and one payload more: a store may be far away. Of each size. */
const LOADING_BYTES_MAX = 1_048_576;

interface Waiting {
  readonly delivery: Delivery;
  readonly isWanted: () => boolean;
  readonly resolve: (draft: Draft | Unsendable | null) => void;
  readonly reject: (error: unknown) => void;
}

export class PayloadLoader {
  readonly #medium: Loading;
  readonly #large: Loading;

  constructor(dependencies: Pick<EngineDependencies, 'timers'>, builder: RequestBuilder) {
    this.#medium = new Loading(dependencies, builder);
    this.#large = new Loading(dependencies, builder);
  }

  /** Null where it is not wanted any more when its turn comes. Rejects while the store is away. */
  load(delivery: Delivery, isWanted: () => boolean): Promise<Draft | Unsendable | null> {
    const loading = delivery.payloadBytes <= MEDIUM_BYTES_MAX ? this.#medium : this.#large;
    return loading.load(delivery, isWanted);
  }
}

class Loading {
  readonly #timers: EngineDependencies['timers'];
  readonly #builder: RequestBuilder;
  readonly #waiting = new RoundRobinQueue<Waiting>();
  #loadingBytes = 0;

  constructor({ timers }: Pick<EngineDependencies, 'timers'>, builder: RequestBuilder) {
    this.#timers = timers;
    this.#builder = builder;
  }

  load(delivery: Delivery, isWanted: () => boolean): Promise<Draft | Unsendable | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(delivery.partition, { delivery, isWanted, resolve, reject });
      this.#loadMore();
    });
  }

  #loadMore(): void {
    while (this.#loadingBytes < LOADING_BYTES_MAX) {
      const next = this.#waiting.next();
      if (next === undefined) return;
      if (next.isWanted()) void this.#load(next);
      else next.resolve(null);
    }
  }

  async #load({ delivery, resolve, reject }: Waiting): Promise<void> {
    this.#loadingBytes += delivery.payloadBytes;
    try {
      resolve(await this.#builder.draft(delivery));
    } catch (error) {
      reject(error);
    }
    await pause(this.#timers, 0);
    this.#loadingBytes -= delivery.payloadBytes;
    this.#loadMore();
  }
}
