/**
 * For tests only: several nodes in virtual time over the one store of an `EngineHarness`, each with an engine,
 * a way out and faults of its own. What one tells the others arrives at once, unless hints are cut.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import { slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import type { ClusterDependencies, EngineDependencies } from '#src/engine/dependencies.ts';
import { Engine } from '#src/engine/engine.ts';
import type { SlotState } from '#src/ports/cluster-store.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { MeasuredClock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { ClusterGauges, ClusterMetrics } from '#src/ports/telemetry.ts';
import type { SqliteStore } from '#src/store/sqlite/sqlite-store.ts';
import {
  EngineHarness,
  Faults,
  KeptLog,
  KeptMetrics,
  PARTITION,
  ScriptedEgress,
  type VirtualTime,
} from './engine-harness.ts';

/** The clock of the harness, which a test can make doubtful. */
class TestClock implements MeasuredClock {
  readonly #time: VirtualTime;
  isSynchronized = true;
  offsetMs = 0;
  sinceStepMs = Number.POSITIVE_INFINITY;
  /** What a measurement brings to light. */
  measure: () => Promise<void> = () => Promise.resolve();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  now(): Instant {
    return instant(this.#time.now() + this.offsetMs);
  }
}

/** Timers of a process that can be paused, and ended without a word. */
class ProcessTimers implements Timers, Stopwatch {
  readonly #time: VirtualTime;
  state: 'running' | 'paused' | 'dead' = 'running';
  readonly #late: (() => void)[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  elapsed(): number {
    return this.#time.elapsed();
  }

  after(ms: number, act: () => void): () => void {
    let isOff = false;
    const actOnce = () => {
      if (!isOff) act();
    };
    const callOff = this.#time.after(ms, () => {
      if (this.state === 'running') actOnce();
      else if (this.state === 'paused') this.#late.push(actOnce);
    });
    return () => {
      isOff = true;
      callOff();
    };
  }

  goOn(): void {
    this.state = 'running';
    for (const act of this.#late.splice(0)) act();
  }
}

class KeptClusterMetrics implements ClusterMetrics {
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
  readonly log = new KeptLog();
  readonly metrics = new KeptMetrics();
  readonly store: SqliteStore;
  readonly insight: EngineHarness['insight'];
  readonly egress: ScriptedEgress;
  readonly clock: TestClock;
  readonly timers: ProcessTimers;
  readonly ids: EngineDependencies['ids'];
  readonly vault: EngineDependencies['vault'];
  readonly cluster: ClusterDependencies & { readonly metrics: KeptClusterMetrics };
  readonly engine: Engine;
  /** What it told the others. */
  readonly told: (keyof Peers)[] = [];

  constructor(harness: EngineHarness, node: string, others: () => readonly TestNode[]) {
    this.node = node;
    this.store = this.faults.around(harness.disk);
    this.insight = harness.insight;
    this.clock = new TestClock(harness.time);
    this.timers = new ProcessTimers(harness.time);
    this.egress = new ScriptedEgress(harness.time);
    this.ids = harness.ids;
    this.vault = harness.vault;
    const tell = (what: keyof Peers, to: (heard: Peers) => void) => {
      this.told.push(what);
      for (const other of others()) if (other.hears) to(other.engine.heard);
    };
    this.cluster = {
      store: this.store,
      clock: this.clock,
      stopwatch: harness.time,
      metrics: new KeptClusterMetrics(),
      peers: {
        due: (due) => tell('due', (heard) => heard.due(due)),
        rescan: () => tell('rescan', (heard) => heard.rescan()),
        slotsChanged: () => tell('slotsChanged', (heard) => heard.slotsChanged()),
      },
    };
    this.engine = new Engine(this, { retentionMs: 0 });
  }

  /** False: what the others tell gets lost. */
  hears = true;

  get slotsHeld(): number {
    return this.cluster.metrics.gauges?.().slotsHeld ?? 0;
  }

  /** Kills it: nothing it planned happens any more, and the store does nothing for it. */
  die(): void {
    this.timers.state = 'dead';
    this.hears = false;
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

  async started(name: string): Promise<TestNode> {
    const node = this.node(name);
    void node.engine.start();
    await this.time.settled();
    return node;
  }

  /** As many, started together and given the time to share the slots out. */
  async settled(...names: readonly string[]): Promise<readonly TestNode[]> {
    const nodes: TestNode[] = [];
    for (const name of names) nodes.push(await this.started(name));
    await this.time.advance(5_000);
    return nodes;
  }

  /** As the store has it. */
  async slots(): Promise<readonly SlotState[]> {
    const { disk, now } = this.harness;
    const lease = { node: 'spectator', leaseUntil: instant(now + 1), isStopping: true };
    const { slots } = await disk.renewLease(lease);
    await disk.leave('spectator');
    return slots;
  }

  async ownerOf(ref: EndpointRef): Promise<string | null> {
    return (await this.slots()).find(({ slot }) => slot === slotOfEndpoint(ref))?.owner ?? null;
  }

  /** The node that holds it. */
  async holderOf(ref: EndpointRef): Promise<TestNode> {
    const owner = await this.ownerOf(ref);
    const holder = this.nodes.find(({ node }) => node === owner);
    if (holder === undefined) throw new Error('Nobody holds it.');
    return holder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.harness[Symbol.asyncDispose]();
  }
}

/** URLs whose slots satisfy `isWanted`, so many. */
export function urlsIn(count: number, isWanted: (slot: Slot) => boolean): readonly string[] {
  const urls: string[] = [];
  for (let each = 0; urls.length < count; each++) {
    const url = `https://example.com/${each}`;
    if (isWanted(slotOfEndpoint({ partition: PARTITION, endpoint: url as EndpointRef['endpoint'] })))
      urls.push(url);
  }
  return urls;
}
