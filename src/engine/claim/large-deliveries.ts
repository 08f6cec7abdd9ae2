/**
 * Deliveries with large payloads, from the moment they are due until their payload is at hand. Each is decided on by
 * itself then. One whose payload cannot be read is looked at again a moment later, and nobody else waits for it.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import { type Draft, UNREADABLE, type Unsendable } from '#src/engine/attempt/request-builder.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { Queue, Read } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { PayloadLoader } from './payload-loader.ts';

/** A payload that could not be read is read again after this time. */
const AGAIN_MS = 500;

export interface LargeDeliveriesDependencies extends Pick<EngineDependencies, 'clock' | 'log' | 'timers'> {
  readonly ownership: SlotOwnership;
  readonly gates: Pick<Gates, 'unpin'>;
  readonly queue: Queue;
  readonly bodies: PayloadLoader;
  /** Decides on one whose payload is at hand. Never rejects. */
  decide(read: Read): Promise<void>;
}

export class LargeDeliveries {
  readonly #dependencies: LargeDeliveriesDependencies;
  readonly #loading = new Set<Promise<void>>();
  readonly #outage: OutageLog;

  constructor(dependencies: LargeDeliveriesDependencies) {
    this.#dependencies = dependencies;
    this.#outage = warnsOfOutage(dependencies, 'a payload could not be read', 'payloads are read again');
  }

  begin(read: Read): void {
    const loading = this.#load(read).finally(() => this.#loading.delete(loading));
    this.#loading.add(loading);
  }

  /** Resolves when everything that is being read now has been decided on. */
  async loaded(): Promise<void> {
    await Promise.all(this.#loading);
  }

  async #load(read: Read): Promise<void> {
    const { gates, queue } = this.#dependencies;
    const { due } = read;
    const loaded = await this.#draft(read);
    if (loaded.draft !== null && this.#isWanted(read)) {
      await this.#dependencies.decide({ ...read, draft: loaded.draft });
      return;
    }
    gates.unpin([due]);
    queue.release(due);
    if (loaded.againAt !== null) queue.due({ ...due, dueAt: loaded.againAt });
  }

  async #draft(
    read: Read,
  ): Promise<{ readonly draft: Draft | Unsendable | null; readonly againAt: Instant | null }> {
    const { due, work } = read;
    try {
      const draft = await this.#dependencies.bodies.load(work.delivery, () => this.#isWanted(read));
      this.#outage.succeeded();
      return { draft, againAt: null };
    } catch (error) {
      this.#outage.failed({ delivery: due.id, error: String(error) });
      const isAway = error instanceof StoreUnavailable;
      return isAway ? { draft: null, againAt: this.#again() } : { draft: UNREADABLE, againAt: null };
    }
  }

  #again(): Instant {
    return instant(this.#dependencies.clock.now() + AGAIN_MS);
  }

  #isWanted({ due, epoch }: Read): boolean {
    const { ownership, queue } = this.#dependencies;
    return !queue.isStopped && ownership.epochOf(due) === epoch;
  }
}
