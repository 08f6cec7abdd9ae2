/** Several engines on one store: how they share the slots when nodes join, stop and die. */
import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { SLOTS } from '#src/domain/slot.ts';
import {
  ascending,
  ClusterHarness,
  ownerAndOthers,
  scheduleMany,
  sentBy,
  slotsOwnedBy,
} from '#test/cluster-harness.ts';
import { OK } from '#test/engine-harness.ts';

describe('nodes of a cluster', () => {
  test('share the slots evenly, and then no slot moves', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b', 'c');
    expect(slotsOwnedBy(nodes).toSorted(ascending)).toEqual([85, 85, 86]);
    const before = await cluster.slots();
    await cluster.time.advance(60_000);
    expect(await cluster.slots()).toEqual(before);
    expect(nodes.map(({ cluster: { metrics } }) => metrics.moved.lost)).toEqual([0, 0, 0]);
    expect(nodes[0].cluster.metrics.gauges?.()).toMatchObject({
      nodes: 3,
      isClockSynchronized: true,
      isLeaseValid: true,
    });
  });

  test('send the deliveries of their slots in time, and none twice', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b', 'c');
    const pending = await scheduleMany(cluster, 60, 5_000);
    await cluster.time.advance(5_000);
    expect(sentBy(nodes).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
    for (const node of nodes) {
      expect(node.egress.sent.length).toBeGreaterThan(5);
      expect(node.egress.sent.every(({ at }) => at === pending[0]?.dueAt)).toBe(true);
    }
    for (const { id } of pending) expect((await cluster.harness.delivery(id)).status).toBe('succeeded');
  });

  test('get their share within a second after they join, also when hints are lost', async () => {
    await using cluster = await ClusterHarness.open();
    const [first] = await cluster.startNodes('a');
    const second = await cluster.startNode('b');
    await cluster.time.advance(200);
    expect(slotsOwnedBy([first, second])).toEqual([128, 128]);
    for (const node of cluster.nodes) node.isConnected = false;
    const third = cluster.node('c');
    third.isConnected = false;
    void third.engine.start();
    await cluster.time.advance(2_000);
    expect(slotsOwnedBy(cluster.nodes).toSorted(ascending)).toEqual([85, 85, 86]);
  });

  test('write the version of their program into their lease', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { nodes } = await cluster.harness.disk.insight.readCluster();
    expect(nodes.map(({ node, version }) => [node, version])).toEqual([
      ['a', '0.0.0-a'],
      ['b', '0.0.0-b'],
    ]);
  });

  test('own every slot when there is only one node', async () => {
    await using cluster = await ClusterHarness.open();
    expect(slotsOwnedBy(await cluster.startNodes('a'))).toEqual([SLOTS]);
  });
});

describe('a node that dies', () => {
  test('loses its slots to the others within five seconds, and its requests are sent again', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b', 'c');
    const { pending } = await cluster.harness.schedule({ inMs: 2_000 });
    const [owner, ...others] = await ownerAndOthers(cluster, pending);
    owner.egress.respond = () => null;
    await cluster.time.advance(2_000);
    expect(owner.egress.sent).toHaveLength(1);
    owner.kill();
    await cluster.time.advance(5_000);
    expect(slotsOwnedBy(others)).toEqual([128, 128]);
    expect(await cluster.harness.attempts(pending.id)).toMatchObject([{ error: 'interrupted' }]);
    await cluster.time.advance(10_000);
    expect(sentBy(others)).toEqual([pending.id]);
    expect((await cluster.harness.delivery(pending.id)).status).toBe('succeeded');
  });

  test('and was removed by another node first: the second one syncs again at once', async () => {
    await using cluster = await ClusterHarness.open();
    const [dead, node] = await cluster.startNodes('a', 'b');
    dead.kill();
    // The other node has already removed it when this node tries to.
    node.faults.before('removeDeadNode', () => cluster.harness.disk.leave('a'));
    while (node.faults.times('removeDeadNode') === 0) await cluster.time.advance(10);
    await cluster.time.advance(100);
    expect(slotsOwnedBy([node])).toEqual([SLOTS]);
  });

  test('moves no slots but its own', async () => {
    await using cluster = await ClusterHarness.open();
    const [dead] = await cluster.startNodes('a', 'b', 'c');
    const before = await cluster.slots();
    dead?.kill();
    await cluster.time.advance(5_000);
    const after = await cluster.slots();
    for (const [index, { owner, epoch }] of before.entries()) {
      if (owner !== 'a') expect(after[index]).toMatchObject({ owner, epoch });
      else expect(after[index]).toMatchObject({ epoch: epoch + 1 });
    }
  });
});

describe('a clean stop', () => {
  test('hands the slots over at once, and the requests in flight end as usual', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b', 'c');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    const [owner, ...others] = await ownerAndOthers(cluster, pending);
    owner.egress.respond = () => null;
    const next = await cluster.harness.schedule({ inMs: 1_200 });
    await cluster.time.advance(1_000);
    expect(owner.egress.sent).toHaveLength(1);
    let isStopped = false;
    const stopped = owner.engine.stop(30_000).finally(() => {
      isStopped = true;
    });
    await cluster.time.advance(150);
    expect(slotsOwnedBy(others)).toEqual([128, 128]);
    await cluster.time.advance(50);
    expect(sentBy(others)).toEqual([next.pending.id]);
    expect(others.flatMap(({ egress }) => egress.sent.map(({ at }) => at))).toEqual([next.pending.dueAt]);

    // The other nodes do not take the request for lost, however long it takes.
    await cluster.time.advance(20_000);
    expect([isStopped, (await cluster.harness.delivery(pending.id)).status]).toEqual([false, 'claimed']);
    owner.egress.sent[0]?.answer(OK);
    await cluster.time.settled();
    await stopped;
    expect((await cluster.harness.delivery(pending.id)).status).toBe('succeeded');
    expect(await cluster.harness.attempts(pending.id)).toHaveLength(1);
    await cluster.time.advance(1_000);
    expect(others[0]?.cluster.metrics.gauges?.().nodes).toBe(2);
  });

  test('releases slots later when the store refuses them at first', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: 3_000 });
    const [owner, other] = await ownerAndOthers(cluster, pending);
    owner.faults.set('refuses', 'releaseSlots');
    const stopped = owner.engine.stop(10_000);
    await cluster.time.advance(1_000);
    // The node keeps its lease, so no other node takes its slots.
    expect((await cluster.slots()).filter((slot) => slot.owner === owner.node)).toHaveLength(128);
    owner.faults.clear();
    await cluster.time.advance(1_000);
    await stopped;
    expect(slotsOwnedBy([other])).toEqual([SLOTS]);
    await cluster.time.advance(1_000);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
    expect(other.egress.sent.map(({ at }) => at)).toEqual([pending.dueAt]);
  });

  test('of all nodes leaves all slots free, and no timer', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    for (const { engine } of cluster.nodes) {
      void engine.stop(1_000);
      await cluster.time.advance(2_000);
    }
    expect((await cluster.slots()).every(({ owner }) => owner === null)).toBe(true);
    expect(cluster.time.pending).toBe(0);
  });

  test('during a start ends the start', async () => {
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

describe('an answer of the store that was lost', () => {
  test('to a take of slots: the node owns them from the next sync on', async () => {
    await using cluster = await ClusterHarness.open();
    const node = cluster.node('a');
    node.faults.set('loses', 'takeSlots');
    void node.engine.start();
    await cluster.time.advance(1_000);
    expect(node.slotsOwned).toBe(SLOTS);
    expect((await cluster.slots()).every(({ epoch }) => epoch === 1)).toBe(true);
  });

  test.for(['loses', 'refuses'] as const)(
    'to a release of slots that was done or not (%s): shares become even all the same',
    async (fault) => {
      await using cluster = await ClusterHarness.open();
      const [node] = await cluster.startNodes('a');
      node?.faults.set(fault, 'releaseSlots');
      await cluster.startNode('b');
      await cluster.time.advance(1_000);
      node?.faults.clear();
      await cluster.time.advance(3_000);
      expect(slotsOwnedBy(cluster.nodes)).toEqual([128, 128]);
      expect((await cluster.slots()).filter(({ owner }) => owner === null)).toEqual([]);
    },
  );
});

describe('slots', () => {
  test('stay with their owners when a late renewal of a dead node arrives', async () => {
    await using cluster = await ClusterHarness.open();
    const nodes = await cluster.startNodes('a', 'b');
    const { disk, now } = cluster.harness;
    const late = { node: 'late', leaseUntil: instant(now - 1), isStopping: false, version: '1.2.3' };
    for (const { faults } of nodes) faults.before('removeDeadNode', () => disk.removeDeadNode(late));
    const released = () => nodes.map(({ faults }) => faults.times('releaseSlots'));
    const before = released();
    await disk.renewLease(late);
    await cluster.time.advance(5_000);
    expect(nodes.map(({ faults }) => faults.times('removeDeadNode') > 0)).toContain(true);
    expect(released()).toEqual(before);
  });
});
