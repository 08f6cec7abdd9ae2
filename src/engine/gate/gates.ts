/**
 * The gates of the endpoints this node sends to. Most endpoints have none: it takes a failure, a retry or a
 * rate limit to make one. They live in memory, are saved a moment after they change and at once when a breaker
 * opens or closes and when a turn is taken, and are read back with the first delivery that needs them.
 *
 * They never outlive the hold on their slot: whoever holds it next reads them from the store. Those that a node
 * gives back are saved before, those that it lost are forgotten.
 *
 * Deliveries that an open breaker deferred are remembered, as many as fit: when it closes early they need not
 * wait for the end of its window.
 */

import { countsAfterReset, type Evidence, stateOf } from '#src/domain/breaker.ts';
import type { DueDelivery, EndpointRef } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { BreakerPolicy } from '#src/domain/endpoint-profile.ts';
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import {
  type Gate,
  hasTakenToken,
  isForgettable,
  NEW_GATE,
  withBreakerReset,
  withEvidence,
  withTokensOf,
} from '#src/domain/gate.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Slot } from '#src/domain/slot.ts';
import { type SlotOwnership, slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import type { LoadedDelivery, SavedGate } from '#src/ports/store.ts';

const GATES_MAX = 20_000;
const FORGET_LOOKED_AT_MAX = 32;
const SAVE_EVERY_MS = 1_000;
const SAVED_TOGETHER_MAX = 200;
const DEFERRED_PER_GATE_MAX = 1_000;
const DEFERRED_MAX = 20_000;
/** A customer's deliveries that wait here may take so many times what is free. */
const DEFERRED_SHARE = 4;

/** Turns that were taken, and of which it is not known yet whether they are used. */
interface Turns {
  /** The gate before the first of them. */
  readonly base: Gate;
  open: number;
  areUsed: boolean;
}

interface Kept {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  gate: Gate;
  isSaved: boolean;
  readonly deferred: Map<DeliveryId, DueDelivery>;
  turns: Turns | null;
  /** By hand. */
  closedAt: Instant | null;
}

export class Gates {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: SlotOwnership;
  /** The one used longest ago first. */
  readonly #kept = new Map<string, Kept>();
  /** How many attempts are under way; their gates are not forgotten meanwhile. */
  readonly #attempts = new Map<string, number>();
  /** In how many batches they are being read. */
  readonly #reads = new Map<string, number>();
  readonly #outage: OutageLog;
  readonly #deferred = new FairShareLimit(DEFERRED_MAX, DEFERRED_SHARE);
  #callOff: (() => void) | null = null;
  #isSaving = false;
  #isSaveWanted = false;

  constructor(dependencies: EngineDependencies, ownership: SlotOwnership) {
    this.#dependencies = dependencies;
    this.#ownership = ownership;
    this.#outage = warnsOfOutage(
      dependencies,
      'the state of the gates could not be saved',
      'the state of the gates is saved again',
    );
  }

  /** What is in memory is newer than what was read with the delivery. */
  get(ref: EndpointRef, read: LoadedDelivery['gate']): Gate {
    const known = this.#kept.get(endpointRefKey(ref));
    if (known !== undefined) return known.gate;
    if (read === null) return NEW_GATE;
    this.#kept.set(endpointRefKey(ref), { ...keptOf(ref, read), isSaved: true });
    if (this.#kept.size > GATES_MAX) this.#forgetOne();
    return read;
  }

  /** Whether its breaker is open, as far as is known. */
  isBreakerOpen(due: DueDelivery, read: LoadedDelivery['gate']): boolean {
    const gate = this.#kept.get(endpointRefKey(due))?.gate ?? read;
    return gate !== null && gate.breaker.openUntil !== null;
  }

  set(ref: EndpointRef, gate: Gate): void {
    const key = endpointRefKey(ref);
    const before = this.#kept.get(key);
    if (before === undefined && gate === NEW_GATE) return;
    if (before?.gate === gate) return;
    const kept = before ?? keptOf(ref, gate);
    const turned = (before?.gate.breaker.openUntil ?? null) !== gate.breaker.openUntil;
    kept.gate = gate;
    kept.isSaved = false;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    this.#saveIn(turned ? 0 : SAVE_EVERY_MS);
  }

  /**
   * The gate let a delivery through or put it off. Whether a turn was taken for it: then `turnEnds` has to tell
   * what became of it.
   */
  recordDecision(due: DueDelivery, before: Gate, after: Gate): boolean {
    this.set(due, after);
    const kept = this.#kept.get(endpointRefKey(due));
    if (kept === undefined || !hasTakenToken(before, after)) return false;
    kept.turns ??= { base: before, open: 0, areUsed: false };
    kept.turns.open++;
    return true;
  }

  /**
   * The decision is stored, and its turn used, or it is not. Turns are reserved one after the other, so a single
   * one cannot be given back without another being reserved twice; but where none of those taken together was
   * used, as with a store that is away, all of them are.
   */
  settleToken(due: DueDelivery, wasUsed: boolean): void {
    const kept = this.#kept.get(endpointRefKey(due));
    const turns = kept?.turns ?? null;
    if (kept === undefined || turns === null) return;
    turns.open--;
    turns.areUsed ||= wasUsed;
    if (turns.open > 0) return;
    kept.turns = null;
    if (!turns.areUsed) this.set(due, withTokensOf(kept.gate, turns.base));
  }

  /** Remembers one that the breaker deferred, with the instant it was deferred to; false when it has closed meanwhile. */
  rememberDeferred(due: DueDelivery): boolean {
    const kept = this.#kept.get(endpointRefKey(due));
    if (kept === undefined || kept.gate.breaker.openUntil === null) return false;
    const isNew = !kept.deferred.has(due.id);
    const hasRoom = this.#deferred.canAcquire(due.partition) && kept.deferred.size < DEFERRED_PER_GATE_MAX;
    if (isNew && !hasRoom) return true;
    kept.deferred.set(due.id, due);
    if (isNew) this.#deferred.acquire(due.partition, 1);
    return true;
  }

  /** It is looked at again: it is not deferred any more, or will be anew. */
  forgetDeferred(due: DueDelivery): void {
    const wasDeferred = this.#kept.get(endpointRefKey(due))?.deferred.delete(due.id) === true;
    if (wasDeferred) this.#deferred.release(due.partition, 1);
  }

  /**
   * Gates are about to be read with their deliveries, and are kept until that has been answered: what was read
   * may be older by then than what was saved and forgotten meanwhile.
   */
  pin(refs: readonly EndpointRef[]): void {
    for (const ref of refs) countUp(this.#reads, endpointRefKey(ref));
  }

  unpin(refs: readonly EndpointRef[]): void {
    for (const ref of refs) countDown(this.#reads, endpointRefKey(ref));
  }

  /** An attempt begins: its gate is kept until it has taught it something. */
  beginAttempt(due: DueDelivery): void {
    countUp(this.#attempts, endpointRefKey(due));
  }

  /**
   * An attempt has ended; answers those that need not wait any longer. `probeOf` is the window it was to probe: of
   * one that has been opened again meanwhile it is no probe.
   */
  endAttempt(
    due: DueDelivery,
    policy: BreakerPolicy,
    evidence: Evidence,
    probeOf: Instant | null,
    now: Instant,
  ): readonly DueDelivery[] {
    countDown(this.#attempts, endpointRefKey(due));
    const before = this.get(due, null);
    const isProbe = probeOf !== null && probeOf === before.breaker.openUntil;
    this.set(due, withEvidence(before, policy, evidence, isProbe, now));
    return this.#freed(due);
  }

  /** A person closes the breaker of a gate that is being read; answers those that need not wait any longer. */
  resetBreaker(ref: EndpointRef, now: Instant): readonly DueDelivery[] {
    const kept = this.#kept.get(endpointRefKey(ref));
    if (kept === undefined) return [];
    this.set(ref, withBreakerReset(kept.gate));
    kept.closedAt = now;
    return this.#freed(ref);
  }

  /** Whether a failure of an attempt that went out then may still be held against its endpoint. */
  isFailureCounted(due: DueDelivery, firedAt: Instant, now: Instant): boolean {
    const closedAt = this.#kept.get(endpointRefKey(due))?.closedAt ?? null;
    return closedAt === null || countsAfterReset(firedAt, closedAt, now);
  }

  #freed(ref: EndpointRef): readonly DueDelivery[] {
    const kept = this.#kept.get(endpointRefKey(ref));
    if (kept === undefined || kept.gate.breaker.openUntil !== null) return [];
    const freed = [...kept.deferred.values()];
    kept.deferred.clear();
    this.#deferred.release(kept.partition, freed.length);
    return freed;
  }

  countBreakers(now: Instant): { readonly open: number; readonly halfOpen: number } {
    let open = 0;
    let halfOpen = 0;
    for (const { gate } of this.#kept.values()) {
      const state = stateOf(gate.breaker, now);
      if (state === 'open') open++;
      else if (state === 'half_open') halfOpen++;
    }
    return { open, halfOpen };
  }

  #saveIn(ms: number): void {
    if (this.#callOff !== null && ms > 0) return;
    this.#callOff?.();
    this.#callOff = this.#dependencies.timers.after(ms, () => {
      this.#callOff = null;
      void this.#saveAll();
    });
  }

  async #saveAll(): Promise<void> {
    this.#isSaveWanted = true;
    if (this.#isSaving) return;
    this.#isSaving = true;
    try {
      while (this.#isSaveWanted) {
        this.#isSaveWanted = false;
        await this.save();
      }
      this.#outage.succeeded();
      this.#forgetSome();
    } catch (error) {
      this.#outage.failed({ error: String(error) });
      this.#saveIn(SAVE_EVERY_MS);
    } finally {
      this.#isSaving = false;
    }
  }

  /** Saves everything that changed since it was saved last. */
  save(): Promise<void> {
    return this.#save(this.#kept.values());
  }

  /** Saves one, if it changed. */
  async saveOne(ref: EndpointRef): Promise<void> {
    const kept = this.#kept.get(endpointRefKey(ref));
    if (kept !== undefined) await this.#save([kept]);
  }

  /**
   * Saves the gates of deliveries that took a turn. Asked for before the turns are written down, so that a
   * crash forgets none that was used.
   */
  async saveTokens(dues: readonly DueDelivery[]): Promise<void> {
    const kept = dues.map((due) => this.#kept.get(endpointRefKey(due))).filter((one) => one !== undefined);
    try {
      await this.#save(new Set(kept));
    } catch {
      this.#saveIn(SAVE_EVERY_MS);
    }
  }

  /** Saves what changed of these slots. */
  saveSlots(slots: ReadonlySet<Slot>): Promise<void> {
    return this.#save(
      [...this.#kept.values()].filter((kept) => !kept.isSaved && slots.has(slotOfEndpoint(kept))),
    );
  }

  /** They are somebody else's from now on, saved or not. */
  forgetSlots(slots: ReadonlySet<Slot>): void {
    for (const [key, kept] of this.#kept) {
      if (!slots.has(slotOfEndpoint(kept))) continue;
      this.#deferred.release(kept.partition, kept.deferred.size);
      this.#kept.delete(key);
    }
  }

  async #save(gates: Iterable<Kept>): Promise<void> {
    const { store, clock } = this.#dependencies;
    const unsaved = [...gates].filter(({ isSaved }) => !isSaved);
    for (let at = 0; at < unsaved.length; at += SAVED_TOGETHER_MAX) {
      const part = unsaved.slice(at, at + SAVED_TOGETHER_MAX);
      const now = clock.now();
      const written = part.map(({ gate }) => gate);
      const saved = part.map((kept) => toSave(kept, now));
      await store.saveGates(saved, this.#ownership.fence);
      for (const [index, kept] of part.entries()) kept.isSaved = kept.gate === written[index];
    }
  }

  /** Saved ones can be read again; those that say nothing need not be. */
  #forgetSome(): void {
    const now = this.#dependencies.clock.now();
    let excess = this.#kept.size - GATES_MAX;
    for (const [key, kept] of this.#kept) {
      if (!this.#isSpare(key, kept)) continue;
      if (excess <= 0 && !isForgettable(kept.gate, now)) continue;
      this.#kept.delete(key);
      excess--;
    }
  }

  /** One of those used longest ago that is not in use. */
  #forgetOne(): void {
    let looked = 0;
    for (const [key, kept] of this.#kept) {
      if (looked++ >= FORGET_LOOKED_AT_MAX) return;
      if (!this.#isSpare(key, kept)) continue;
      this.#kept.delete(key);
      return;
    }
  }

  #isSpare(key: string, { isSaved, deferred, turns }: Kept): boolean {
    const isInUse = this.#attempts.has(key) || this.#reads.has(key);
    return isSaved && deferred.size === 0 && turns === null && !isInUse;
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = null;
  }
}

function keptOf({ partition, endpoint }: EndpointRef, gate: Gate): Kept {
  return { partition, endpoint, gate, isSaved: false, deferred: new Map(), turns: null, closedAt: null };
}

function countUp(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function countDown(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

function toSave({ partition, endpoint, gate }: Kept, now: Instant): SavedGate {
  return { partition, endpoint, gate: isForgettable(gate, now) ? null : gate, savedAt: now };
}
