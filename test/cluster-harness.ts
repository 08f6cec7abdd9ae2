/**
 * For tests only: several nodes in virtual time on the one store of an `EngineHarness`. Each has an engine, an egress
 * and faults of its own. Hints to other nodes arrive at once, unless a node is disconnected.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import type { ClusterDependencies, EngineDependencies } from '#src/engine/dependencies.ts';
import { Engine } from '#src/engine/engine.ts';
import type { SlotState } from '#src/ports/cluster-store.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { MeasuredClock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { ClusterGauges, ClusterMetrics } from '#src/ports/telemetry.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import {
  EngineHarness,
  Faults,
  RecordedLog,
  RecordedMetrics,
  ScriptedEgress,
  type VirtualTime,
} from './engine-harness.ts';

/** The clock of the harness, which a test can make unsynchronized. */
class TestClock implements MeasuredClock {
  readonly #time: VirtualTime;
  isSynchronized = true;
  offsetMs = 0;
  sinceStepMs = Number.POSITIVE_INFINITY;
  /** A test replaces it to change the clock by a measurement. */
  measure: () => Promise<void> = () => Promise.resolve();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  now(): Instant {
    return instant(this.#time.now() + this.offsetMs);
  }
}

/** Timers of a process that can be paused and killed. */
class ProcessTimers implements Timers, Stopwatch {
  readonly #time: VirtualTime;
  state: 'running' | 'paused' | 'dead' = 'running';
  readonly #missed: (() => void)[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  elapsed(): number {
    return this.#time.elapsed();
  }

  after(ms: number, act: () => void): () => void {
    let isCanceled = false;
    const actOnce = () => {
      if (!isCanceled) act();
    };
    const cancel = this.#time.after(ms, () => {
      if (this.state === 'running') actOnce();
      else if (this.state === 'paused') this.#missed.push(actOnce);
    });
    return () => {
      isCanceled = true;
      cancel();
    };
  }

  resume(): void {
    this.state = 'running';
    for (const act of this.#missed.splice(0)) act();
  }
}

class RecordedClusterMetrics implements ClusterMetrics {
  renewalsFailed = 0;
  readonly moved = { gained: 0, released: 0, lost: 0 };
  gauges: (() => ClusterGauges) | null = null;

  leaseRenewalFailed(): void {
    this.renewalsFailed++;
  }

  slotsMoved(how: 'gained' | 'released' | 'lost', count: number): void {
    this.moved[how] += count;
  }

  watchCluster(read: () => ClusterGauges): void {
    this.gauges = read;
  }
}

export class TestNode implements EngineDependencies {
  readonly node: string;
  readonly faults = new Faults();
  readonly log = new RecordedLog();
  readonly metrics = new RecordedMetrics();
  readonly store: SqlStore;
  readonly insight: EngineHarness['insight'];
  readonly egress: ScriptedEgress;
  readonly clock: TestClock;
  readonly timers: ProcessTimers;
  readonly ids: EngineDependencies['ids'];
  readonly vault: EngineDependencies['vault'];
  readonly composeNotification: EngineDependencies['composeNotification'];
  readonly cluster: ClusterDependencies & { readonly metrics: RecordedClusterMetrics };
  readonly engine: Engine;
  /** The hints that this node sent to the others. */
  readonly hinted: (keyof Peers)[] = [];

  constructor(harness: EngineHarness, node: string, others: () => readonly TestNode[]) {
    this.node = node;
    this.store = this.faults.around(harness.disk);
    this.insight = harness.insight;
    this.clock = new TestClock(harness.time);
    this.timers = new ProcessTimers(harness.time);
    this.egress = new ScriptedEgress(harness.time);
    this.ids = harness.ids;
    this.vault = harness.vault;
    this.composeNotification = harness.composeNotification;
    const send = (hint: keyof Peers, to: (peers: Peers) => void) => {
      this.hinted.push(hint);
      for (const other of others()) if (other.isConnected) to(other.engine.heard);
    };
    this.cluster = {
      store: this.store,
      clock: this.clock,
      stopwatch: harness.time,
      metrics: new RecordedClusterMetrics(),
      version: `0.0.0-${this.node}`,
      peers: {
        due: (due) => send('due', (peers) => peers.due(due)),
        rescan: () => send('rescan', (peers) => peers.rescan()),
        slotsChanged: () => send('slotsChanged', (peers) => peers.slotsChanged()),
      },
    };
    this.engine = new Engine(this, { retentionMs: 0 });
  }

  /** While false, hints from the other nodes are lost. */
  isConnected = true;

  get slotsOwned(): number {
    return this.cluster.metrics.gauges?.().slotsOwned ?? 0;
  }

  /** Kills the node: its timers never fire again, and the store refuses its writes. */
  kill(): void {
    this.timers.state = 'dead';
    this.isConnected = false;
    this.faults.set(
      'refuses',
      'claim',
      'settle',
      'endUnsent',
      'defer',
      'saveGates',
      'renewLease',
      'takeSlots',
      'releaseSlots',
      'leave',
    );
  }
}

export class ClusterHarness implements AsyncDisposable {
  readonly harness: EngineHarness;
  readonly nodes: TestNode[] = [];

  private constructor(harness: EngineHarness) {
    this.harness = harness;
  }

  static async open(): Promise<ClusterHarness> {
    return new ClusterHarness(await EngineHarness.open());
  }

  get time(): VirtualTime {
    return this.harness.time;
  }

  node(name: string): TestNode {
    const node: TestNode = new TestNode(this.harness, name, () =>
      this.nodes.filter((other) => other !== node),
    );
    this.nodes.push(node);
    return node;
  }

  async startNode(name: string): Promise<TestNode> {
    const node = this.node(name);
    void node.engine.start();
    await this.time.settled();
    return node;
  }

  /** Starts these nodes and waits until they share the slots. */
  async startNodes<const Names extends readonly string[]>(
    ...names: Names
  ): Promise<{ readonly [Index in keyof Names]: TestNode }> {
    const nodes: TestNode[] = [];
    for (const name of names) nodes.push(await this.startNode(name));
    await this.time.advance(5_000);
    return nodes as { [Index in keyof Names]: TestNode };
  }

  /** The slots as the store has them. */
  async slots(): Promise<readonly SlotState[]> {
    const { disk, now } = this.harness;
    const lease = { node: 'spectator', leaseUntil: instant(now + 1), isStopping: true, version: '1.2.3' };
    const { slots } = await disk.renewLease(lease);
    await disk.leave('spectator');
    return slots;
  }

  async ownerOf(ref: EndpointRef): Promise<string | null> {
    return (await this.slots()).find(({ slot }) => slot === slotOfEndpoint(ref))?.owner ?? null;
  }

  async ownerNodeOf(ref: EndpointRef): Promise<TestNode> {
    const owner = await this.ownerOf(ref);
    const found = this.nodes.find(({ node }) => node === owner);
    if (found === undefined) throw new Error('No node owns the slot.');
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.harness[Symbol.asyncDispose]();
  }
}

/** Returns the node that owns the slot of a delivery first, then at least one other. */
export async function ownerAndOthers(
  cluster: ClusterHarness,
  { partition, target }: Delivery,
): Promise<readonly [TestNode, TestNode, ...TestNode[]]> {
  const owner = await cluster.ownerNodeOf({ partition, endpoint: endpointKeyOf(target) });
  const [other, ...others] = cluster.nodes.filter((node) => node !== owner);
  if (other === undefined) throw new Error('The cluster has only one node.');
  return [owner, other, ...others];
}

/** Schedules deliveries to as many URLs, so that they are spread over the slots. */
export async function scheduleMany(
  { harness }: ClusterHarness,
  count: number,
  inMs: number,
): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  for (let i = 0; i < count; i++) {
    deliveries.push((await harness.schedule({ inMs, url: `https://example.com/${i}` })).pending);
  }
  return deliveries;
}

export function slotsOwnedBy(nodes: readonly TestNode[]): readonly number[] {
  return nodes.map(({ slotsOwned }) => slotsOwned);
}

/** Returns the ids of the deliveries that these nodes sent. */
export function sentBy(nodes: readonly TestNode[]): readonly string[] {
  return nodes.flatMap(({ egress }) => egress.header('Sched-Delivery-Id')).map((id) => id ?? '');
}

export function ascending(a: number, b: number): number {
  return a - b;
}
