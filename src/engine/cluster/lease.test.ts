/** Several engines on one store: leases during outages, pauses and steps of the clock. */
import { describe, expect, test } from 'vitest';
import { SLOTS } from '#src/domain/slot.ts';
import {
  ascending,
  ClusterHarness,
  ownerAndOthers,
  scheduleMany,
  sentBy,
  slotsOwnedBy,
  type TestNode,
} from '#test/cluster-harness.ts';
import { OK } from '#test/engine-harness.ts';

const HOUR_MS = 3_600_000;

describe('a store that is away', () => {
  /** The store refuses all nodes. Their requests go on. */
  function away(nodes: readonly TestNode[]): void {
    for (const { faults } of nodes) {
      faults.set('refuses', 'claim', 'settle', 'loadDeliveries', 'loadPayloads', 'listDue', 'listLostClaims');
      faults.set('refuses', 'saveGates', 'renewLease', 'takeSlots', 'releaseSlots');
    }
  }

  test('for longer than a lease makes no node count as dead when it is back, and nothing is sent twice', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b', 'c');
    const before = await cluster.slots();
    const pending = await scheduleMany(cluster, 30, 1_000);
    for (const { egress } of nodes) egress.respond = () => null;
    await cluster.time.advance(1_100);
    away(nodes);
    await cluster.time.advance(10_000);
    expect(nodes.map(({ engine }) => engine.isFiring)).toEqual([false, false, false]);
    // The store comes back for one node after the other.
    for (const { faults } of nodes) {
      faults.clear();
      await cluster.time.advance(900);
    }
    for (const { egress } of nodes) for (const sent of egress.sent) sent.answer(OK);
    await cluster.time.advance(20_000);
    expect(await cluster.slots()).toEqual(before);
    expect(sentBy(nodes).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
    for (const { id } of pending) expect((await cluster.harness.delivery(id)).status).toBe('succeeded');
  });

  test('and comes back when a node starts: that node takes no other for dead either', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b');
    const before = await cluster.slots();
    away(nodes);
    await cluster.time.advance(10_000);
    const newcomer = await cluster.startNode('c');
    await cluster.time.advance(1_900);
    expect(await cluster.slots()).toEqual(before);
    for (const { faults } of nodes) faults.clear();
    await cluster.time.advance(5_000);
    expect(slotsOwnedBy([...nodes, newcomer]).toSorted(ascending)).toEqual([85, 85, 86]);
    expect(nodes.map(({ cluster: { metrics } }) => metrics.moved.lost)).toEqual([0, 0]);
  });

  test('hides a node that died meanwhile only for a little longer', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b', 'c');
    away(nodes);
    nodes[0].kill();
    await cluster.time.advance(10_000);
    for (const { faults } of nodes.slice(1)) faults.clear();
    await cluster.time.advance(3_000);
    expect((await cluster.slots()).filter(({ owner }) => owner === 'a')).toHaveLength(86);
    await cluster.time.advance(4_000);
    expect(slotsOwnedBy(nodes.slice(1))).toEqual([128, 128]);
  });

  test('between a claim and the read of its payload: the same attempt is sent when it is back', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    node.faults.set('refuses', 'loadPayloads');
    await cluster.time.advance(2_500);
    expect(sentBy([node])).toEqual([]);
    node.faults.clear();
    await cluster.time.advance(1_000);
    expect(sentBy([node])).toEqual([pending.id]);
    const [attempt, ...others] = await cluster.harness.attempts(pending.id);
    expect([attempt?.outcome, others]).toEqual(['success', []]);
  });

  test('until the lease has run out: nothing is sent before the lease is valid again', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    node.faults.set('refuses', 'loadPayloads', 'renewLease');
    await cluster.time.advance(10_000);
    node.faults.clear();
    node.faults.set('refuses', 'renewLease');
    await cluster.time.advance(5_000);
    expect(sentBy([node])).toEqual([]);
    node.faults.clear();
    await cluster.time.advance(1_000);
    expect(sentBy([node])).toEqual([pending.id]);
    expect(await cluster.harness.attempts(pending.id)).toHaveLength(1);
  });

  test('until another node has the claim: the first node does not send it', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    const [owner, other] = await ownerAndOthers(cluster, pending);
    owner.faults.set('refuses', 'loadPayloads', 'renewLease');
    await cluster.time.advance(20_000);
    expect(sentBy([other])).toEqual([pending.id]);
    owner.faults.clear();
    await cluster.time.advance(2_000);
    expect(sentBy([owner])).toEqual([]);
    expect((await cluster.harness.delivery(pending.id)).status).toBe('succeeded');
  });
});

describe.for([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
] as const)('a reference clock that is set an hour %s', ([, byMs]) => {
  function notices({ clock }: TestNode): void {
    clock.offsetMs = byMs;
    clock.sinceStepMs = 0;
  }

  test('makes no node count as dead, whichever node notices first', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b', 'c');
    const before = await cluster.slots();
    const [first, ...others] = nodes;
    notices(first);
    for (const node of others) node.clock.measure = async () => notices(node);
    await cluster.time.advance(1_100);
    for (const node of others) notices(node);
    await cluster.time.advance(6_000);
    for (const { clock } of nodes) clock.sinceStepMs = Number.POSITIVE_INFINITY;
    await cluster.time.advance(10_000);
    expect(await cluster.slots()).toEqual(before);
    expect(nodes.map(({ engine }) => engine.isFiring)).toEqual([true, true, true]);
  });

  test('hides a dead node only for a short time', async () => {
    await using cluster = await ClusterHarness.open();
    const [dead, ...others] = await cluster.startNodes('a', 'b', 'c');
    dead?.kill();
    for (const node of others) notices(node);
    await cluster.time.advance(5_000);
    expect(slotsOwnedBy(others)).toEqual([85, 85]);
    for (const { clock } of others) clock.sinceStepMs = Number.POSITIVE_INFINITY;
    await cluster.time.advance(3_000);
    expect(slotsOwnedBy(others)).toEqual([128, 128]);
  });
});

describe('a node that was paused for longer than its lease', () => {
  test('claims nothing when it continues, and learns which slots it has lost', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: 21_000 });
    const [owner, other] = await ownerAndOthers(cluster, pending);
    await cluster.time.advance(1_000);
    owner.timers.state = 'paused';
    await cluster.time.advance(20_000);
    expect(slotsOwnedBy([other])).toEqual([SLOTS]);
    const claimed = owner.faults.times('claim');
    owner.timers.resume();
    await cluster.time.settled();
    expect(owner.faults.times('claim')).toBe(claimed);
    expect(owner.cluster.metrics.moved.lost).toBe(128);
    await cluster.time.advance(5_000);
    expect(slotsOwnedBy(cluster.nodes)).toEqual([128, 128]);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
  });

  test('keeps its slots when no node has taken them, and scans for the work that it missed', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.startNodes('a');
    const { pending } = await cluster.harness.schedule({ inMs: 5_000 });
    const before = await cluster.slots();
    alone.timers.state = 'paused';
    await cluster.time.advance(20_000);
    expect(alone.engine.isFiring).toBe(false);
    alone.timers.resume();
    await cluster.time.settled();
    await cluster.time.advance(100);
    expect(sentBy([alone])).toEqual([pending.id]);
    expect(await cluster.slots()).toEqual(before);
    expect(alone.engine.isFiring).toBe(true);
  });
});

describe('a node that cannot renew its lease', () => {
  test('dispatches nothing from shortly before the lease ends until it is renewed', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.startNodes('a');
    alone.faults.set('refuses', 'renewLease');
    const inTime = await cluster.harness.schedule({ inMs: 1_900, url: 'https://example.com/1' });
    const late = await cluster.harness.schedule({ inMs: 3_000, url: 'https://example.com/2' });
    await cluster.time.advance(3_500);
    expect(sentBy([alone])).toEqual([inTime.pending.id]);
    expect([alone.engine.isFiring, alone.slotsOwned]).toEqual([false, 0]);
    expect(alone.cluster.metrics.renewalsFailed).toBeGreaterThan(10);
    alone.faults.clear();
    await cluster.time.advance(300);
    expect(sentBy([alone])).toEqual([inTime.pending.id, late.pending.id]);
    expect(alone.engine.isFiring).toBe(true);
    expect(alone.log.lines.filter(({ message }) => message.includes('lease'))).toHaveLength(1);
  });

  test('counts the lease from before it requested the renewal', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.startNodes('a');
    // The answer takes longer than the lease is valid.
    const wait = (): Promise<void> => {
      alone.faults.before('renewLease', wait);
      return new Promise((resolve) => void cluster.time.after(2_900, resolve));
    };
    alone.faults.before('renewLease', wait);
    let wasFiring = false;
    for (let passed = 0; passed < 12_000; passed += 100) {
      await cluster.time.advance(100);
      if (passed > 5_000) wasFiring ||= alone.engine.isFiring;
    }
    expect(wasFiring).toBe(false);
  });
});

describe('a node whose clock is not synchronized', () => {
  test('dispatches nothing and takes no slots until it is', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.startNodes('a');
    const { pending } = await cluster.harness.schedule({ inMs: 2_000 });
    alone.clock.isSynchronized = false;
    await cluster.time.advance(5_000);
    expect([sentBy([alone]), alone.engine.isFiring]).toEqual([[], false]);
    const unsure = cluster.node('b');
    unsure.clock.isSynchronized = false;
    void unsure.engine.start();
    await cluster.time.advance(2_000);
    expect(unsure.faults.times('takeSlots')).toBe(0);
    alone.clock.isSynchronized = true;
    unsure.clock.isSynchronized = true;
    await cluster.time.advance(2_000);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
    expect(slotsOwnedBy(cluster.nodes)).toEqual([128, 128]);
  });
});
