/**
 * One node among those that share the store. In rounds it renews its lease, sees who else lives and who holds
 * what, and takes and gives back slots until everyone has its share (`domain/slot-rebalance.ts`).
 *
 * The lease counts from before its renewal was asked for, by the stopwatch, and ends here a little before it
 * ends for the others: by then this node has stopped claiming. Whoever was paused for longer finds out by its
 * epochs: a slot that somebody took meanwhile is in another one, and what was decided before is refused.
 *
 * Slots are given back in this order: no new batch begins for them, those under way end, the gates are saved,
 * then the slot is free, and the others are told. So what the next owner reads is all there is to know. A slot
 * that was lost is dropped at once, and its gates with it: they are not ours to save any more.
 *
 * A node that stops gives everything back at once, and keeps its lease until its requests have ended: without
 * it, others would take them for lost.
 */
import { instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import { planRebalance } from '#src/domain/slot-rebalance.ts';
import type { ClusterDependencies, EngineDependencies } from '#src/engine/dependencies.ts';
import type { ClusterState, NodeLease } from '#src/ports/cluster-store.ts';
import { pause } from '#src/ports/system.ts';
import { FarLeases } from './far-leases.ts';
import { OwnedSlots } from './owned-slots.ts';
import type { SlotOwnership } from './slot-ownership.ts';

/** With a round, a death is noticed within four seconds. */
const LEASE_MS = 3_200;
/** The clocks of two nodes differ by less. */
const LEASE_MARGIN_MS = 400;
const RENEW_EVERY_MS = 800;
/** After a renewal that failed. */
const RENEW_AGAIN_MS = 200;
/** Between two rounds, however often one is asked for. */
const ROUND_GAP_MS = 25;
const MS_PER_SECOND = 1_000;
/** Within this everyone has measured the clock and renewed its lease by it. */
const NOTICE_MS = LEASE_MS + 2_000;
/** A node that starts may do so just as the store comes back: within this whoever lives has renewed its lease. */
const NEWCOMER_NOTICE_MS = 2_000;
const NOBODY: ReadonlySet<string> = new Set();

/** Who has to do with slots that come and go. */
export interface MembershipListener {
  /** There is more to dispatch. */
  slotsGained(): void;
  /** Somebody died: its claims are nobody's any more. */
  nodesDied(): void;
  /** Resolves when no batch that is under way now is under way any more. */
  batchesEnd(): Promise<void>;
  saveGates(slots: ReadonlySet<Slot>): Promise<void>;
  forgetGates(slots: ReadonlySet<Slot>): void;
}

type Dependencies = Pick<EngineDependencies, 'clock' | 'timers' | 'log' | 'node'>;

export class Membership {
  readonly #dependencies: Dependencies;
  readonly #cluster: ClusterDependencies;
  readonly #inhabitants: MembershipListener;
  readonly #ownedSlots: OwnedSlots;
  /** The epochs in which slots were given back: those are over, whatever an answer says that was on its way. */
  readonly #givenBack = new Map<Slot, number>();
  readonly #givingBack = new Set<Promise<boolean>>();
  #nodes: readonly string[] = [];
  #round: Promise<boolean> = Promise.resolve(false);
  /** A round that was asked for and has not begun. */
  #nextRound: Promise<boolean> | null = null;
  #roundAt = Number.NEGATIVE_INFINITY;
  /** Until then nobody is taken for dead. */
  #lenientUntil = Number.NEGATIVE_INFINITY;
  readonly #farLeases = new FarLeases(NOTICE_MS);
  #timer: { readonly at: number; readonly callOff: () => void } | null = null;
  #wasActive = false;
  #isFailing = false;
  #state: 'new' | 'member' | 'stopping' | 'gone' = 'new';

  constructor(dependencies: Dependencies, cluster: ClusterDependencies, inhabitants: MembershipListener) {
    this.#dependencies = dependencies;
    this.#cluster = cluster;
    this.#inhabitants = inhabitants;
    this.#ownedSlots = new OwnedSlots(cluster, dependencies.node, () => this.syncSoon());
    cluster.metrics.watchCluster(() => ({
      slotsHeld: this.#ownedSlots.slots.size,
      nodes: this.#nodes.length,
      clockOffsetSeconds: cluster.clock.offsetMs / MS_PER_SECOND,
      isClockSure: cluster.clock.isSynchronized,
      isLeaseValid: this.#ownedSlots.isLeaseValid,
    }));
  }

  get ownership(): SlotOwnership {
    return this.#ownedSlots;
  }

  /** Whether it may dispatch what it holds. */
  get isActive(): boolean {
    return this.#ownedSlots.isActive;
  }

  /** The living as they were last seen. */
  get liveNodes(): readonly string[] {
    return this.#nodes;
  }

  /** The living as of now; rejects when that cannot be told. */
  async readLiveNodes(): Promise<readonly string[]> {
    if (!(await this.#anotherRound())) throw new Error('The living nodes are not known.');
    return this.#nodes;
  }

  /** Resolves after the first round, also when it failed: then there is nothing to dispatch yet. */
  async start(): Promise<void> {
    if (this.#state === 'new') this.#state = 'member';
    this.#lenientUntil = this.#cluster.stopwatch.elapsed() + NEWCOMER_NOTICE_MS;
    if (await this.#anotherRound()) this.#cluster.peers.slotsChanged();
  }

  /** Something has changed, or may have: soon, however often it is asked for. */
  syncSoon(): void {
    this.#roundIn(Math.max(this.#roundAt + ROUND_GAP_MS - this.#cluster.stopwatch.elapsed(), 0));
  }

  /** Gives everything back; the lease is kept. */
  async handOver(): Promise<void> {
    this.#state = 'stopping';
    // It may be taking slots.
    await this.#round;
    try {
      await this.#renew();
    } catch (error) {
      this.#dependencies.log.warn(
        { error: String(error) },
        'the other nodes could not be notified of the stop',
      );
    }
    // As long as it holds them, nobody dispatches them. What is being given back already may fail, and be kept.
    await Promise.all(this.#givingBack);
    while (this.#state === 'stopping' && !(await this.#giveBack(new Set(this.#ownedSlots.kept)))) {
      await pause(this.#dependencies.timers, RENEW_AGAIN_MS);
    }
  }

  /** Ends the lease: nothing of this node is under way any more. */
  async leave(): Promise<void> {
    this.#state = 'gone';
    this.#timer?.callOff();
    await this.#round;
    this.#ownedSlots.leaseIsValidUntil(Number.NEGATIVE_INFINITY);
    const { store, peers } = this.#cluster;
    const { node, log } = this.#dependencies;
    try {
      await store.leave(node);
      peers.slotsChanged();
    } catch (error) {
      log.warn({ error: String(error) }, 'the lease could not be released: it expires by itself');
    }
  }

  #roundIn(ms: number): void {
    if (this.#state === 'new' || this.#state === 'gone') return;
    const at = this.#cluster.stopwatch.elapsed() + ms;
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#timer?.callOff();
    const callOff = this.#dependencies.timers.after(ms, () => {
      this.#timer = null;
      void this.#anotherRound();
    });
    this.#timer = { at, callOff };
  }

  /** One that begins from now on; whether it succeeded. */
  #anotherRound(): Promise<boolean> {
    this.#nextRound ??= this.#round.then(() => {
      this.#nextRound = null;
      this.#round = this.#goRound();
      return this.#round;
    });
    return this.#nextRound;
  }

  /** Never rejects. */
  async #goRound(): Promise<boolean> {
    if (this.#state === 'gone') return false;
    this.#roundAt = this.#cluster.stopwatch.elapsed();
    const validUntil = this.#roundAt + LEASE_MS - LEASE_MARGIN_MS;
    this.#forgetGivenBack();
    try {
      const renewed = await this.#renew();
      this.#mindAbsence();
      const seen = await this.#bury(renewed);
      this.#wasActive &&= this.#ownedSlots.isActive;
      this.#reconcile(seen);
      this.#ownedSlots.leaseIsValidUntil(validUntil);
      const before = this.#nodes;
      this.#nodes = seen.nodes.map(({ node }) => node);
      await this.#share(seen);
      this.#activate();
      if (before.some((node) => !this.#nodes.includes(node))) this.#inhabitants.nodesDied();
      this.#roundIn(RENEW_EVERY_MS);
      return true;
    } catch (error) {
      this.#cluster.metrics.leaseRenewalFailed();
      if (!this.#isFailing)
        this.#dependencies.log.warn({ error: String(error) }, 'the lease could not be renewed');
      this.#isFailing = true;
      this.#roundIn(RENEW_AGAIN_MS);
      return false;
    }
  }

  /**
   * Who could not reach the store may not have been the only one, and whoever has not noticed yet that the clock
   * was set says so by the old time: for the time of a lease nobody is taken for dead. Those who really died
   * are found out that much later.
   */
  get #isLenient(): boolean {
    return this.#roundAt < this.#lenientUntil || this.#cluster.clock.sinceStepMs < NOTICE_MS;
  }

  /** Whatever is seen from now on was so after they were given back. */
  #forgetGivenBack(): void {
    const held = this.#ownedSlots.fence.epochs;
    for (const slot of this.#givenBack.keys()) if (!held.has(slot)) this.#givenBack.delete(slot);
  }

  #mindAbsence(): void {
    if (this.#isFailing) this.#lenientUntil = this.#roundAt + NOTICE_MS;
    this.#isFailing = false;
  }

  /** The cluster without its dead, who are put away. */
  async #bury(seen: ClusterState): Promise<ClusterState> {
    const dead = await this.#deadAmong(seen);
    if (dead.size === 0) return seen;
    const buried = new Set<NodeLease>();
    for (const lease of seen.nodes) {
      if (!dead.has(lease.node)) continue;
      if ((await this.#cluster.store.removeDeadNode(lease)) === 'done') buried.add(lease);
      // It has come back since, or another was faster.
      else this.syncSoon();
    }
    return { ...seen, nodes: seen.nodes.filter((lease) => !buried.has(lease)) };
  }

  /**
   * Those whose lease has ended, by a clock that was measured after that was seen; it may have been set. And when
   * it was set back: those whose lease ends far ahead and stays the same.
   */
  async #deadAmong({ nodes }: ClusterState): Promise<ReadonlySet<string>> {
    const { clock } = this.#cluster;
    const isEnded = (lease: NodeLease) => this.#isEnded(lease);
    this.#farLeases.see(nodes, clock.now(), this.#roundAt);
    if (!nodes.some(isEnded) && this.#farLeases.forgotten.length === 0) return NOBODY;
    await clock.measure();
    if (!clock.isSynchronized || this.#isLenient) return NOBODY;
    return new Set([...nodes.filter(isEnded).map(({ node }) => node), ...this.#farLeases.forgotten]);
  }

  /** It never takes itself for dead: a renewal that took longer than its lease is renewed again. */
  #isEnded({ node, leaseUntil }: NodeLease): boolean {
    return node !== this.#dependencies.node && leaseUntil <= this.#cluster.clock.now();
  }

  /** A lease by a wrong clock would end those of the others, or outlive this node. */
  async #renew(): Promise<ClusterState> {
    if (!this.#cluster.clock.isSynchronized) throw new Error('It is not known what time it is.');
    const { clock, node } = this.#dependencies;
    const leaseUntil = instant(clock.now() + LEASE_MS);
    const lease = { node, leaseUntil, isStopping: this.#state === 'stopping' };
    return this.#cluster.store.renewLease(lease);
  }

  /** What the store says is ours is; what it does not say is not. */
  #reconcile(seen: ClusterState): void {
    const { node, log } = this.#dependencies;
    const held = this.#ownedSlots.fence.epochs;
    const lost = new Set<Slot>();
    const found = new Map<Slot, number>();
    for (const { slot, owner, epoch } of seen.slots) {
      const isOurs = owner === node && epoch !== this.#givenBack.get(slot);
      const heldIn = held.get(slot);
      // What is being given back may be gone already.
      if (heldIn !== undefined && heldIn === this.#givenBack.get(slot)) continue;
      if (heldIn !== undefined && !(isOurs && epoch === heldIn)) lost.add(slot);
      // It was taken, and the answer got lost.
      if (isOurs && epoch !== heldIn) found.set(slot, epoch);
    }
    if (lost.size > 0) {
      log.warn({ slots: lost.size }, 'slots were lost to another node');
      this.#cluster.metrics.slotsMoved('lost', lost.size);
      this.#ownedSlots.drop(lost);
      this.#inhabitants.forgetGates(lost);
    }
    if (this.#state === 'member') this.#gain(found);
  }

  /**
   * A node that does not know the time cannot tell who lives. A node whose lease has ended and that holds nothing has
   * no share: a renewal may arrive long after its node has died.
   */
  async #share(seen: ClusterState): Promise<void> {
    if (this.#state !== 'member' || !this.#cluster.clock.isSynchronized) return;
    const { node } = this.#dependencies;
    const holders = new Set(seen.slots.map(({ owner }) => owner));
    const nodes = seen.nodes.filter((lease) => holders.has(lease.node) || !this.#isEnded(lease));
    const { take, release } = planRebalance({ ...seen, nodes }, node, this.#ownedSlots.kept);
    if (take.length > 0) {
      this.#gain((await this.#cluster.store.takeSlots(node, take)).epochs);
    }
    if (release.length > 0) void this.#giveBack(new Set(release));
  }

  #gain(epochs: ReadonlyMap<Slot, number>): void {
    if (epochs.size === 0) return;
    this.#ownedSlots.hold(epochs);
    this.#dependencies.log.info({ slots: epochs.size }, 'slots were gained');
    this.#cluster.metrics.slotsMoved('gained', epochs.size);
    this.#inhabitants.slotsGained();
  }

  /** A lease that had run out, or a clock that was not sure, let things pass by. */
  #activate(): void {
    const { isActive } = this.#ownedSlots;
    if (isActive && !this.#wasActive) this.#inhabitants.slotsGained();
    this.#wasActive = isActive;
  }

  /** Whether they are given back. */
  #giveBack(slots: ReadonlySet<Slot>): Promise<boolean> {
    if (slots.size === 0) return Promise.resolve(true);
    const given = this.#release(slots).finally(() => this.#givingBack.delete(given));
    this.#givingBack.add(given);
    return given;
  }

  /** Never rejects. */
  async #release(slots: ReadonlySet<Slot>): Promise<boolean> {
    const { store, peers, metrics } = this.#cluster;
    const given = this.#ownedSlots.fenceOf(slots);
    this.#ownedSlots.leave(slots);
    try {
      await this.#inhabitants.batchesEnd();
      await this.#inhabitants.saveGates(slots);
      // Some may have been lost meanwhile.
      const fence = this.#ownedSlots.stillHeld(given);
      for (const [slot, epoch] of fence.epochs) this.#givenBack.set(slot, epoch);
      await store.releaseSlots(fence);
      const released = new Set(fence.epochs.keys());
      this.#ownedSlots.drop(released);
      this.#inhabitants.forgetGates(released);
      metrics.slotsMoved('released', fence.epochs.size);
      peers.slotsChanged();
      return true;
    } catch (error) {
      this.#dependencies.log.warn({ error: String(error) }, 'slots could not be released');
      for (const slot of slots) this.#givenBack.delete(slot);
      this.#ownedSlots.keep(slots);
      return false;
    }
  }
}
