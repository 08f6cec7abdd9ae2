/**
 * Reads and opens large payloads before their delivery is claimed: a few at a time, round robin by customer, with a
 * pause after each, so that nothing else waits for them. Medium payloads and the largest are read apart, because many
 * of 20 KB must not wait behind megabytes.
 *
 * A delivery holds its permits while its payload is read. The permits bound how many payloads are in memory.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import type { Draft, RequestBuilder, Unsendable } from '#src/engine/attempt/request-builder.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { pause } from '#src/ports/system.ts';

/** A payload up to this size does not wait for larger ones. */
const MEDIUM_BYTES_MAX = 65_536;
/** While fewer bytes than this are being read, another payload is read too: a store may be far away. */
const LOADING_BYTES_MAX = 1_048_576;

interface Waiting {
  readonly delivery: Delivery;
  readonly isWanted: () => boolean;
  readonly resolve: (draft: Draft | Unsendable | null) => void;
  readonly reject: (error: unknown) => void;
}

export class LargePayloads {
  readonly #medium: PayloadReader;
  readonly #large: PayloadReader;

  constructor(dependencies: Pick<EngineDependencies, 'timers'>, builder: RequestBuilder) {
    this.#medium = new PayloadReader(dependencies, builder);
    this.#large = new PayloadReader(dependencies, builder);
  }

  /** Null when the payload is not wanted any more by the time it would be read. Rejects while the store is away. */
  load(delivery: Delivery, isWanted: () => boolean): Promise<Draft | Unsendable | null> {
    const reader = delivery.payloadBytes <= MEDIUM_BYTES_MAX ? this.#medium : this.#large;
    return reader.load(delivery, isWanted);
  }
}

class PayloadReader {
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
