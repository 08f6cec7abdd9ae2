import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { putOff } from '#src/domain/delivery-life.ts';
import { type Due, dueOf } from '#src/domain/due.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import { ALL_SLOTS, type Slot, slotOf, type Tenure } from '#src/domain/slot.ts';
import type { ClusterState } from '#src/ports/cluster-store.ts';
import type { Store } from '#src/ports/store.ts';
import { type AnyStore, type Bench, ownSuite, pendingOf, type Suite } from './bench.ts';
import { HOUR_MS, MINUTE_MS, START } from './builders.ts';

const LEASE_MS = 1_000;
const THE_END = instant(Date.UTC(10_000, 0, 1));

export function clusterContract(suite: Suite): void {
  describe('leases', () => {
    const own = ownSuite(suite);

    test('are told by name, as they were renewed last, also those that have run out', async () => {
      const nodes = new Nodes(own.store);
      await nodes.renew('b', 2_000);
      await nodes.renew('a');
      nodes.now = instant(START + HOUR_MS);
      await nodes.renew('b');
      expect((await nodes.renew('c')).nodes).toEqual([
        { node: 'a', leaseUntil: START + LEASE_MS, isStopping: false },
        { node: 'b', leaseUntil: nodes.now + LEASE_MS, isStopping: false },
        { node: 'c', leaseUntil: nodes.now + LEASE_MS, isStopping: false },
      ]);
      for (const name of ['a', 'b', 'c']) await own.store.leave(name);
    });

    test('say whether their node is stopping, as it said last', async () => {
      const nodes = new Nodes(own.store, instant(START + HOUR_MS));
      for (const isStopping of [false, true, false]) {
        const { nodes: found } = await nodes.renew('s', LEASE_MS, isStopping);
        expect(found).toEqual([{ node: 's', leaseUntil: nodes.now + LEASE_MS, isStopping }]);
      }
      await own.store.leave('s');
    });

    test('are told apart by the exact name', async () => {
      const nodes = new Nodes(own.store, instant(START + MINUTE_MS));
      const names = ['n', 'N', 'n ', 'nö', '\u{10ffff}', '\uffee'];
      for (const name of names) await nodes.renew(name);
      const { nodes: found } = await nodes.renew('n');
      expect(found.map(({ node }) => node).toSorted()).toEqual(names.toSorted());
      for (const name of names) await own.store.leave(name);
    });

    test('end by leaving, which gives back every slot and only those of the one who leaves', async () => {
      const nodes = new Nodes(own.store, instant(START + 2 * MINUTE_MS));
      const first = await nodes.take('a', [0, 1, 2]);
      await nodes.take('b', [3]);
      await own.store.leave('a');
      await own.store.leave('never-there');
      const state = await nodes.renew('b');
      expect(state.nodes.map(({ node }) => node)).toEqual(['b']);
      expect(ownersOf(state, 4)).toEqual([null, null, null, 'b']);
      // What was given back stays in the epoch in which it was held.
      expect(epochsOf(state, 3)).toEqual([...first.epochs.values()]);
      await own.store.leave('b');
    });
  });

  describe('the lease of a node that died', () => {
    const own = ownSuite(suite);

    test('is ended as it was seen, which frees every slot of that node and no other', async () => {
      const nodes = new Nodes(own.store, instant(START + 3 * MINUTE_MS));
      await nodes.take('dead', [0, 1]);
      await nodes.take('b', [2]);
      expect(await own.store.bury({ node: 'dead', leaseUntil: instant(nodes.now + LEASE_MS) })).toBe('done');
      const state = await nodes.renew('b');
      expect(state.nodes.map(({ node }) => node)).toEqual(['b']);
      expect(ownersOf(state, 3)).toEqual([null, null, 'b']);
      await own.store.leave('b');
    });

    test('is left alone when it was renewed since, and so are its slots', async () => {
      const nodes = new Nodes(own.store, instant(START + 4 * MINUTE_MS));
      await nodes.take('late', [0]);
      const seen = { node: 'late', leaseUntil: instant(nodes.now + LEASE_MS) };
      const later = new Nodes(own.store, instant(nodes.now + 1));
      await later.renew('late');
      expect(await own.store.bury(seen)).toBe('stale');
      expect(await own.store.bury({ node: 'never-there', leaseUntil: seen.leaseUntil })).toBe('stale');
      const state = await later.renew('late');
      expect(state.nodes.map(({ node }) => node)).toEqual(['late']);
      expect(ownersOf(state, 1)).toEqual(['late']);
      await own.store.leave('late');
    });
  });

  describe('slots', () => {
    const own = ownSuite(suite);
    let nodes: Nodes;
    /** Every test in a minute of its own, with everything free. */
    async function begin(): Promise<Nodes> {
      nodes = new Nodes(own.store, instant((nodes?.now ?? START) + MINUTE_MS));
      const state = await nodes.renew('beginning');
      const owners = new Set(state.slots.map(({ owner }) => owner).filter((owner) => owner !== null));
      for (const owner of [...owners, 'beginning']) await own.store.leave(owner);
      return nodes;
    }

    test('are all there from the beginning, in their order, free and in epoch 0', async () => {
      const fresh = await suite.open();
      try {
        const { slots } = await new Nodes(fresh.store).renew('a');
        expect(slots).toEqual(ALL_SLOTS.map((slot) => ({ slot, owner: null, epoch: 0 })));
      } finally {
        await fresh.close();
      }
    });

    test('that are free are taken, each in the epoch after the one it was seen in', async () => {
      const { store } = await begin();
      const before = await nodes.renew('a');
      const seen = before.slots.filter(({ slot }) => slot === 7 || slot === 9);
      const tenure = await store.takeSlots('a', seen);
      expect(tenure).toEqual({
        node: 'a',
        epochs: new Map(seen.map(({ slot, epoch }) => [slot, epoch + 1])),
      });
      const after = await nodes.renew('a');
      for (const { slot, owner, epoch } of after.slots) {
        const was = before.slots[slot];
        const isTaken = tenure.epochs.has(slot);
        expect([owner, epoch]).toEqual(isTaken ? ['a', tenure.epochs.get(slot)] : [was?.owner, was?.epoch]);
      }
    });

    test('that were seen in another epoch are left, the others are not', async () => {
      const { store } = await begin();
      const { slots } = await nodes.renew('a');
      const seen = slots
        .slice(0, 3)
        .map(({ slot, epoch }) => ({ slot, epoch: slot === 1 ? epoch + 1 : epoch }));
      const { epochs } = await store.takeSlots('a', seen);
      expect([...epochs.keys()]).toEqual([0, 2]);
      expect(ownersOf(await nodes.renew('a'), 3)).toEqual(['a', null, 'a']);
      // Nor is what it holds itself taken again.
      expect((await store.takeSlots('a', (await nodes.renew('a')).slots.slice(0, 1))).epochs.size).toBe(0);
    });

    test('of a node that has a lease are left; once it was buried they are taken', async () => {
      const { store } = await begin();
      const tenure = await nodes.take('a', [5]);
      const { slots } = await nodes.renew('b');
      const seen = slots.slice(5, 6);
      expect((await store.takeSlots('b', seen)).epochs.size).toBe(0);
      await store.bury({ node: 'a', leaseUntil: instant(nodes.now + LEASE_MS) });
      const epoch = (tenure.epochs.get(5 as Slot) ?? Number.NaN) + 1;
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

    test('that several nodes take at the same time go each to one of them', async () => {
      const { store } = await begin();
      const names = ['a', 'b', 'c'];
      for (const name of names) await nodes.renew(name);
      const { slots } = await nodes.renew('a');
      const tenures = await Promise.all(names.map((name) => store.takeSlots(name, slots)));
      expect(tenures.flatMap(({ epochs }) => [...epochs.keys()]).toSorted((a, b) => a - b)).toEqual(
        ALL_SLOTS,
      );
      const after = await nodes.renew('a');
      for (const { node, epochs } of tenures) {
        for (const [slot, epoch] of epochs) expect(after.slots[slot]).toEqual({ slot, owner: node, epoch });
      }
    });

    test('are given back as they are held; what is held no more is left alone', async () => {
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

  describe('under a tenure', () => {
    const own = ownSuite(suite);
    let turn = 0;

    /** A waiting delivery whose slot is held. */
    async function held(): Promise<{ bench: Bench; view: ScheduleView; slot: Slot; tenure: Tenure }> {
      const bench = await own.bench();
      const url = `https://example.com/${turn++}`;
      const view = await bench.addSchedule({ destination: { kind: 'inline', url, method: 'POST' } });
      const slot = slotAt(pendingOf(view));
      const nodes = new Nodes(own.store, instant(START + turn * MINUTE_MS));
      return { bench, view, slot, tenure: await nodes.take('holder', [slot]) };
    }

    const writes: readonly (readonly [string, Write])[] = [
      ['a claim', (bench, view) => (t) => bench.store.claim([bench.claim(pendingOf(view), view)], t)],
      ['an end', (bench, view) => (t) => bench.store.endUnsent([bench.endUnsent(pendingOf(view), view)], t)],
      [
        'a putting off',
        (bench, view) => (t) =>
          bench.store.putOff([putOff(pendingOf(view), instant(bench.now + MINUTE_MS), false)], t),
      ],
    ];

    for (const [name, prepare] of writes) {
      test(`${name} is done while the slot is held`, async () => {
        const { bench, view, tenure } = await held();
        expect(await prepare(bench, view)(tenure)).toEqual(['done']);
        expect(await bench.delivery(pendingOf(view).id)).not.toEqual(pendingOf(view));
      });

      test(`${name} is stale and changes nothing in another epoch, by another node, for another slot`, async () => {
        const { bench, view, slot, tenure } = await held();
        const write = prepare(bench, view);
        const epoch = tenure.epochs.get(slot) ?? Number.NaN;
        const wrong: readonly Tenure[] = [
          { ...tenure, epochs: new Map([[slot, epoch - 1]]) },
          { ...tenure, epochs: new Map([[slot, epoch + 1]]) },
          { ...tenure, epochs: new Map([[otherThan(slot), epoch]]) },
          { ...tenure, epochs: new Map() },
          { ...tenure, node: 'another' },
        ];
        for (const one of wrong) expect(await bench.changesNothing(() => write(one))).toEqual(['stale']);
        expect(await write(tenure)).toEqual(['done']);
      });

      test(`${name} is stale and changes nothing once the slot was given back, or taken by another`, async () => {
        const { bench, view, slot, tenure } = await held();
        const write = prepare(bench, view);
        await bench.store.releaseSlots(tenure);
        expect(await bench.changesNothing(() => write(tenure))).toEqual(['stale']);
        const next = await new Nodes(own.store, instant(START + turn * MINUTE_MS)).take('next', [slot]);
        expect(await bench.changesNothing(() => write(tenure))).toEqual(['stale']);
        expect(await write(next)).toEqual(['done']);
      });
    }

    test('each of a batch is for itself', async () => {
      const { bench, view, tenure } = await held();
      const others: ScheduleView[] = [];
      while (others.length < 3) {
        const url = `https://example.com/other/${turn++}`;
        const made = bench.schedule({ destination: { kind: 'inline', url, method: 'POST' } });
        if (!tenure.epochs.has(slotAt(made.pending))) others.push(await bench.addMade(made));
      }
      const views = [others[0], view, others[1], others[2]].filter((one) => one !== undefined);
      const claims = views.map((one) => bench.claim(pendingOf(one), one));
      expect(await bench.store.claim(claims, tenure)).toEqual(['stale', 'done', 'stale', 'stale']);
    });

    test('gates are saved where the slot is held, and left as they are where it is not', async () => {
      const { bench, view, tenure } = await held();
      const endpoint = endpointKeyOf(pendingOf(view).target);
      const gateNow = async () => (await bench.work(pendingOf(view))).gate;
      const saved = bench.gate(endpoint);
      await bench.store.saveGates([saved], tenure);
      expect(await gateNow()).toEqual(saved.gate);
      await bench.store.saveGates([bench.gate(endpoint, { gate: null })], { ...tenure, node: 'another' });
      await bench.store.saveGates([bench.gate(endpoint, { gate: null })], { ...tenure, epochs: new Map() });
      expect(await gateNow()).toEqual(saved.gate);
      await bench.store.releaseSlots(tenure);
      await bench.store.saveGates([bench.gate(endpoint, { gate: null })], tenure);
      expect(await gateNow()).toEqual(saved.gate);
    });
  });

  describe('looking ahead in some slots', () => {
    const own = ownSuite(suite);

    test.for([1, 3, 50])(
      'in pages of %i finds what is there, in its order, and nothing else',
      async (limit) => {
        const bench = await own.bench();
        const made: Delivery[] = [];
        for (let i = 0; i < 40; i++) {
          const destination = {
            kind: 'inline',
            url: `https://example.com/${i % 20}`,
            method: 'POST',
          } as const;
          const timing = bench.oneShot(((i * 7) % 5) * MINUTE_MS + 1);
          made.push(pendingOf(await bench.addSchedule({ destination, timing })));
        }
        const slots = new Set([...new Set(made.map(slotAt))].filter((_, index) => index % 2 === 0));
        const everything = await allDue(bench.store, 1_000);
        const expected = everything.filter(({ partition, endpoint }) =>
          slots.has(slotOf(partition, endpoint)),
        );
        expect(expected.length).toBeGreaterThan(10);
        expect(expected.length).toBeLessThan(everything.length);
        expect(await allDue(bench.store, limit, slots)).toEqual(expected);
        expect(await bench.store.listDue(null, THE_END, limit, new Set())).toEqual([]);
        expect(await allDue(bench.store, limit, new Set(ALL_SLOTS))).toEqual(everything);
      },
    );

    test('finds a delivery to a profile in the slot of the profile', async () => {
      const bench = await own.bench();
      const profile = await bench.addProfile();
      const addition = bench.scheduleOn(profile);
      await bench.store.addSchedule(addition);
      const { pending } = addition;
      const found = await allDue(bench.store, 100, new Set([slotAt(pending)]));
      expect(found).toContainEqual(dueOf(pending));
      const others = new Set(ALL_SLOTS.filter((slot) => slot !== slotAt(pending)));
      expect((await allDue(bench.store, 100, others)).map(({ id }) => id)).not.toContain(pending.id);
    });
  });

  describe('the clock of the store', () => {
    const own = ownSuite(suite);

    test('shows the time in milliseconds, goes on and does not go back', async () => {
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

type Write = (bench: Bench, view: ScheduleView) => (tenure: Tenure) => Promise<readonly ('done' | 'stale')[]>;

/** Nodes at the instant that the test says it is. */
class Nodes {
  readonly store: AnyStore;
  now: Instant;

  constructor(store: AnyStore, now: Instant = START) {
    this.store = store;
    this.now = now;
  }

  renew(node: string, leaseMs = LEASE_MS, isStopping = false): Promise<ClusterState> {
    const lease = { node, leaseUntil: instant(this.now + leaseMs), isStopping };
    return this.store.renewLease(lease);
  }

  async take(node: string, slots: readonly number[]): Promise<Tenure> {
    const state = await this.renew(node);
    const seen = state.slots.filter(({ slot }) => slots.includes(slot));
    const tenure = await this.store.takeSlots(node, seen);
    expect([...tenure.epochs.keys()]).toEqual(slots);
    return tenure;
  }
}

function ownersOf({ slots }: ClusterState, count: number): readonly (string | null)[] {
  return slots.slice(0, count).map(({ owner }) => owner);
}

function epochsOf({ slots }: ClusterState, count: number): readonly number[] {
  return slots.slice(0, count).map(({ epoch }) => epoch);
}

function slotAt({ partition, target }: Pick<Delivery, 'partition' | 'target'>): Slot {
  return slotOf(partition, endpointKeyOf(target));
}

function otherThan(slot: Slot): Slot {
  return (slot === 0 ? 1 : 0) as Slot;
}

async function allDue(store: Store, limit: number, slots?: ReadonlySet<Slot>): Promise<readonly Due[]> {
  const found: Due[] = [];
  for (;;) {
    const page = await store.listDue(found.at(-1) ?? null, THE_END, limit, slots);
    expect(page.length).toBeLessThanOrEqual(limit);
    found.push(...page);
    if (page.length < limit) return found;
  }
}
