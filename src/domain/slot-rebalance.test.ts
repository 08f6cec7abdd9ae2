import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_SLOTS, SLOTS, type Slot } from './slot.ts';
import { type ClusterSnapshot, planRebalance, type SlotSnapshot } from './slot-rebalance.ts';

/** The number of rounds after which every node must have its share. In a round every node decides once. */
const ROUNDS_MAX = 4;

/** The slots of a store. A slot that was seen in another epoch is not taken, nor one of a live node. */
class Cluster {
  /** The value is true for a node that stops. */
  readonly living = new Map<string, boolean>();
  readonly #slots = new Map<Slot, SlotSnapshot>(
    ALL_SLOTS.map((slot) => [slot, { slot, owner: null, epoch: 0 }]),
  );
  moves = 0;

  see(): ClusterSnapshot {
    const nodes = [...this.living].map(([node, isStopping]) => ({ node, isStopping }));
    return { nodes, slots: [...this.#slots.values()] };
  }

  held(node: string): ReadonlySet<Slot> {
    const own = [...this.#slots.values()].filter(({ owner }) => owner === node);
    return new Set(own.map(({ slot }) => slot));
  }

  decide(node: string, seen: ClusterSnapshot): void {
    const { take, release } = planRebalance(seen, node, this.held(node));
    for (const { slot, epoch } of take) {
      const now = this.#slots.get(slot);
      if (now?.epoch !== epoch || (now.owner !== null && this.living.has(now.owner))) continue;
      this.#slots.set(slot, { slot, owner: node, epoch: epoch + 1 });
      this.moves++;
    }
    for (const slot of release) {
      const now = this.#slots.get(slot);
      if (now?.owner !== node) throw new Error('It gives back what it does not hold.');
      this.#slots.set(slot, { ...now, owner: null });
      this.moves++;
    }
  }

  /** With `together` all nodes decide on the same snapshot. */
  round(together: boolean): void {
    const seen = this.see();
    for (const { node } of seen.nodes) this.decide(node, together ? seen : this.see());
  }

  get wanting(): readonly string[] {
    return [...this.living].filter(([, isStopping]) => !isStopping).map(([node]) => node);
  }

  get counts(): readonly number[] {
    return this.wanting.map((node) => this.held(node).size);
  }

  join(node: string): void {
    this.living.set(node, false);
  }

  die(node: string): void {
    this.living.delete(node);
  }

  /** The node stays live, but wants no slots. */
  stop(node: string): void {
    if (!this.living.has(node)) return;
    this.living.set(node, true);
    for (const slot of this.held(node)) {
      this.#slots.set(slot, { slot, owner: null, epoch: this.#slots.get(slot)?.epoch ?? 0 });
    }
  }

  get isEven(): boolean {
    const { counts } = this;
    const sum = counts.reduce((a, b) => a + b, 0);
    return sum === SLOTS && Math.max(...counts) - Math.min(...counts) <= 1;
  }

  settle(together = true): void {
    for (let round = 0; round < ROUNDS_MAX; round++) this.round(together);
  }
}

function clusterOf(...nodes: readonly string[]): Cluster {
  const cluster = new Cluster();
  for (const node of nodes) cluster.join(node);
  cluster.settle();
  return cluster;
}

const change = fc.record({
  node: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
  what: fc.constantFrom('join' as const, 'die' as const, 'stop' as const),
  /** The nodes that decide next, and whether on the snapshot from before. */
  deciders: fc.array(fc.tuple(fc.nat(6), fc.boolean()), { maxLength: 8 }),
});

describe('slots are assigned', () => {
  test('all to a node that is alone', () => {
    const cluster = clusterOf('a');
    expect(cluster.held('a').size).toBe(SLOTS);
  });

  test('evenly, after any joins, deaths and stops, and then nothing moves any more', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), fc.boolean(), (changes, together) => {
        const cluster = clusterOf('a');
        for (const { node, what, deciders } of changes) {
          const before = cluster.see();
          const isLast = cluster.wanting.every((one) => one === node);
          if (what === 'join' || !isLast) cluster[what](node);
          for (const [index, sawBefore] of deciders) {
            const decider = cluster.wanting[index % cluster.wanting.length];
            if (decider !== undefined) cluster.decide(decider, sawBefore ? before : cluster.see());
          }
        }
        cluster.settle(together);
        expect(cluster.isEven).toBe(true);
        const { moves } = cluster;
        cluster.settle(together);
        expect(cluster.moves).toBe(moves);
      }),
      { numRuns: 300 },
    );
  });

  test('so that a death moves only the slots of the dead node', () => {
    const cluster = clusterOf('a', 'b', 'c', 'd');
    const kept = new Map(['a', 'c', 'd'].map((node) => [node, cluster.held(node)]));
    cluster.living.delete('b');
    cluster.settle();
    expect(cluster.isEven).toBe(true);
    for (const [node, slots] of kept)
      expect([...slots].every((slot) => cluster.held(node).has(slot))).toBe(true);
  });

  test.for(['a', 'm', 'z'])(
    'so that a node that joins as %s gets its share, and no other node gets any',
    (joining) => {
      const cluster = clusterOf('b', 'c', 'd');
      const before = new Map(['b', 'c', 'd'].map((node) => [node, cluster.held(node)]));
      cluster.join(joining);
      cluster.settle();
      expect(cluster.counts).toEqual([64, 64, 64, 64]);
      for (const [node, slots] of before) {
        expect([...cluster.held(node)].every((slot) => slots.has(slot))).toBe(true);
      }
    },
  );

  test('so that a node that replaces another takes its slots, with any name', () => {
    const cluster = clusterOf('b', 'c', 'd');
    const kept = new Map(['b', 'c'].map((node) => [node, cluster.held(node)]));
    cluster.living.delete('d');
    cluster.join('a');
    cluster.settle();
    expect(cluster.isEven).toBe(true);
    for (const [node, slots] of kept) expect(cluster.held(node)).toEqual(slots);
  });
});

describe('a node', () => {
  const slots = (owner: (slot: Slot) => string | null): readonly SlotSnapshot[] =>
    ALL_SLOTS.map((slot) => ({ slot, owner: owner(slot), epoch: 3 }));
  const nodes = (...names: readonly string[]) => names.map((node) => ({ node, isStopping: false }));

  test('takes free slots and those of dead nodes, in their epoch, and none of a live node', () => {
    const seen = {
      nodes: nodes('a', 'b'),
      slots: slots((slot) => (slot < 100 ? 'b' : slot < 200 ? 'dead' : null)),
    };
    const { take, release } = planRebalance(seen, 'a', new Set());
    expect(release).toEqual([]);
    expect(take).toHaveLength(128);
    expect(take.every(({ slot, epoch }) => slot >= 100 && epoch === 3)).toBe(true);
  });

  test('takes other slots than the nodes that decide at the same moment', () => {
    const seen = { nodes: nodes('a', 'b', 'c'), slots: slots(() => null) };
    const taken = ['a', 'b', 'c'].flatMap((node) => planRebalance(seen, node, new Set()).take);
    expect(new Set(taken.map(({ slot }) => slot)).size).toBe(SLOTS);
    expect(taken).toHaveLength(SLOTS);
  });

  test('releases what is above its share, and no more', () => {
    const seen = { nodes: nodes('a', 'b'), slots: slots(() => 'a') };
    const { take, release } = planRebalance(seen, 'a', new Set(ALL_SLOTS));
    expect([take.length, release.length]).toEqual([0, 128]);
  });

  test('counts slots that it is releasing as released', () => {
    const seen = { nodes: nodes('a', 'b'), slots: slots(() => 'a') };
    const half = new Set(ALL_SLOTS.slice(0, 128));
    expect(planRebalance(seen, 'a', half)).toEqual({ take: [], release: [] });
  });

  test('does nothing when the others do not see it as live', () => {
    const seen = { nodes: nodes('b'), slots: slots(() => null) };
    expect(planRebalance(seen, 'a', new Set(ALL_SLOTS))).toEqual({ take: [], release: [] });
  });

  test('gets nothing while it stops, and its slots are not taken', () => {
    const seen = {
      nodes: [...nodes('a'), { node: 'b', isStopping: true }],
      slots: slots((slot) => (slot < 10 ? 'b' : slot < 130 ? 'a' : null)),
    };
    expect(planRebalance(seen, 'b', new Set()).take).toEqual([]);
    const { take } = planRebalance(seen, 'a', new Set(ALL_SLOTS.slice(10, 130)));
    expect(take.map(({ slot }) => slot)).toEqual(ALL_SLOTS.slice(130));
  });
});
