/** Several engines over one store: who dispatches what, and what happens when that changes. */
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { SLOTS } from '#src/domain/slot.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import { ClusterHarness, type TestNode } from '#test/cluster-harness.ts';
import { BROKEN, OK, PARTITION, requireDue } from '#test/engine-harness.ts';
import { PeerHints } from './cluster/peer-hints.ts';

const HOUR_MS = 3_600_000;
const PROFILE = { breakerPolicy: { threshold: 2, baseOpen: '30s', maxOpen: '60s', probeTimeout: '10s' } };

function spotOf({ partition, target }: Delivery): EndpointRef {
  return { partition, endpoint: endpointKeyOf(target) };
}

function heldBy(nodes: readonly TestNode[]): readonly number[] {
  return nodes.map(({ slotsHeld }) => slotsHeld);
}

function ascending(a: number, b: number): number {
  return a - b;
}

function sentBy(nodes: readonly TestNode[]): readonly string[] {
  return nodes.flatMap(({ egress }) => egress.header('Sched-Delivery-Id')).map((id) => id ?? '');
}

/** The node that holds it first, then the others. */
async function around(cluster: ClusterHarness, delivery: Delivery): Promise<[TestNode, ...TestNode[]]> {
  const holder = await cluster.holderOf(spotOf(delivery));
  return [holder, ...cluster.nodes.filter((node) => node !== holder)];
}

/** One delivery to a URL of its own for each of so many. */
async function many(cluster: ClusterHarness, count: number, inMs: number) {
  const views = [];
  for (let i = 0; i < count; i++) {
    views.push(await cluster.harness.schedule({ inMs, url: `https://example.com/${i}` }));
  }
  return views.map(({ pending }) => pending);
}

describe('nodes', () => {
  test('share the slots evenly, and then nothing moves', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b', 'c');
    expect(heldBy(nodes).toSorted(ascending)).toEqual([85, 85, 86]);
    const before = await cluster.slots();
    await cluster.time.advance(60_000);
    expect(await cluster.slots()).toEqual(before);
    expect(nodes.map(({ cluster: { metrics } }) => metrics.moved.lost)).toEqual([0, 0, 0]);
    expect(nodes[0]?.cluster.metrics.gauges?.()).toMatchObject({
      nodes: 3,
      isClockSure: true,
      isLeaseValid: true,
    });
  });

  test('each send what lies in their slots, in time, and nothing twice', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b', 'c');
    const pending = await many(cluster, 60, 5_000);
    await cluster.time.advance(5_000);
    expect(sentBy(nodes).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
    for (const node of nodes) {
      expect(node.egress.sent.length).toBeGreaterThan(5);
      expect(node.egress.sent.every(({ at }) => at === pending[0]?.dueAt)).toBe(true);
    }
    for (const { id } of pending) expect((await cluster.harness.delivery(id)).status).toBe('succeeded');
  });

  test('that join are given their share within a second, also when hints get lost', async () => {
    await using cluster = await ClusterHarness.open();
    const [first] = await cluster.settled('a');
    const second = await cluster.started('b');
    await cluster.time.advance(200);
    expect(heldBy([first as TestNode, second])).toEqual([128, 128]);
    for (const node of cluster.nodes) node.hears = false;
    const third = cluster.node('c');
    third.hears = false;
    void third.engine.start();
    await cluster.time.advance(2_000);
    expect(heldBy(cluster.nodes).toSorted(ascending)).toEqual([85, 85, 86]);
  });

  test('that are alone hold everything', async () => {
    await using cluster = await ClusterHarness.open();
    expect(heldBy(await cluster.settled('a'))).toEqual([SLOTS]);
  });
});

describe('a node that dies', () => {
  test('is followed by the others within five seconds, and what it was sending is sent again', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b', 'c');
    const { pending } = await cluster.harness.schedule({ inMs: 2_000 });
    const [holder, ...others] = await around(cluster, pending);
    holder.egress.respond = () => null;
    await cluster.time.advance(2_000);
    expect(holder.egress.sent).toHaveLength(1);
    holder.die();
    await cluster.time.advance(5_000);
    expect(heldBy(others)).toEqual([128, 128]);
    expect(await cluster.harness.attempts(pending.id)).toMatchObject([{ error: 'interrupted' }]);
    await cluster.time.advance(10_000);
    expect(sentBy(others)).toEqual([pending.id]);
    expect((await cluster.harness.delivery(pending.id)).status).toBe('succeeded');
  });

  test('and is put away by another first: who comes second looks again at once', async () => {
    await using cluster = await ClusterHarness.open();
    const [dead, node] = await cluster.settled('a', 'b');
    if (dead === undefined || node === undefined) throw new Error('There are two.');
    dead.die();
    // All that it held has gone with it by the time that this one's own attempt is refused.
    node.faults.before('removeDeadNode', () => cluster.harness.disk.leave('a'));
    while (node.faults.times('removeDeadNode') === 0) await cluster.time.advance(10);
    await cluster.time.advance(100);
    expect(heldBy([node])).toEqual([SLOTS]);
  });

  test('moves nothing but its own slots', async () => {
    await using cluster = await ClusterHarness.open();
    const [dead] = await cluster.settled('a', 'b', 'c');
    const before = await cluster.slots();
    dead?.die();
    await cluster.time.advance(5_000);
    const after = await cluster.slots();
    for (const [index, { owner, epoch }] of before.entries()) {
      if (owner !== 'a') expect(after[index]).toMatchObject({ owner, epoch });
      else expect(after[index]).toMatchObject({ epoch: epoch + 1 });
    }
  });
});

describe('a store that is away', () => {
  /** For all nodes; what they send goes on. */
  function away(nodes: readonly TestNode[]): void {
    for (const { faults } of nodes) {
      faults.set('refuses', 'claim', 'settle', 'loadDeliveries', 'loadPayloads', 'listDue', 'listLostClaims');
      faults.set('refuses', 'saveGates', 'renewLease', 'takeSlots', 'releaseSlots');
    }
  }

  test('for longer than a lease: when it is back nobody is taken for dead, and nothing is sent twice', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b', 'c');
    const before = await cluster.slots();
    const pending = await many(cluster, 30, 1_000);
    for (const { egress } of nodes) egress.respond = () => null;
    await cluster.time.advance(1_100);
    away(nodes);
    await cluster.time.advance(10_000);
    expect(nodes.map(({ engine }) => engine.isFiring)).toEqual([false, false, false]);
    // They find out one after the other.
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

  test('and a node that starts as it comes back takes nobody for dead either', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b');
    const before = await cluster.slots();
    away(nodes);
    await cluster.time.advance(10_000);
    const newcomer = await cluster.started('c');
    await cluster.time.advance(1_900);
    expect(await cluster.slots()).toEqual(before);
    for (const { faults } of nodes) faults.clear();
    await cluster.time.advance(5_000);
    expect(heldBy([...nodes, newcomer]).toSorted(ascending)).toEqual([85, 85, 86]);
    expect(nodes.map(({ cluster: { metrics } }) => metrics.moved.lost)).toEqual([0, 0]);
  });

  test('who died meanwhile is found out a little later', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b', 'c');
    away(nodes);
    nodes[0]?.die();
    await cluster.time.advance(10_000);
    for (const { faults } of nodes.slice(1)) faults.clear();
    await cluster.time.advance(3_000);
    expect((await cluster.slots()).filter(({ owner }) => owner === 'a')).toHaveLength(86);
    await cluster.time.advance(4_000);
    expect(heldBy(nodes.slice(1))).toEqual([128, 128]);
  });

  test('between a claim and reading what to send: it is sent when it is back, as the same attempt', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
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

  test('and the lease has run out: it is not sent before it is valid again, whatever is read', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
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

  test('and the claim is somebody else’s by then: it is not sent', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    const [holder, other] = await around(cluster, pending);
    holder.faults.set('refuses', 'loadPayloads', 'renewLease');
    await cluster.time.advance(20_000);
    expect(sentBy([other as TestNode])).toEqual([pending.id]);
    holder.faults.clear();
    await cluster.time.advance(2_000);
    expect(sentBy([holder])).toEqual([]);
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

  test('kills nobody, whoever notices first', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b', 'c');
    const before = await cluster.slots();
    const [first, ...others] = nodes;
    if (first === undefined) throw new Error('There are three.');
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

  test('hides no death for long', async () => {
    await using cluster = await ClusterHarness.open();
    const [dead, ...others] = await cluster.settled('a', 'b', 'c');
    dead?.die();
    for (const node of others) notices(node);
    await cluster.time.advance(5_000);
    expect(heldBy(others)).toEqual([85, 85]);
    for (const { clock } of others) clock.sinceStepMs = Number.POSITIVE_INFINITY;
    await cluster.time.advance(3_000);
    expect(heldBy(others)).toEqual([128, 128]);
  });
});

describe('a node that was paused for longer than its lease', () => {
  test('claims nothing when it goes on, and finds out what it has lost', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: 21_000 });
    const [holder, other] = await around(cluster, pending);
    await cluster.time.advance(1_000);
    holder.timers.state = 'paused';
    await cluster.time.advance(20_000);
    expect(heldBy([other as TestNode])).toEqual([SLOTS]);
    const claimed = holder.faults.times('claim');
    holder.timers.goOn();
    await cluster.time.settled();
    expect(holder.faults.times('claim')).toBe(claimed);
    expect(holder.cluster.metrics.moved.lost).toBe(128);
    await cluster.time.advance(5_000);
    expect(heldBy(cluster.nodes)).toEqual([128, 128]);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
  });

  test('holds what it had when nobody has taken it, and looks for what passed by', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.settled('a');
    const { pending } = await cluster.harness.schedule({ inMs: 5_000 });
    const before = await cluster.slots();
    if (alone === undefined) throw new Error('There is one.');
    alone.timers.state = 'paused';
    await cluster.time.advance(20_000);
    expect(alone.engine.isFiring).toBe(false);
    alone.timers.goOn();
    await cluster.time.settled();
    await cluster.time.advance(100);
    expect(sentBy([alone])).toEqual([pending.id]);
    expect(await cluster.slots()).toEqual(before);
    expect(alone.engine.isFiring).toBe(true);
  });
});

describe('a node that cannot renew its lease', () => {
  test('dispatches nothing from a little before it runs out, and again when it can', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.settled('a');
    if (alone === undefined) throw new Error('There is one.');
    alone.faults.set('refuses', 'renewLease');
    const inTime = await cluster.harness.schedule({ inMs: 1_900, url: 'https://example.com/1' });
    const late = await cluster.harness.schedule({ inMs: 3_000, url: 'https://example.com/2' });
    await cluster.time.advance(3_500);
    expect(sentBy([alone])).toEqual([inTime.pending.id]);
    expect([alone.engine.isFiring, alone.slotsHeld]).toEqual([false, 0]);
    expect(alone.cluster.metrics.renewalsFailed).toBeGreaterThan(10);
    alone.faults.clear();
    await cluster.time.advance(300);
    expect(sentBy([alone])).toEqual([inTime.pending.id, late.pending.id]);
    expect(alone.engine.isFiring).toBe(true);
    expect(alone.log.lines.filter(({ message }) => message.includes('lease'))).toHaveLength(1);
  });

  test('counts the lease from before it asked for it', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.settled('a');
    if (alone === undefined) throw new Error('There is one.');
    // The answer takes longer than the lease is good for.
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

describe('a node that is not sure of the time', () => {
  test('dispatches nothing and takes nothing until it is', async () => {
    await using cluster = await ClusterHarness.open();
    const [alone] = await cluster.settled('a');
    if (alone === undefined) throw new Error('There is one.');
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
    expect(heldBy(cluster.nodes)).toEqual([128, 128]);
  });
});

describe('a clean stop', () => {
  test('hands over at once, before the requests under way have ended, which end as usual', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b', 'c');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    const [holder, ...others] = await around(cluster, pending);
    holder.egress.respond = () => null;
    const next = await cluster.harness.schedule({ inMs: 1_200 });
    await cluster.time.advance(1_000);
    expect(holder.egress.sent).toHaveLength(1);
    let isStopped = false;
    const stopped = holder.engine.stop(30_000).finally(() => {
      isStopped = true;
    });
    await cluster.time.advance(150);
    expect(heldBy(others)).toEqual([128, 128]);
    await cluster.time.advance(50);
    expect(sentBy(others)).toEqual([next.pending.id]);
    expect(others.flatMap(({ egress }) => egress.sent.map(({ at }) => at))).toEqual([next.pending.dueAt]);

    // Others do not take it for lost, however long it takes.
    await cluster.time.advance(20_000);
    expect([isStopped, (await cluster.harness.delivery(pending.id)).status]).toEqual([false, 'claimed']);
    holder.egress.sent[0]?.answer(OK);
    await cluster.time.settled();
    await stopped;
    expect((await cluster.harness.delivery(pending.id)).status).toBe('succeeded');
    expect(await cluster.harness.attempts(pending.id)).toHaveLength(1);
    await cluster.time.advance(1_000);
    expect(others[0]?.cluster.metrics.gauges?.().nodes).toBe(2);
  });

  test('whose slots cannot be given back at first gives them back as soon as they can be', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: 3_000 });
    const [holder, other] = await around(cluster, pending);
    holder.faults.set('refuses', 'releaseSlots');
    const stopped = holder.engine.stop(10_000);
    await cluster.time.advance(1_000);
    // It keeps its lease, so nobody takes them for nobody's.
    expect((await cluster.slots()).filter(({ owner }) => owner === holder.node)).toHaveLength(128);
    holder.faults.clear();
    await cluster.time.advance(1_000);
    await stopped;
    expect(heldBy([other as TestNode])).toEqual([SLOTS]);
    await cluster.time.advance(1_000);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
    expect((other as TestNode).egress.sent.map(({ at }) => at)).toEqual([pending.dueAt]);
  });

  test('of all nodes leaves nothing behind but free slots', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    for (const { engine } of cluster.nodes) {
      void engine.stop(1_000);
      await cluster.time.advance(2_000);
    }
    expect((await cluster.slots()).every(({ owner }) => owner === null)).toBe(true);
    expect(cluster.time.pending).toBe(0);
  });

  test('during a start ends it', async () => {
    await using cluster = await ClusterHarness.open();
    const node = cluster.node('a');
    node.faults.set('refuses', 'renewLease', 'listLostClaims');
    void node.engine.start();
    await cluster.time.advance(100);
    const stopped = node.engine.stop(1_000);
    await cluster.time.advance(2_000);
    await stopped;
    expect(cluster.time.pending).toBe(0);
  });
});

describe('the gate of an endpoint', () => {
  /** With a breaker that two failures have opened, on the node that holds its slot. */
  async function opened(cluster: ClusterHarness) {
    const profile = await cluster.harness.profile(PROFILE);
    const views = [];
    for (const inMs of [1_000, 1_500, 60_000]) views.push(await cluster.harness.schedule({ profile, inMs }));
    const [, second] = views;
    if (second === undefined) throw new Error('There are three.');
    for (const node of cluster.nodes) node.egress.respond = () => BROKEN;
    await cluster.time.advance(2_000);
    const [holder, ...others] = await around(cluster, second.pending);
    expect(holder.engine.gauges().breakers.open).toBe(1);
    return { profile, holder, others };
  }

  test('goes with its slot when it is given back: the next owner knows it, the one before forgets it', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { profile, holder, others } = await opened(cluster);
    const stopped = holder.engine.stop(0);
    await cluster.time.advance(1_000);
    await stopped;
    expect(holder.engine.gauges().breakers.open).toBe(0);
    const { pending } = await cluster.harness.schedule({ profile, inMs: 500 });
    const sent = sentBy(others).length;
    await cluster.time.advance(2_000);
    expect(sentBy(others)).toHaveLength(sent);
    expect((await cluster.harness.delivery(pending.id)).attemptCount).toBe(0);
    expect(others.map(({ engine }) => engine.gauges().breakers.open)).toEqual([1]);
  });

  test('is saved before the slot is given back, also what the last batch under way makes of it', async () => {
    await using cluster = await ClusterHarness.open();
    const [holder] = await cluster.settled('a');
    if (holder === undefined) throw new Error('There is one.');
    const { promise: hold, resolve } = Promise.withResolvers<void>();
    const { pending } = await cluster.harness.schedule({ inMs: 1_000, rateLimit: { perSecond: 1 } });
    holder.faults.before('claim', () => hold);
    await cluster.time.advance(1_000);
    void holder.engine.stop(10_000);
    await cluster.time.advance(500);
    // The batch is under way: nothing is given back yet.
    expect(holder.faults.times('releaseSlots')).toBe(0);
    resolve();
    await cluster.time.settled();
    expect(sentBy([holder])).toEqual([pending.id]);
    expect(holder.faults.times('releaseSlots')).toBe(1);
    const verbs = holder.faults.asked;
    expect(verbs.lastIndexOf('saveGates')).toBeLessThan(verbs.indexOf('releaseSlots'));
    const [work] = await cluster.harness.disk.loadDeliveries([pending]);
    expect(Object.keys(work?.gate?.paces ?? {})).toEqual(['1']);
  });

  test('goes with its slot also where it had not been saved yet', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const profile = await cluster.harness.profile(PROFILE);
    const { pending } = await cluster.harness.schedule({ profile, inMs: 1_000 });
    const [holder] = await around(cluster, pending);
    holder.egress.respond = () => BROKEN;
    await cluster.time.advance(1_000);
    expect((await cluster.harness.disk.loadDeliveries([pending]))[0]?.gate).toBeNull();
    const stopped = holder.engine.stop(0);
    await cluster.time.settled();
    await stopped;
    expect((await cluster.harness.disk.loadDeliveries([pending]))[0]?.gate?.breaker.failures).toBe(1);
  });

  test('of a slot that was lost is forgotten, and not saved', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { holder, profile } = await opened(cluster);
    holder.timers.state = 'paused';
    await cluster.time.advance(6_000);
    await cluster.harness.disk.saveGates([
      {
        partition: PARTITION,
        endpoint: endpointKeyOf({ endpointId: profile.id, url: '' }),
        gate: null,
        savedAt: cluster.harness.now,
      },
    ]);
    holder.faults.set('refuses', 'claim');
    holder.timers.goOn();
    await cluster.time.settled();
    expect(holder.engine.gauges().breakers.open).toBe(0);
    const { pending } = await cluster.harness.schedule({ profile });
    const [work] = await cluster.harness.disk.loadDeliveries([pending]);
    expect(work?.gate).toBeNull();
  });

  test('learns nothing from an attempt that ends after its slot has moved', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const profile = await cluster.harness.profile({
      breakerPolicy: { ...PROFILE.breakerPolicy, threshold: 1 },
    });
    const { pending } = await cluster.harness.schedule({ profile, inMs: 1_000 });
    const [holder] = await around(cluster, pending);
    holder.egress.respond = () => null;
    await cluster.time.advance(1_000);
    const stopped = holder.engine.stop(10_000);
    await cluster.time.advance(1_000);
    holder.egress.sent[0]?.answer(BROKEN);
    await cluster.time.settled();
    expect(holder.engine.gauges().breakers.open).toBe(0);
    await stopped;
    expect((await cluster.harness.delivery(pending.id)).status).toBe('retry_scheduled');
    const [work] = await cluster.harness.disk.loadDeliveries([pending]);
    expect(work?.gate).toBeNull();
  });
});

describe('a write for a slot that is not held any more', () => {
  test('is refused, gives its turn back, and makes the node look at once', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    await cluster.time.advance(500);
    const { disk } = cluster.harness;
    node.faults.before('claim', async () => {
      // As after a pause of the whole machine: somebody else has taken everything.
      const at = instant(cluster.harness.now + 100_000);
      const { slots } = await disk.renewLease({ node: 'thief', leaseUntil: at, isStopping: false });
      await disk.leave('a');
      await disk.takeSlots(
        'thief',
        slots.map(({ slot, epoch }) => ({ slot, epoch })),
      );
    });
    await cluster.time.advance(499);
    const renewed = node.faults.times('renewLease');
    await cluster.time.advance(1);
    expect(sentBy([node])).toEqual([]);
    expect((await cluster.harness.delivery(pending.id)).status).toBe('scheduled');
    expect(node.faults.times('renewLease')).toBe(renewed + 1);
    expect(node.cluster.metrics.moved.lost).toBe(SLOTS);
  });

  test('is not made when the slot moved between reading the work and claiming it', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
    await cluster.harness.schedule({ inMs: 1_000 });
    node.faults.before('loadDeliveries', () => {
      node.clock.isSynchronized = false;
    });
    await cluster.time.advance(1_500);
    expect(node.faults.times('loadDeliveries')).toBe(1);
    expect(node.faults.times('claim')).toBe(0);
  });
});

describe('an answer that got lost', () => {
  test('of taking slots: they are held as soon as the next round shows it', async () => {
    await using cluster = await ClusterHarness.open();
    const node = cluster.node('a');
    node.faults.set('loses', 'takeSlots');
    void node.engine.start();
    await cluster.time.advance(1_000);
    expect(node.slotsHeld).toBe(SLOTS);
    expect((await cluster.slots()).every(({ epoch }) => epoch === 1)).toBe(true);
  });

  test.for(['loses', 'refuses'] as const)(
    'of giving slots back, or that was never done (%s): shares are even all the same',
    async (fault) => {
      await using cluster = await ClusterHarness.open();
      const [node] = await cluster.settled('a');
      node?.faults.set(fault, 'releaseSlots');
      await cluster.started('b');
      await cluster.time.advance(1_000);
      node?.faults.clear();
      await cluster.time.advance(3_000);
      expect(heldBy(cluster.nodes)).toEqual([128, 128]);
      expect((await cluster.slots()).filter(({ owner }) => owner === null)).toEqual([]);
    },
  );
});

describe('slots', () => {
  test('stay where they are when a renewal of a dead node arrives late, whoever puts it away', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.settled('a', 'b');
    const { disk, now } = cluster.harness;
    const late = { node: 'late', leaseUntil: instant(now - 1), isStopping: false };
    for (const { faults } of nodes) faults.before('removeDeadNode', () => disk.removeDeadNode(late));
    const released = () => nodes.map(({ faults }) => faults.times('releaseSlots'));
    const before = released();
    await disk.renewLease(late);
    await cluster.time.advance(5_000);
    expect(nodes.map(({ faults }) => faults.times('removeDeadNode') > 0)).toContain(true);
    expect(released()).toEqual(before);
  });
});

describe('lost claims', () => {
  async function claimedBy(cluster: ClusterHarness, node: string): Promise<ClaimWrite> {
    const { harness } = cluster;
    const view = await harness.schedule({ inMs: 60_000 });
    const token = harness.ids.mint('att', harness.now);
    const ids = { attempt: token, delivery: harness.ids.mint('dlv', harness.now) };
    const write = life.claim(view.pending, view, { node, token }, ids, harness.now);
    expect(await harness.disk.claim([write])).toEqual(['done']);
    return write;
  }

  test('of a node that nobody knows are closed within a few seconds, as a net, by who holds the slot', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { delivery } = await claimedBy(cluster, 'long-gone');
    const [holder, other] = await around(cluster, delivery);
    await cluster.time.advance(5_000);
    expect((await cluster.harness.delivery(delivery.id)).status).toBe('retry_scheduled');
    expect([holder.faults.times('settle'), other?.faults.times('settle')]).toEqual([1, 0]);
  });

  test('of a node that joined after they were listed are left alone', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
    const { delivery } = await claimedBy(cluster, 'newcomer');
    const { disk } = cluster.harness;
    const join = () => {
      const { now } = cluster.harness;
      return disk.renewLease({ node: 'newcomer', leaseUntil: instant(now + 3_200), isStopping: false });
    };
    node.faults.before('listLostClaims', () => node.faults.before('renewLease', join));
    const listed = node.faults.times('listLostClaims');
    await cluster.time.advance(5_000);
    expect(node.faults.times('listLostClaims')).toBe(listed + 1);
    expect((await cluster.harness.delivery(delivery.id)).status).toBe('claimed');
  });

  test('of its own, whose answer got lost, are closed by the node itself', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    node?.faults.set('loses', 'claim');
    await cluster.time.advance(1_000);
    node?.faults.clear();
    await cluster.time.advance(1_000);
    expect(await cluster.harness.attempts(pending.id)).toMatchObject([{ error: 'interrupted' }]);
  });

  test('are not looked for among those of the living', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { delivery } = await claimedBy(cluster, 'b');
    await cluster.time.advance(30_000);
    expect((await cluster.harness.delivery(delivery.id)).status).toBe('claimed');
  });
});

describe('a hint', () => {
  test('goes to the node that holds the slot, when it is near due, and is not told on', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b', 'c');
    const { pending } = await cluster.harness.schedule({ inMs: 100 });
    const [holder, other, third] = await around(cluster, pending);
    const told = () => cluster.nodes.map((node) => node.told.filter((what) => what === 'due').length);
    const before = told();
    other?.engine.due(requireDue(pending));
    await cluster.time.advance(100);
    expect(holder.egress.sent.map(({ at }) => at)).toEqual([pending.dueAt]);
    expect(third?.egress.sent).toEqual([]);
    expect(told().reduce((a, b) => a + b, 0)).toBe(before.reduce((a, b) => a + b, 0) + 1);
  });

  test('that is not near due, or of its own slot, is told to nobody', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const far = await cluster.harness.schedule({ inMs: 60_000 });
    const near = await cluster.harness.schedule({ inMs: 500 });
    const [holder, other] = await around(cluster, near.pending);
    other?.engine.due(requireDue(far.pending));
    holder.engine.due(requireDue(near.pending));
    other?.engine.due(null);
    expect(cluster.nodes.flatMap(({ told }) => told).filter((what) => what === 'due')).toEqual([]);
  });

  test('that is lost costs a look ahead', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    for (const node of cluster.nodes) node.hears = false;
    const { pending } = await cluster.harness.schedule({ inMs: 10 });
    await cluster.time.advance(950);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
  });

  test('to look again reaches everyone, once', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: -10 });
    const [, other] = await around(cluster, pending);
    await cluster.time.settled();
    other?.engine.rescan();
    await cluster.time.advance(50);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
    expect(cluster.nodes.flatMap(({ told }) => told).filter((what) => what === 'rescan')).toHaveLength(1);
  });

  test('of a process that dispatches nothing goes to the others, when it is near due', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
    const hints = new PeerHints(node.engine.heard, cluster.time);
    const near = await cluster.harness.schedule({ inMs: 100, url: 'https://example.com/1' });
    const told: unknown[] = [];
    const counting = new PeerHints({ ...node.engine.heard, due: (due) => void told.push(due) }, cluster.time);
    counting.due(requireDue((await cluster.harness.schedule({ inMs: 60_000 })).pending));
    counting.due(null);
    expect(told).toEqual([]);
    hints.due(requireDue(near.pending));
    await cluster.time.advance(100);
    expect(node.egress.sent.map(({ at }) => at)).toEqual([near.pending.dueAt]);
  });
});

describe('what becomes due where a slot has just moved', () => {
  test('is found by its new owner at once, however far its look behind has come', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.settled('a', 'b');
    const pending = await many(cluster, 40, 1_000);
    const [first, second] = cluster.nodes;
    if (first === undefined || second === undefined) throw new Error('There are two.');
    // What the first has in memory is lost with it.
    await cluster.time.advance(990);
    void first.engine.stop(0);
    await cluster.time.advance(300);
    expect(sentBy([second]).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
  });

  test('is dropped from memory by the one before, when its turn comes', async () => {
    await using cluster = await ClusterHarness.open();
    const [first] = await cluster.settled('a');
    if (first === undefined) throw new Error('There is one.');
    const pending = await many(cluster, 40, 1_500);
    await cluster.time.advance(1_000);
    // Both have everything in memory now, each half is for one of them.
    await cluster.started('b');
    await cluster.time.advance(1_000);
    expect(heldBy(cluster.nodes)).toEqual([128, 128]);
    expect(sentBy(cluster.nodes).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
    expect(first.egress.sent.length).toBeLessThan(40);
    expect(
      cluster.nodes.flatMap(({ egress }) => egress.sent).every(({ at }) => at === pending[0]?.dueAt),
    ).toBe(true);
    expect(first.engine.gauges().waiting).toBe(0);
  });

  test('is not even read where it waited in its queue', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.settled('a');
    if (node === undefined) throw new Error('There is one.');
    node.egress.respond = () => null;
    for (let i = 0; i < 200; i++) await cluster.harness.schedule({ inMs: 1_000 });
    await cluster.time.advance(1_000);
    expect(node.engine.gauges().waiting).toBeGreaterThan(64);
    const read = node.faults.times('loadDeliveries');
    node.clock.isSynchronized = false;
    node.egress.sent[0]?.answer(OK);
    await cluster.time.advance(1);
    expect([node.engine.gauges().waiting, node.faults.times('loadDeliveries')]).toEqual([0, read]);
  });
});
