/**
 * The gates of all endpoints that this process dispatches: circuit breaker, retry budget and rate limit. The rules are
 * in `domain/gate.ts`. This class keeps the state: it is read with the first delivery that needs it, changed in memory,
 * and saved.
 *
 * A gate is saved a moment after it changed, and at once when its breaker opened or closed or a token was taken. Gates
 * never outlive the ownership of their slot, because the next owner reads them from the store. Gates of slots that
 * this node releases are saved before; gates of slots that it lost are forgotten.
 */
import { countsAfterReset, type Evidence, stateOf } from '#src/domain/breaker.ts';
import type { DueDelivery, EndpointRef } from '#src/domain/due-delivery.ts';
import type { BreakerPolicy } from '#src/domain/endpoint-profile.ts';
import {
  type Gate,
  hasTakenToken,
  NEW_GATE,
  withBreakerReset,
  withEvidence,
  withTokensOf,
} from '#src/domain/gate.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import { DeferredByBreaker } from './deferred-by-breaker.ts';
import { GateCache } from './gate-cache.ts';
import { GateSaver } from './gate-saver.ts';
import { TokenLedger } from './token-ledger.ts';

type Dependencies = Pick<EngineDependencies, 'store' | 'clock' | 'timers' | 'log'>;

/** The gate in memory is always newer than the one that was loaded with a delivery. */
export class Gates {
  readonly #cache = new GateCache();
  readonly #tokens = new TokenLedger(this.#cache);
  readonly #deferred = new DeferredByBreaker(this.#cache);
  readonly #saver: GateSaver;

  constructor(dependencies: Dependencies, ownership: Pick<SlotOwnership, 'fence'>) {
    const { store, clock, timers, log } = dependencies;
    this.#saver = new GateSaver({ store, clock, timers, log, cache: this.#cache, ownership });
  }

  /** Returns the gate in memory, or else the one that was loaded with the delivery. */
  get(ref: EndpointRef, loaded: LoadedDelivery['gate']): Gate {
    const cached = this.#cache.get(ref);
    if (cached !== undefined) return cached.gate;
    if (loaded === null) return NEW_GATE;
    this.#cache.addSaved(ref, loaded);
    return loaded;
  }

  isBreakerOpen(due: DueDelivery, loaded: LoadedDelivery['gate']): boolean {
    const gate = this.#cache.get(due)?.gate ?? loaded;
    return gate !== null && gate.breaker.openUntil !== null;
  }

  set(ref: EndpointRef, gate: Gate): void {
    const before = this.#cache.get(ref)?.gate ?? NEW_GATE;
    if (gate === before) return;
    this.#cache.change(ref, gate);
    if (gate.breaker.openUntil === before.breaker.openUntil) this.#saver.saveSoon();
    else this.#saver.saveNow();
  }

  /**
   * The gate let a delivery pass, or deferred it. Returns true when that took a token: then `settleToken` must be
   * called once it is known whether the token is used.
   */
  recordDecision(due: DueDelivery, before: Gate, after: Gate): boolean {
    this.set(due, after);
    if (!hasTakenToken(before, after)) return false;
    this.#tokens.take(due, before);
    return true;
  }

  /** The decision that took a token is stored, and so the token is used, or the decision is not stored. */
  settleToken(due: DueDelivery, wasUsed: boolean): void {
    const base = this.#tokens.settle(due, wasUsed);
    const gate = this.#cache.get(due)?.gate;
    if (base !== null && gate !== undefined) this.set(due, withTokensOf(gate, base));
  }

  /** Remembers a delivery that the breaker deferred. Returns false when the breaker has closed meanwhile. */
  rememberDeferred(due: DueDelivery): boolean {
    const gate = this.#cache.get(due)?.gate ?? NEW_GATE;
    if (gate.breaker.openUntil === null) return false;
    this.#deferred.add(due);
    return true;
  }

  /** The delivery is being decided on again, so it is no longer deferred. */
  forgetDeferred(due: DueDelivery): void {
    this.#deferred.remove(due);
  }

  /**
   * Keeps gates in memory while they are being read with their deliveries. Otherwise a gate could be saved and
   * evicted meanwhile, and the older state that was read would come back.
   */
  pin(refs: readonly EndpointRef[]): void {
    for (const ref of refs) this.#cache.pin(ref);
  }

  unpin(refs: readonly EndpointRef[]): void {
    for (const ref of refs) this.#cache.unpin(ref);
  }

  /** The gate stays in memory until `endAttempt` has changed it. */
  beginAttempt(due: DueDelivery): void {
    this.#cache.pin(due);
  }

  /**
   * Applies the evidence of an attempt. Returns the deferred deliveries that need not wait any longer. `probeOf` says
   * which window the attempt probed, by the end of that window; null means that it was no probe. If the breaker has
   * opened again since, the attempt does not count as a probe of the new window.
   */
  endAttempt(
    due: DueDelivery,
    policy: BreakerPolicy,
    evidence: Evidence,
    probeOf: Instant | null,
    now: Instant,
  ): readonly DueDelivery[] {
    const before = this.get(due, null);
    const isProbe = probeOf !== null && probeOf === before.breaker.openUntil;
    this.set(due, withEvidence(before, policy, evidence, isProbe, now));
    this.#cache.unpin(due);
    return this.#releasable(due);
  }

  /** A person resets the breaker. The gate must be pinned. Returns the deliveries that need not wait any longer. */
  resetBreaker(ref: EndpointRef, now: Instant): readonly DueDelivery[] {
    const cached = this.#cache.get(ref);
    if (cached === undefined) return [];
    this.set(ref, withBreakerReset(cached.gate));
    this.#cache.noteReset(ref, now);
    return this.#releasable(ref);
  }

  /** Returns true when a failure of an attempt that was sent at `firedAt` counts against its endpoint. */
  isFailureCounted(due: DueDelivery, firedAt: Instant, now: Instant): boolean {
    const resetAt = this.#cache.get(due)?.resetAt ?? null;
    return resetAt === null || countsAfterReset(firedAt, resetAt, now);
  }

  #releasable(ref: EndpointRef): readonly DueDelivery[] {
    const isOpen = (this.#cache.get(ref)?.gate ?? NEW_GATE).breaker.openUntil !== null;
    return isOpen ? [] : this.#deferred.takeAll(ref);
  }

  countBreakers(now: Instant): { readonly open: number; readonly halfOpen: number } {
    let open = 0;
    let halfOpen = 0;
    for (const { gate } of this.#cache.values()) {
      const state = stateOf(gate.breaker, now);
      if (state === 'open') open++;
      else if (state === 'half_open') halfOpen++;
    }
    return { open, halfOpen };
  }

  /** Saves every gate that has changed. */
  save(): Promise<void> {
    return this.#saver.saveAll();
  }

  saveOne(ref: EndpointRef): Promise<void> {
    return this.#saver.saveOnly([ref]);
  }

  /**
   * Saves the gates of deliveries that took a token. It is called before the decisions are written, so that a crash
   * never forgets a token that was used. Never rejects: a save that fails is tried again.
   */
  async saveTokens(dues: readonly DueDelivery[]): Promise<void> {
    try {
      await this.#saver.saveOnly(dues);
    } catch {
      this.#saver.saveSoon();
    }
  }

  saveSlots(slots: ReadonlySet<Slot>): Promise<void> {
    return this.#saver.saveSlots(slots);
  }

  /** Another node owns these slots from now on, so nothing of them is saved any more. */
  forgetSlots(slots: ReadonlySet<Slot>): void {
    for (const gate of this.#cache.removeSlots(slots)) {
      this.#tokens.drop(gate);
      this.#deferred.takeAll(gate);
    }
  }

  /** Ends the saves in the background. */
  stop(): void {
    this.#saver.stop();
  }
}
