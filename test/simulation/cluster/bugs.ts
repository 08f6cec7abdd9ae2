/**
 * Deliberate bugs of a node prove that the checkers of a cluster can fail. Each bug stands between the node
 * and one of its ports, or removes one step from the engine.
 */
import { instant } from '#src/domain/instant.ts';
import { Membership } from '#src/engine/cluster/membership.ts';
import { OwnedSlots } from '#src/engine/cluster/slot-ownership.ts';
import { ScanScheduler } from '#src/engine/due/scan-scheduler.ts';
import { Gates } from '#src/engine/gate/gates.ts';
import { BatchesInFlight } from '#src/engine/queue/batches-in-flight.ts';
import { AttemptRecovery } from '#src/engine/upkeep/attempt-recovery.ts';
import type { NodeLease } from '#src/ports/cluster-store.ts';
import type { Peers } from '#src/ports/hints.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { ReferenceClock } from '#src/system/reference-clock.ts';
import { overriding, type Patch, patched, untoldRecovery, without } from '../bug-tools.ts';
import type { SharedStore } from '../watched-store.ts';

export interface ClusterBug {
  /** The checkers that may be the first to notice the bug. */
  readonly caughtBy: readonly string[];
  /** The search begins here, because no earlier seed shows the bug. The default is the first seed. */
  readonly firstSeed?: number;
  /**
   * The number of seeds to try, for a bug that shows only in rare combinations. The default is the seeds of
   * every test.
   */
  readonly seeds?: number;
  readonly store?: (store: SharedStore) => SharedStore;
  /** Changes the steps of a verb before the store applies them. */
  readonly steps?: (steps: readonly Step[]) => readonly Step[];
  readonly peers?: (peers: Peers) => Peers;
  /** SQL that runs on the database before the simulation starts. */
  readonly trigger?: string;
  readonly patch?: Patch;
}

const DO_NOTHING = () => ({ value: async () => {} });

export const CLUSTER_BUGS: Readonly<Record<string, ClusterBug>> = {
  'writes do not check the fence': {
    caughtBy: ['ownership'],
    steps: without('slotHeld'),
  },
  'taking a slot does not begin a new epoch': {
    caughtBy: ['ownership'],
    trigger: `CREATE TRIGGER same_epoch AFTER UPDATE OF epoch ON slots WHEN new.epoch > old.epoch AND old.epoch > 0
      BEGIN UPDATE slots SET epoch = old.epoch WHERE slot = new.slot; END`,
  },
  'a node continues after its lease ran out': {
    caughtBy: ['ownership'],
    patch: patched(OwnedSlots.prototype, 'isLeaseValid', () => ({ get: () => true })),
  },
  'a node takes a lease before its clock is synchronised': {
    caughtBy: ['sends', 'ownership', 'shares'],
    firstSeed: 2,
    store: overriding<SharedStore>((store) => {
      let asked = 0;
      return {
        readClock: () => (asked++ < 3 ? Promise.reject(new StoreUnavailable('A bug.')) : store.readClock()),
      };
    }),
    patch: patched(ReferenceClock.prototype, 'isSynchronized', () => ({ get: () => true })),
  },
  'slots are given back while batches are in flight': {
    caughtBy: ['ownership'],
    firstSeed: 16,
    patch: patched(BatchesInFlight.prototype, 'ended', DO_NOTHING),
  },
  'dead nodes are removed even after they renewed their lease': {
    caughtBy: ['ownership'],
    firstSeed: 17,
    seeds: 40,
    store: overriding<SharedStore>((store) => ({
      async removeDeadNode({ node }) {
        await store.leave(node);
        return 'done';
      },
    })),
  },
  'leases are read as shorter than they are': {
    caughtBy: ['ownership'],
    store: overriding<SharedStore>((store) => ({
      removeDeadNode: ({ node, leaseUntil }) =>
        store.removeDeadNode({ node, leaseUntil: instant(leaseUntil + 3_000) }),
      async renewLease(lease) {
        const { nodes, slots } = await store.renewLease(lease);
        const early = (one: NodeLease) => ({ ...one, leaseUntil: instant(one.leaseUntil - 3_000) });
        return { slots, nodes: nodes.map((one) => (one.node === lease.node ? one : early(one))) };
      },
    })),
  },
  'gates are kept when their slot is lost': {
    caughtBy: ['breaker', 'budget', 'rate', 'reservations'],
    seeds: 40,
    patch: patched(Gates.prototype, 'forgetSlots', () => ({ value: () => {} })),
  },
  'gates are not saved before their slot is given back': {
    caughtBy: ['breaker'],
    seeds: 40,
    patch: patched(Gates.prototype, 'saveSlots', DO_NOTHING),
  },
  'an attempt updates the gate of a slot that has moved': {
    caughtBy: ['breaker', 'rate'],
    firstSeed: 35,
    seeds: 160,
    patch: patched(OwnedSlots.prototype, 'isOwnedSince', () => ({ value: () => true })),
  },
  'other nodes get no hints about due deliveries': {
    caughtBy: ['punctuality'],
    firstSeed: 3,
    peers: (peers) => ({ ...peers, due: () => {} }),
  },
  'slots that were gained are not scanned': {
    caughtBy: ['punctuality'],
    patch: patched(ScanScheduler.prototype, 'restart', () => ({ value: () => {} })),
  },
  'claims of dead nodes are never found': {
    caughtBy: ['punctuality'],
    firstSeed: 6,
    store: overriding<SharedStore>(() => ({ listLostClaims: async () => [] })),
  },
  'a claim of a dead node is closed without its notification': {
    caughtBy: ['notifications'],
    firstSeed: 6,
    store: overriding<SharedStore>(untoldRecovery),
  },
  'a node forgets its own claim whose answer was lost': {
    caughtBy: ['punctuality'],
    firstSeed: 6,
    seeds: 40,
    patch: patched(AttemptRecovery.prototype, 'recoverOwnClaims', () => ({ value: () => {} })),
  },
  'all other nodes are considered dead': {
    caughtBy: ['settling'],
    store: overriding<SharedStore>((store) => ({
      listLostClaims: (_, limit) => store.listLostClaims([], limit),
    })),
    patch: patched(Membership.prototype, 'readLiveNodes', () => ({ value: async () => [] })),
  },
  'a node that stops hands nothing over': {
    caughtBy: ['shares'],
    firstSeed: 4,
    patch: patched(Membership.prototype, 'handOver', DO_NOTHING),
  },
  'slots are never given back': {
    caughtBy: ['shares', 'punctuality'],
    store: overriding<SharedStore>(() => ({ releaseSlots: async () => {} })),
  },
  'free slots are not taken': {
    caughtBy: ['shares'],
    store: overriding<SharedStore>(() => ({ takeSlots: async (node) => ({ node, epochs: new Map() }) })),
  },
};
