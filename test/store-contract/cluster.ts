import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { ALL_SLOTS, type Slot } from '#src/domain/slot.ts';
import type { ClusterState } from '#src/ports/cluster-store.ts';
import { HOUR_MS, MINUTE_MS, START } from './builders.ts';
import { ownSuite, type Suite } from './fixture.ts';
import { LEASE_MS, Nodes, VERSION } from './nodes.ts';

/** Leases, slots and the clock of the store. */
export function clusterContract(suite: Suite): void {
  describe('leases', () => {
    const own = ownSuite(suite);

    test('are listed by name with their last renewal, also those that have expired', async () => {
      const nodes = new Nodes(own.store);
      await nodes.renew('b', 2_000);
      await nodes.renew('a');
      nodes.now = instant(START + HOUR_MS);
      await nodes.renew('b');
      expect((await nodes.renew('c')).nodes).toEqual([
        { node: 'a', leaseUntil: START + LEASE_MS, isStopping: false, version: VERSION },
        { node: 'b', leaseUntil: nodes.now + LEASE_MS, isStopping: false, version: VERSION },
        { node: 'c', leaseUntil: nodes.now + LEASE_MS, isStopping: false, version: VERSION },
      ]);
      for (const name of ['a', 'b', 'c']) await own.store.leave(name);
    });

    test('tell whether their node is stopping', async () => {
      const nodes = new Nodes(own.store, instant(START + HOUR_MS));
      for (const isStopping of [false, true, false]) {
        const { nodes: found } = await nodes.renew('s', LEASE_MS, isStopping);
        expect(found).toEqual([
          { node: 's', leaseUntil: nodes.now + LEASE_MS, isStopping, version: VERSION },
        ]);
      }
      await own.store.leave('s');
    });

    test('tell the version of the program that their node runs', async () => {
      const nodes = new Nodes(own.store, instant(START + HOUR_MS));
      for (const version of ['1.2.3', '1.2.3', '2.0.0-rc.1']) {
        const { nodes: found } = await nodes.renew('s', LEASE_MS, false, version);
        expect(found).toEqual([{ node: 's', leaseUntil: nodes.now + LEASE_MS, isStopping: false, version }]);
      }
      await own.store.leave('s');
    });

    test('are distinguished by the exact name', async () => {
      const nodes = new Nodes(own.store, instant(START + MINUTE_MS));
      const names = ['n', 'N', 'n ', 'nö', '\u{10ffff}', '\uffee'];
      for (const name of names) await nodes.renew(name);
      const { nodes: found } = await nodes.renew('n');
      expect(found.map(({ node }) => node).toSorted()).toEqual(names.toSorted());
      for (const name of names) await own.store.leave(name);
    });

    test('end when their node leaves, which releases all slots of this node and no others', async () => {
      const nodes = new Nodes(own.store, instant(START + 2 * MINUTE_MS));
      const first = await nodes.take('a', [0, 1, 2]);
      await nodes.take('b', [3]);
      await own.store.leave('a');
      await own.store.leave('never-there');
      const state = await nodes.renew('b');
      expect(state.nodes.map(({ node }) => node)).toEqual(['b']);
      expect(ownersOf(state, 4)).toEqual([null, null, null, 'b']);
      // A released slot keeps its epoch.
      expect(epochsOf(state, 3)).toEqual([...first.epochs.values()]);
      await own.store.leave('b');
    });
  });

  describe('the lease of a node that died', () => {
    const own = ownSuite(suite);

    test('is removed if it is unchanged, which releases all slots of that node and no others', async () => {
      const nodes = new Nodes(own.store, instant(START + 3 * MINUTE_MS));
      await nodes.take('dead', [0, 1]);
      await nodes.take('b', [2]);
      expect(
        await own.store.removeDeadNode({ node: 'dead', leaseUntil: instant(nodes.now + LEASE_MS) }),
      ).toBe('done');
      const state = await nodes.renew('b');
      expect(state.nodes.map(({ node }) => node)).toEqual(['b']);
      expect(ownersOf(state, 3)).toEqual([null, null, 'b']);
      await own.store.leave('b');
    });

    test('is kept with its slots if it was renewed in between', async () => {
      const nodes = new Nodes(own.store, instant(START + 4 * MINUTE_MS));
      await nodes.take('late', [0]);
      const seen = { node: 'late', leaseUntil: instant(nodes.now + LEASE_MS) };
      const later = new Nodes(own.store, instant(nodes.now + 1));
      await later.renew('late');
      expect(await own.store.removeDeadNode(seen)).toBe('stale');
      expect(await own.store.removeDeadNode({ node: 'never-there', leaseUntil: seen.leaseUntil })).toBe(
        'stale',
      );
      const state = await later.renew('late');
      expect(state.nodes.map(({ node }) => node)).toEqual(['late']);
      expect(ownersOf(state, 1)).toEqual(['late']);
      await own.store.leave('late');
    });
  });

  describe('slots', () => {
    const own = ownSuite(suite);
    let nodes: Nodes;
    /** Each test uses its own minute and begins with all slots free. */
    async function begin(): Promise<Nodes> {
      nodes = new Nodes(own.store, instant((nodes?.now ?? START) + MINUTE_MS));
      const state = await nodes.renew('beginning');
      const owners = new Set(state.slots.map(({ owner }) => owner).filter((owner) => owner !== null));
      for (const owner of [...owners, 'beginning']) await own.store.leave(owner);
      return nodes;
    }

    test('all exist from the beginning, in order, free and in epoch 0', async () => {
      const fresh = await suite.open();
      try {
        const { slots } = await new Nodes(fresh.store).renew('a');
        expect(slots).toEqual(ALL_SLOTS.map((slot) => ({ slot, owner: null, epoch: 0 })));
      } finally {
        await fresh.close();
      }
    });

    test('that are free are taken, which raises their epoch by one', async () => {
      const { store } = await begin();
      const before = await nodes.renew('a');
      const seen = before.slots.filter(({ slot }) => slot === 7 || slot === 9);
      const fence = await store.takeSlots('a', seen);
      expect(fence).toEqual({
        node: 'a',
        epochs: new Map(seen.map(({ slot, epoch }) => [slot, epoch + 1])),
      });
      const after = await nodes.renew('a');
      for (const { slot, owner, epoch } of after.slots) {
        const was = before.slots[slot];
        const isTaken = fence.epochs.has(slot);
        expect([owner, epoch]).toEqual(isTaken ? ['a', fence.epochs.get(slot)] : [was?.owner, was?.epoch]);
      }
    });

    test('that have another epoch by now are not taken, and the others are', async () => {
      const { store } = await begin();
      const { slots } = await nodes.renew('a');
      const seen = slots
        .slice(0, 3)
        .map(({ slot, epoch }) => ({ slot, epoch: slot === 1 ? epoch + 1 : epoch }));
      const { epochs } = await store.takeSlots('a', seen);
      expect([...epochs.keys()]).toEqual([0, 2]);
      expect(ownersOf(await nodes.renew('a'), 3)).toEqual(['a', null, 'a']);
      // A node does not take its own slots again.
      expect((await store.takeSlots('a', (await nodes.renew('a')).slots.slice(0, 1))).epochs.size).toBe(0);
    });

    test('of a node with a lease are not taken until the node was removed as dead', async () => {
      const { store } = await begin();
      const fence = await nodes.take('a', [5]);
      const { slots } = await nodes.renew('b');
      const seen = slots.slice(5, 6);
      expect((await store.takeSlots('b', seen)).epochs.size).toBe(0);
      await store.removeDeadNode({ node: 'a', leaseUntil: instant(nodes.now + LEASE_MS) });
      const epoch = (fence.epochs.get(5 as Slot) ?? Number.NaN) + 1;
      expect((await store.takeSlots('b', seen)).epochs).toEqual(new Map([[5, epoch]]));
    });

    test('are not taken by a node without a lease', async () => {
      const { store } = await begin();
      const { slots } = await nodes.renew('a');
      const seen = slots.slice(0, 2);
      expect((await store.takeSlots('unknown', seen)).epochs.size).toBe(0);
      await store.leave('a');
      expect((await store.takeSlots('a', seen)).epochs.size).toBe(0);
      expect((await store.takeSlots('a', [])).epochs.size).toBe(0);
      expect(ownersOf(await nodes.renew('a'), 2)).toEqual([null, null]);
    });

    test('that several nodes take at the same time go to one node each', async () => {
      const { store } = await begin();
      const names = ['a', 'b', 'c'];
      for (const name of names) await nodes.renew(name);
      const { slots } = await nodes.renew('a');
      const fences = await Promise.all(names.map((name) => store.takeSlots(name, slots)));
      expect(fences.flatMap(({ epochs }) => [...epochs.keys()]).toSorted((a, b) => a - b)).toEqual(ALL_SLOTS);
      const after = await nodes.renew('a');
      for (const { node, epochs } of fences) {
        for (const [slot, epoch] of epochs) expect(after.slots[slot]).toEqual({ slot, owner: node, epoch });
      }
    });

    test('are released only by their owner in the current epoch', async () => {
      const { store } = await begin();
      const { node, epochs } = await nodes.take('a', [0, 1, 2]);
      const epoch = epochs.get(1 as Slot) ?? Number.NaN;
      const older = new Map<Slot, number>([
        [0 as Slot, epochs.get(0 as Slot) ?? Number.NaN],
        [1 as Slot, epoch - 1],
      ]);
      await store.releaseSlots({ node: 'b', epochs });
      expect(ownersOf(await nodes.renew('a'), 3)).toEqual(['a', 'a', 'a']);
      await store.releaseSlots({ node, epochs: older });
      expect(ownersOf(await nodes.renew('a'), 3)).toEqual([null, 'a', 'a']);
      await store.releaseSlots({ node, epochs: new Map() });
      const again = await nodes.take('b', [0]);
      await store.releaseSlots({ node, epochs });
      const state = await nodes.renew('a');
      expect(ownersOf(state, 3)).toEqual(['b', null, null]);
      expect(again.epochs.get(0 as Slot)).toBe((epochs.get(0 as Slot) ?? Number.NaN) + 1);
    });
  });

  describe('the clock of the store', () => {
    const own = ownSuite(suite);

    test('returns milliseconds, advances and does not go back', async () => {
      const first = await own.store.readClock();
      expect(first).toBeGreaterThan(Date.UTC(2025, 0, 1));
      expect(first).toBeLessThan(Date.UTC(2125, 0, 1));
      for (let last = first; last <= first; ) {
        const now = await own.store.readClock();
        expect(now).toBeGreaterThanOrEqual(last);
        last = now;
      }
    });
  });
}

function ownersOf({ slots }: ClusterState, count: number): readonly (string | null)[] {
  return slots.slice(0, count).map(({ owner }) => owner);
}

function epochsOf({ slots }: ClusterState, count: number): readonly number[] {
  return slots.slice(0, count).map(({ epoch }) => epoch);
}
