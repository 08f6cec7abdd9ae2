/**
 * The membership of this node in a cluster: the nodes that share one store. In every sync it renews its lease, reads
 * which nodes are alive and which slots they own, and takes or releases slots until every node has its share
 * (`domain/slot-rebalance.ts`).
 *
 * The lease counts from before the renewal was requested, by the stopwatch. It ends here a little earlier than for the
 * other nodes, so this node has stopped claiming when they take its slots. A node that was paused for longer learns of
 * it by the epochs: a slot that another node took is in a new epoch, and the store refuses older decisions.
 *
 * A slot that was lost is dropped at once with its gates, because this node may no longer save them. A node that stops
 * releases all its slots at once, and keeps its lease until its requests have ended. Without the lease, other nodes
 * would take these requests for lost.
 */
import { instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import { planRebalance } from '#src/domain/slot-rebalance.ts';
import type { ClusterDependencies, EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { BatchesInFlight } from '#src/engine/queue/batches-in-flight.ts';
import type { ClusterState, NodeLease } from '#src/ports/cluster-store.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import { pause } from '#src/ports/system.ts';
import { DeadNodeDetector } from './dead-node-detector.ts';
import { SlotHandover } from './slot-handover.ts';
import type { OwnedSlots } from './slot-ownership.ts';

/** Together with the time between two syncs, a dead node is noticed within four seconds. */
const LEASE_MS = 3_200;
/** The clocks of two nodes differ by less than this. */
const LEASE_MARGIN_MS = 400;
const SYNC_EVERY_MS = 800;
/** The wait after a sync or a release that failed. */
const RETRY_MS = 200;
/** The time from the begin of a sync to the begin of the next one, at least. */
const SYNC_GAP_MS = 25;
const MS_PER_SECOND = 1_000;

export interface MembershipDependencies
  extends Pick<EngineDependencies, 'clock' | 'timers' | 'log' | 'node'> {
  readonly cluster: ClusterDependencies;
  readonly ownedSlots: OwnedSlots;
  readonly gates: Pick<Gates, 'saveSlots' | 'forgetSlots'>;
  readonly batches: Pick<BatchesInFlight, 'ended'>;
}

/** One sync at a time. A sync that fails changes nothing, and the lease runs out if no later one succeeds in time. */
export class Membership {
  readonly #dependencies: MembershipDependencies;
  readonly #cluster: ClusterDependencies;
  readonly #ownedSlots: OwnedSlots;
  readonly #detector: DeadNodeDetector;
  readonly #handover: SlotHandover;
  readonly #task: PeriodicTask;
  readonly #onSlotsGained: (() => void)[] = [];
  readonly #onNodesDied: (() => void)[] = [];
  #liveNodes: readonly string[] = [];
  /** The last sync, which may be in progress. It resolves to whether it succeeded. */
  #sync: Promise<boolean> = Promise.resolve(false);
  /** A sync that was requested and has not begun. */
  #nextSync: Promise<boolean> | null = null;
  /** The begin of the last sync, by the stopwatch. */
  #syncAt = Number.NEGATIVE_INFINITY;
  #wasActive = false;
  #isFailing = false;
  #state: 'new' | 'member' | 'stopping' | 'gone' = 'new';

  constructor(dependencies: MembershipDependencies) {
    const { cluster, node, log, timers, ownedSlots, gates, batches } = dependencies;
    this.#dependencies = dependencies;
    this.#cluster = cluster;
    this.#ownedSlots = ownedSlots;
    this.#detector = new DeadNodeDetector(cluster, node, LEASE_MS);
    this.#handover = new SlotHandover({ ...cluster, log, ownedSlots, gates, batches });
    this.#task = new PeriodicTask(timers, async () => {
      await this.#syncAgain();
      return null;
    });
    ownedSlots.onRefusedWrite(() => this.syncSoon());
    cluster.metrics.watchCluster(() => ({
      slotsOwned: this.#ownedSlots.slots.size,
      nodes: this.#liveNodes.length,
      clockOffsetSeconds: cluster.clock.offsetMs / MS_PER_SECOND,
      isClockSynchronized: cluster.clock.isSynchronized,
      isLeaseValid: this.#ownedSlots.isLeaseValid,
    }));
  }

  /** Whether this node may dispatch the slots that it owns. */
  get isActive(): boolean {
    return this.#ownedSlots.isActive;
  }

  /** The live nodes as of the last sync. */
  get liveNodes(): readonly string[] {
    return this.#liveNodes;
  }

  /** Calls `act` whenever there may be more endpoints to dispatch. */
  onSlotsGained(act: () => void): void {
    this.#onSlotsGained.push(act);
  }

  /** Calls `act` whenever nodes died, so that their claims are recovered. */
  onNodesDied(act: () => void): void {
    this.#onNodesDied.push(act);
  }

  /** Returns the live nodes as of a sync that begins now; rejects when it fails. */
  async readLiveNodes(): Promise<readonly string[]> {
    if (!(await this.#syncAgain())) throw new Error('The live nodes are not known.');
    return this.#liveNodes;
  }

  /** Resolves after the first sync, also when it failed: then there is nothing to dispatch yet. */
  async start(): Promise<void> {
    if (this.#state === 'new') this.#state = 'member';
    this.#detector.start();
    if (await this.#syncAgain()) this.#cluster.peers.slotsChanged();
  }

  /** Something may have changed. Many requests share one sync. */
  syncSoon(): void {
    this.#syncWithin(Math.max(this.#syncAt + SYNC_GAP_MS - this.#cluster.stopwatch.elapsed(), 0));
  }

  /** Releases all slots and keeps the lease. */
  async handOver(): Promise<void> {
    this.#state = 'stopping';
    // The sync in progress may be taking slots.
    await this.#sync;
    try {
      await this.#renewLease();
    } catch (error) {
      this.#dependencies.log.warn(
        { error: String(error) },
        'the other nodes could not be notified of the stop',
      );
    }
    // Slots that stay owned are dispatched by no node. A release in progress may fail, and then its slots are kept.
    await this.#handover.settled();
    while (this.#state === 'stopping' && !(await this.#handover.release(new Set(this.#ownedSlots.kept)))) {
      await pause(this.#dependencies.timers, RETRY_MS);
    }
  }

  /** Ends the lease. Nothing of this node may be in flight any more. */
  async leave(): Promise<void> {
    this.#state = 'gone';
    await this.#task.stop();
    await this.#sync;
    this.#ownedSlots.setLeaseUntil(Number.NEGATIVE_INFINITY);
    const { store, peers } = this.#cluster;
    const { node, log } = this.#dependencies;
    try {
      await store.leave(node);
      peers.slotsChanged();
    } catch (error) {
      log.warn({ error: String(error) }, 'the lease could not be released: it expires by itself');
    }
  }

  #syncWithin(ms: number): void {
    if (this.#state !== 'new') this.#task.runWithin(ms);
  }

  /** Requests a sync that begins from now on. Resolves to whether it succeeded. */
  #syncAgain(): Promise<boolean> {
    this.#nextSync ??= this.#sync.then(() => {
      this.#nextSync = null;
      this.#sync = this.#syncOnce();
      return this.#sync;
    });
    return this.#nextSync;
  }

  /** Never rejects. */
  async #syncOnce(): Promise<boolean> {
    if (this.#state === 'gone') return false;
    this.#syncAt = this.#cluster.stopwatch.elapsed();
    const leaseUntil = this.#syncAt + LEASE_MS - LEASE_MARGIN_MS;
    this.#handover.forgetReleased();
    try {
      const renewed = await this.#renewLease();
      this.#endOutage();
      const state = await this.#removeDeadNodes(renewed);
      this.#wasActive &&= this.#ownedSlots.isActive;
      this.#reconcile(state);
      this.#ownedSlots.setLeaseUntil(leaseUntil);
      const before = this.#liveNodes;
      this.#liveNodes = state.nodes.map(({ node }) => node);
      await this.#rebalance(state);
      this.#activate();
      if (before.some((node) => !this.#liveNodes.includes(node))) callAll(this.#onNodesDied);
      this.#syncWithin(SYNC_EVERY_MS);
      return true;
    } catch (error) {
      this.#cluster.metrics.leaseRenewalFailed();
      if (!this.#isFailing) {
        this.#dependencies.log.warn({ error: String(error) }, 'the lease could not be renewed');
      }
      this.#isFailing = true;
      this.#syncWithin(RETRY_MS);
      return false;
    }
  }

  #endOutage(): void {
    if (this.#isFailing) this.#detector.afterOutage(this.#syncAt);
    this.#isFailing = false;
  }

  /** Removes the leases of dead nodes, so that their slots can be taken. Returns the state without these nodes. */
  async #removeDeadNodes(state: ClusterState): Promise<ClusterState> {
    const dead = await this.#detector.findDead(state.nodes, this.#syncAt);
    if (dead.size === 0) return state;
    const removed = new Set<NodeLease>();
    for (const lease of state.nodes) {
      if (!dead.has(lease.node)) continue;
      if ((await this.#cluster.store.removeDeadNode(lease)) === 'done') removed.add(lease);
      // The node renewed its lease, or another node was faster: the state is out of date.
      else this.syncSoon();
    }
    return { ...state, nodes: state.nodes.filter((lease) => !removed.has(lease)) };
  }

  /** A lease by a wrong clock could end the leases of other nodes, or outlive this node. */
  async #renewLease(): Promise<ClusterState> {
    if (!this.#cluster.clock.isSynchronized) throw new Error('The clock is not synchronized.');
    const { clock, node } = this.#dependencies;
    const { store, version } = this.#cluster;
    const leaseUntil = instant(clock.now() + LEASE_MS);
    return store.renewLease({ node, leaseUntil, isStopping: this.#state === 'stopping', version });
  }

  /** This node owns exactly the slots that the store says it owns, except those that it is releasing. */
  #reconcile(state: ClusterState): void {
    const { node, log } = this.#dependencies;
    const owned = this.#ownedSlots.fence.epochs;
    const lost = new Set<Slot>();
    const found = new Map<Slot, number>();
    for (const { slot, owner, epoch } of state.slots) {
      const isOurs = owner === node && !this.#handover.isReleased(slot, epoch);
      const ownedEpoch = owned.get(slot);
      // A slot that is being released may be free already.
      if (ownedEpoch !== undefined && this.#handover.isReleased(slot, ownedEpoch)) continue;
      if (ownedEpoch !== undefined && !(isOurs && epoch === ownedEpoch)) lost.add(slot);
      // This node took the slot, and the answer of the store was lost.
      if (isOurs && epoch !== ownedEpoch) found.set(slot, epoch);
    }
    if (lost.size > 0) {
      log.warn({ slots: lost.size }, 'slots were lost to another node');
      this.#cluster.metrics.slotsMoved('lost', lost.size);
      this.#ownedSlots.remove(lost);
      this.#dependencies.gates.forgetSlots(lost);
    }
    if (this.#state === 'member') this.#gain(found);
  }

  /**
   * A node whose clock is not synchronized must not judge leases. A node whose lease has expired and that owns no slot
   * gets no share, because a renewal may arrive long after its node died.
   */
  async #rebalance(state: ClusterState): Promise<void> {
    if (this.#state !== 'member' || !this.#cluster.clock.isSynchronized) return;
    const { node } = this.#dependencies;
    const owners = new Set(state.slots.map(({ owner }) => owner));
    const nodes = state.nodes.filter((lease) => owners.has(lease.node) || !this.#detector.isExpired(lease));
    const { take, release } = planRebalance({ ...state, nodes }, node, this.#ownedSlots.kept);
    if (take.length > 0) this.#gain((await this.#cluster.store.takeSlots(node, take)).epochs);
    if (release.length > 0) void this.#handover.release(new Set(release));
  }

  #gain(epochs: ReadonlyMap<Slot, number>): void {
    if (epochs.size === 0) return;
    this.#ownedSlots.add(epochs);
    this.#dependencies.log.info({ slots: epochs.size }, 'slots were gained');
    this.#cluster.metrics.slotsMoved('gained', epochs.size);
    callAll(this.#onSlotsGained);
  }

  /** While the lease had run out or the clock was not synchronized, this node may have missed due work. */
  #activate(): void {
    const { isActive } = this.#ownedSlots;
    if (isActive && !this.#wasActive) callAll(this.#onSlotsGained);
    this.#wasActive = isActive;
  }
}

function callAll(listeners: readonly (() => void)[]): void {
  for (const act of listeners) act();
}
