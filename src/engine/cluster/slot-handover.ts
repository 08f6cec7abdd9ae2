/**
 * Releases slots, so that other nodes can take them. The order matters: no new batch begins for the slots, the batches
 * in flight end, the gates are saved, the store frees the slots, and the other nodes are notified. So the next owner
 * reads everything that this node knew.
 */
import type { Slot } from '#src/domain/slot.ts';
import type { ClusterDependencies, EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { BatchesInFlight } from '#src/engine/queue/batches-in-flight.ts';
import type { OwnedSlots } from './slot-ownership.ts';

export interface SlotHandoverDependencies
  extends Pick<ClusterDependencies, 'store' | 'peers' | 'metrics'>,
    Pick<EngineDependencies, 'log'> {
  readonly ownedSlots: OwnedSlots;
  readonly batches: Pick<BatchesInFlight, 'ended'>;
  readonly gates: Pick<Gates, 'saveSlots' | 'forgetSlots'>;
}

export class SlotHandover {
  readonly #dependencies: SlotHandoverDependencies;
  /** The epochs in which slots were released. They are over, whatever an earlier answer of the store says. */
  readonly #releasedEpochs = new Map<Slot, number>();
  readonly #inProgress = new Set<Promise<boolean>>();

  constructor(dependencies: SlotHandoverDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns true when the slots are released. When that failed, this node keeps them. */
  release(slots: ReadonlySet<Slot>): Promise<boolean> {
    if (slots.size === 0) return Promise.resolve(true);
    const released = this.#release(slots).finally(() => this.#inProgress.delete(released));
    this.#inProgress.add(released);
    return released;
  }

  /** Resolves when every release that is in progress has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#inProgress);
  }

  /** Returns true when this node released the slot, or is about to, in that epoch. */
  isReleased(slot: Slot, epoch: number): boolean {
    return this.#releasedEpochs.get(slot) === epoch;
  }

  /** Every later answer of the store is newer than these releases. */
  forgetReleased(): void {
    const owned = this.#dependencies.ownedSlots.fence.epochs;
    for (const slot of this.#releasedEpochs.keys()) if (!owned.has(slot)) this.#releasedEpochs.delete(slot);
  }

  /** Never rejects. */
  async #release(slots: ReadonlySet<Slot>): Promise<boolean> {
    const { store, peers, metrics, log, ownedSlots, batches, gates } = this.#dependencies;
    const requested = ownedSlots.beginRelease(slots);
    try {
      await batches.ended();
      await gates.saveSlots(slots);
      // Some may have been lost to other nodes meanwhile.
      const fence = ownedSlots.stillOwned(requested);
      for (const [slot, epoch] of fence.epochs) this.#releasedEpochs.set(slot, epoch);
      await store.releaseSlots(fence);
      const released = new Set(fence.epochs.keys());
      ownedSlots.remove(released);
      gates.forgetSlots(released);
      metrics.slotsMoved('released', released.size);
      peers.slotsChanged();
      return true;
    } catch (error) {
      log.warn({ error: String(error) }, 'slots could not be released');
      for (const slot of slots) this.#releasedEpochs.delete(slot);
      ownedSlots.cancelRelease(slots);
      return false;
    }
  }
}
