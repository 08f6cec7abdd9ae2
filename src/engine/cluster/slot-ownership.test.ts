/** Several engines on one store: what a change of owner means for gates, writes and deliveries. */
import { describe, expect, test } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import { SLOTS } from '#src/domain/slot.ts';
import { ClusterHarness, ownerAndOthers, scheduleMany, sentBy, slotsOwnedBy } from '#test/cluster-harness.ts';
import { BROKEN, OK, PARTITION } from '#test/engine-harness.ts';

const PROFILE = { breakerPolicy: { threshold: 2, baseOpen: '30s', maxOpen: '60s', probeTimeout: '10s' } };

describe('the gate of an endpoint', () => {
  /** Opens a breaker by two failures, on the node that owns the slot. */
  async function opened(cluster: ClusterHarness) {
    const profile = await cluster.harness.profile(PROFILE);
    for (const inMs of [1_000, 60_000]) await cluster.harness.schedule({ profile, inMs });
    const second = await cluster.harness.schedule({ profile, inMs: 1_500 });
    for (const node of cluster.nodes) node.egress.respond = () => BROKEN;
    await cluster.time.advance(2_000);
    const [owner, ...others] = await ownerAndOthers(cluster, second.pending);
    expect(owner.engine.gauges().breakers.open).toBe(1);
    return { profile, owner, others };
  }

  test('moves with its released slot: the next owner knows it, the former owner forgets it', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { profile, owner, others } = await opened(cluster);
    const stopped = owner.engine.stop(0);
    await cluster.time.advance(1_000);
    await stopped;
    expect(owner.engine.gauges().breakers.open).toBe(0);
    const { pending } = await cluster.harness.schedule({ profile, inMs: 500 });
    const sent = sentBy(others).length;
    await cluster.time.advance(2_000);
    expect(sentBy(others)).toHaveLength(sent);
    expect((await cluster.harness.delivery(pending.id)).attemptCount).toBe(0);
    expect(others.map(({ engine }) => engine.gauges().breakers.open)).toEqual([1]);
  });

  test('is saved before the slot is released, with the changes of the last batch in flight', async () => {
    await using cluster = await ClusterHarness.open();
    const [owner] = await cluster.startNodes('a');
    const { promise: hold, resolve } = Promise.withResolvers<void>();
    const { pending } = await cluster.harness.schedule({ inMs: 1_000, rateLimit: { perSecond: 1 } });
    owner.faults.before('claim', () => hold);
    await cluster.time.advance(1_000);
    void owner.engine.stop(10_000);
    await cluster.time.advance(500);
    // The batch is in flight, so no slot is released yet.
    expect(owner.faults.times('releaseSlots')).toBe(0);
    resolve();
    await cluster.time.settled();
    expect(sentBy([owner])).toEqual([pending.id]);
    expect(owner.faults.times('releaseSlots')).toBe(1);
    const verbs = owner.faults.asked;
    expect(verbs.lastIndexOf('saveGates')).toBeLessThan(verbs.indexOf('releaseSlots'));
    const [work] = await cluster.harness.disk.loadDeliveries([pending]);
    expect(Object.keys(work?.gate?.rateLimiters ?? {})).toEqual(['1']);
  });

  test('moves with its slot also when it had not been saved yet', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const profile = await cluster.harness.profile(PROFILE);
    const { pending } = await cluster.harness.schedule({ profile, inMs: 1_000 });
    const [owner] = await ownerAndOthers(cluster, pending);
    owner.egress.respond = () => BROKEN;
    await cluster.time.advance(1_000);
    expect((await cluster.harness.disk.loadDeliveries([pending]))[0]?.gate).toBeNull();
    const stopped = owner.engine.stop(0);
    await cluster.time.settled();
    await stopped;
    expect((await cluster.harness.disk.loadDeliveries([pending]))[0]?.gate?.breaker.failures).toBe(1);
  });

  test('of a lost slot is forgotten, and not saved', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { owner, profile } = await opened(cluster);
    owner.timers.state = 'paused';
    await cluster.time.advance(6_000);
    await cluster.harness.disk.saveGates([
      {
        partition: PARTITION,
        endpoint: endpointKeyOf({ endpointId: profile.id, url: '' }),
        gate: null,
        savedAt: cluster.harness.now,
      },
    ]);
    owner.faults.set('refuses', 'claim');
    owner.timers.resume();
    await cluster.time.settled();
    expect(owner.engine.gauges().breakers.open).toBe(0);
    const { pending } = await cluster.harness.schedule({ profile });
    const [work] = await cluster.harness.disk.loadDeliveries([pending]);
    expect(work?.gate).toBeNull();
  });

  test('is not changed by an attempt that ends after its slot has moved', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const profile = await cluster.harness.profile({
      breakerPolicy: { ...PROFILE.breakerPolicy, threshold: 1 },
    });
    const { pending } = await cluster.harness.schedule({ profile, inMs: 1_000 });
    const [owner] = await ownerAndOthers(cluster, pending);
    owner.egress.respond = () => null;
    await cluster.time.advance(1_000);
    const stopped = owner.engine.stop(10_000);
    await cluster.time.advance(1_000);
    owner.egress.sent[0]?.answer(BROKEN);
    await cluster.time.settled();
    expect(owner.engine.gauges().breakers.open).toBe(0);
    await stopped;
    expect((await cluster.harness.delivery(pending.id)).status).toBe('retry_scheduled');
    const [work] = await cluster.harness.disk.loadDeliveries([pending]);
    expect(work?.gate).toBeNull();
  });
});

describe('a write for a slot that is no longer owned', () => {
  test('is refused, and makes the node sync at once', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    await cluster.time.advance(500);
    const { disk } = cluster.harness;
    node.faults.before('claim', async () => {
      // Another node has taken every slot, as after a pause of the whole machine.
      const at = instant(cluster.harness.now + 100_000);
      const { slots } = await disk.renewLease({
        node: 'thief',
        leaseUntil: at,
        isStopping: false,
        version: '1.2.3',
      });
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

  test('is not made when ownership ended between the read and the claim', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    await cluster.harness.schedule({ inMs: 1_000 });
    node.faults.before('loadDeliveries', () => {
      node.clock.isSynchronized = false;
    });
    await cluster.time.advance(1_500);
    expect(node.faults.times('loadDeliveries')).toBe(1);
    expect(node.faults.times('claim')).toBe(0);
  });
});

describe('a delivery whose slot has just moved', () => {
  test('is found by the new owner at once', async () => {
    await using cluster = await ClusterHarness.open();
    const [first, second] = await cluster.startNodes('a', 'b');
    const pending = await scheduleMany(cluster, 40, 1_000);
    // The queue of the first node is lost with it.
    await cluster.time.advance(990);
    void first.engine.stop(0);
    await cluster.time.advance(300);
    expect(sentBy([second]).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
  });

  test('is dropped by the former owner when it becomes due', async () => {
    await using cluster = await ClusterHarness.open();
    const [first] = await cluster.startNodes('a');
    const pending = await scheduleMany(cluster, 40, 1_500);
    await cluster.time.advance(1_000);
    // Both nodes have every delivery in memory, and each owns half of them.
    await cluster.startNode('b');
    await cluster.time.advance(1_000);
    expect(slotsOwnedBy(cluster.nodes)).toEqual([128, 128]);
    expect(sentBy(cluster.nodes).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
    expect(first.egress.sent.length).toBeLessThan(40);
    expect(
      cluster.nodes.flatMap(({ egress }) => egress.sent).every(({ at }) => at === pending[0]?.dueAt),
    ).toBe(true);
    expect(first.engine.gauges().waiting).toBe(0);
  });

  test('is dropped from the queue of the former owner without a read', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
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
