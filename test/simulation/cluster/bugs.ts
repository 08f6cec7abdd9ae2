/**
 * Deliberate bugs of a node among others: the proof that the checkers of a cluster can fail. Each is put between
 * the node and one of its ports, or takes one step out of the engine.
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
import { type Patch, patched } from '../patched.ts';
import type { SharedStore } from '../stores.ts';

export interface ClusterBug {
  /** The checkers that may be the first to notice. */
  readonly caughtBy: readonly string[];
  /** It takes so many seeds where it shows only when much comes together; left out, the seeds of every test. */
  readonly seeds?: number;
  readonly store?: (store: SharedStore) => SharedStore;
  /** What the store is given of a verb. */
  readonly steps?: (steps: readonly Step[]) => readonly Step[];
  readonly peers?: (peers: Peers) => Peers;
  /** SQL that is in the database from the beginning. */
  readonly trigger?: string;
  readonly patch?: Patch;
}

function without(name: Step[0]): (steps: readonly Step[]) => readonly Step[] {
  return (steps) => steps.filter(([own]) => own !== name);
}

/** The same store, but for these verbs. */
function overriding(
  verbs: (store: SharedStore) => Partial<SharedStore>,
): (store: SharedStore) => SharedStore {
  return (store) => {
    const other = verbs(store);
    return new Proxy(store, {
      get: (target, name) => Reflect.get(other, name) ?? Reflect.get(target, name, target),
    });
  };
}

const DO_NOTHING = () => ({ value: async () => {} });

export const CLUSTER_BUGS: Readonly<Record<string, ClusterBug>> = {
  'what is written is not held against the fence': {
    caughtBy: ['ownership'],
    steps: without('slotHeld'),
  },
  'taking a slot does not begin a new epoch': {
    caughtBy: ['ownership'],
    trigger: `CREATE TRIGGER same_epoch AFTER UPDATE OF epoch ON slots WHEN new.epoch > old.epoch AND old.epoch > 0
      BEGIN UPDATE slots SET epoch = old.epoch WHERE slot = new.slot; END`,
  },
  'a node goes on after its lease ran out': {
    caughtBy: ['ownership'],
    patch: patched(OwnedSlots.prototype, 'isLeaseValid', () => ({ get: () => true })),
  },
  'a lease is made by a clock that was never measured': {
    caughtBy: ['sends', 'ownership', 'shares'],
    store: overriding((store) => {
      let asked = 0;
      return {
        readClock: () => (asked++ < 3 ? Promise.reject(new StoreUnavailable('A bug.')) : store.readClock()),
      };
    }),
    patch: patched(ReferenceClock.prototype, 'isSynchronized', () => ({ get: () => true })),
  },
  'slots are given back while batches are under way': {
    caughtBy: ['ownership'],
    patch: patched(BatchesInFlight.prototype, 'ended', DO_NOTHING),
  },
  'dead nodes are removed even when they renewed their lease since': {
    caughtBy: ['ownership'],
    seeds: 40,
    store: overriding((store) => ({
      async removeDeadNode({ node }) {
        await store.leave(node);
        return 'done';
      },
    })),
  },
  'leases are taken for shorter than they are': {
    caughtBy: ['ownership'],
    store: overriding((store) => ({
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
  'an attempt teaches the gate of a slot that has moved': {
    caughtBy: ['breaker', 'rate'],
    seeds: 160,
    patch: patched(OwnedSlots.prototype, 'isOwnedSince', () => ({ value: () => true })),
  },
  'other nodes are not told what is due': {
    caughtBy: ['punctuality'],
    peers: (peers) => ({ ...peers, due: () => {} }),
  },
  'slots that were gained are not looked at': {
    caughtBy: ['punctuality'],
    patch: patched(ScanScheduler.prototype, 'restart', () => ({ value: () => {} })),
  },
  'claims of the dead are never found': {
    caughtBy: ['punctuality'],
    store: overriding(() => ({ listLostClaims: async () => [] })),
  },
  'a claim of its own whose answer got lost is forgotten': {
    caughtBy: ['punctuality'],
    seeds: 40,
    patch: patched(AttemptRecovery.prototype, 'recoverOwnClaims', () => ({ value: () => {} })),
  },
  'all other nodes are taken for dead': {
    caughtBy: ['settling'],
    store: overriding((store) => ({ listLostClaims: (_, limit) => store.listLostClaims([], limit) })),
    patch: patched(Membership.prototype, 'readLiveNodes', () => ({ value: async () => [] })),
  },
  'who stops hands nothing over': {
    caughtBy: ['shares'],
    patch: patched(Membership.prototype, 'handOver', DO_NOTHING),
  },
  'nobody gives slots back': {
    caughtBy: ['shares', 'punctuality'],
    store: overriding(() => ({ releaseSlots: async () => {} })),
  },
  'what nobody holds is not taken': {
    caughtBy: ['shares'],
    store: overriding(() => ({ takeSlots: async (node) => ({ node, epochs: new Map() }) })),
  },
};
