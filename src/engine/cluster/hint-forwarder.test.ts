import { describe, expect, test } from 'vitest';
import { ClusterHarness, ownerAndOthers, sentBy } from '#test/cluster-harness.ts';
import { requireDue } from '#test/engine-harness.ts';
import { HintForwarder } from './hint-forwarder.ts';

describe('a hint', () => {
  test('goes to the owner of the slot when the delivery is due soon, and is not passed on', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b', 'c');
    const { pending } = await cluster.harness.schedule({ inMs: 100 });
    const [owner, other, third] = await ownerAndOthers(cluster, pending);
    const hintCounts = () => cluster.nodes.map((node) => node.hinted.filter((what) => what === 'due').length);
    const before = hintCounts();
    other?.engine.due(requireDue(pending));
    await cluster.time.advance(100);
    expect(owner.egress.sent.map(({ at }) => at)).toEqual([pending.dueAt]);
    expect(third?.egress.sent).toEqual([]);
    expect(hintCounts().reduce((a, b) => a + b, 0)).toBe(before.reduce((a, b) => a + b, 0) + 1);
  });

  test('for a delivery that is due later, or in an owned slot, is not sent', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const far = await cluster.harness.schedule({ inMs: 60_000 });
    const near = await cluster.harness.schedule({ inMs: 500 });
    const [owner, other] = await ownerAndOthers(cluster, near.pending);
    other?.engine.due(requireDue(far.pending));
    owner.engine.due(requireDue(near.pending));
    other?.engine.due(null);
    expect(cluster.nodes.flatMap(({ hinted }) => hinted).filter((what) => what === 'due')).toEqual([]);
  });

  test('that is lost delays the delivery until the next scan', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    for (const node of cluster.nodes) node.isConnected = false;
    const { pending } = await cluster.harness.schedule({ inMs: 10 });
    await cluster.time.advance(950);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
  });

  test('to rescan reaches every node, once', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { pending } = await cluster.harness.schedule({ inMs: -10 });
    const [, other] = await ownerAndOthers(cluster, pending);
    await cluster.time.settled();
    other?.engine.rescan();
    await cluster.time.advance(50);
    expect(sentBy(cluster.nodes)).toEqual([pending.id]);
    expect(cluster.nodes.flatMap(({ hinted }) => hinted).filter((what) => what === 'rescan')).toHaveLength(1);
  });

  test('of a process that dispatches nothing goes to the nodes when the delivery is due soon', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    const hints = new HintForwarder(node.engine.heard, cluster.time, 2_000);
    const near = await cluster.harness.schedule({ inMs: 100, url: 'https://example.com/1' });
    const received: unknown[] = [];
    const counting = new HintForwarder(
      { ...node.engine.heard, due: (due) => void received.push(due) },
      cluster.time,
      2_000,
    );
    counting.due(requireDue((await cluster.harness.schedule({ inMs: 60_000 })).pending));
    counting.due(null);
    expect(received).toEqual([]);
    hints.due(requireDue(near.pending));
    await cluster.time.advance(100);
    expect(node.egress.sent.map(({ at }) => at)).toEqual([near.pending.dueAt]);
  });
});
