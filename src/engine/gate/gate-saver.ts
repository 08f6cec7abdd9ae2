/**
 * Saves changed gates: a moment after a change, or at once when a breaker opened or closed. After a save it evicts
 * gates that are no longer needed in memory.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { isForgettable } from '#src/domain/gate.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import { type SlotOwnership, slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { SavedGate } from '#src/ports/store.ts';
import type { CachedGate, GateCache } from './gate-cache.ts';

const SAVE_WITHIN_MS = 1_000;
/** Gates that are saved by one write. */
const BATCH_MAX = 200;

export interface GateSaverDependencies
  extends Pick<EngineDependencies, 'store' | 'clock' | 'timers' | 'log'> {
  readonly cache: GateCache;
  readonly ownership: Pick<SlotOwnership, 'fence'>;
}

/** A gate counts as saved only when the store has its latest state. */
export class GateSaver {
  readonly #dependencies: GateSaverDependencies;
  readonly #outage: OutageLog;
  readonly #task: PeriodicTask;

  constructor(dependencies: GateSaverDependencies) {
    this.#dependencies = dependencies;
    this.#outage = warnsOfOutage(
      dependencies,
      'the state of the gates could not be saved',
      'the state of the gates is saved again',
    );
    this.#task = new PeriodicTask(
      dependencies.timers,
      () => this.#saveAndEvict(),
      (error) => {
        this.#outage.failed({ error: String(error) });
        return SAVE_WITHIN_MS;
      },
    );
  }

  saveSoon(): void {
    this.#task.runWithin(SAVE_WITHIN_MS);
  }

  saveNow(): void {
    this.#task.runNow();
  }

  /** Ends the saves in the background. `saveAll` still works. */
  stop(): void {
    void this.#task.stop();
  }

  async #saveAndEvict(): Promise<null> {
    const { cache, clock } = this.#dependencies;
    await this.saveAll();
    this.#outage.succeeded();
    cache.evictForgettable(clock.now());
    return null;
  }

  /** Saves every gate that has changed. */
  saveAll(): Promise<void> {
    return this.#save(this.#dependencies.cache.unsaved());
  }

  /** Saves the gates of these endpoints that have changed. */
  saveOnly(refs: readonly EndpointRef[]): Promise<void> {
    const gates = refs.map((ref) => this.#dependencies.cache.get(ref)).filter((gate) => gate !== undefined);
    return this.#save([...new Set(gates)].filter(({ isSaved }) => !isSaved));
  }

  /** Saves the gates of these slots that have changed. */
  saveSlots(slots: ReadonlySet<Slot>): Promise<void> {
    return this.#save(this.#dependencies.cache.unsaved().filter((gate) => slots.has(slotOfEndpoint(gate))));
  }

  async #save(gates: readonly CachedGate[]): Promise<void> {
    const { store, clock, cache, ownership } = this.#dependencies;
    for (let at = 0; at < gates.length; at += BATCH_MAX) {
      const batch = gates.slice(at, at + BATCH_MAX);
      const now = clock.now();
      // A gate may change while it is being saved.
      const states = batch.map(({ gate }) => gate);
      await store.saveGates(
        batch.map((gate) => savedGate(gate, now)),
        ownership.fence,
      );
      for (const [index, state] of states.entries()) {
        const saved = batch[index];
        if (saved !== undefined) cache.markSaved(saved, state);
      }
    }
  }
}

function savedGate({ partition, endpoint, gate }: CachedGate, now: Instant): SavedGate {
  return { partition, endpoint, gate: isForgettable(gate, now) ? null : gate, savedAt: now };
}
