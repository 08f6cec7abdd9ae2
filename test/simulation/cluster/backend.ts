/**
 * The one store that all nodes share, and the way of each of them there. Every verb is carried out at one moment,
 * and what it changed is read again and told to the checkers before the next.
 */
import { join } from 'node:path';
import type { Instant } from '#src/domain/instant.ts';
import type { Fence } from '#src/domain/slot.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { openForWriting } from '#src/store/sqlite/connection.ts';
import type { Answer } from '#src/store/sqlite/executor.ts';
import { DATABASE_FILE, SqliteStore } from '#src/store/sqlite/sqlite-store.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import { SWEEP_BATCH_MAX } from '../life.ts';
import type { SharedStore } from '../stores.ts';
import type { VirtualTime } from '../virtual-time.ts';
import type { Witness } from '../witness.ts';
import { VirtualWriter } from '../writer.ts';
import type { ClusterBug } from './bugs.ts';
import { FaultyWire } from './faulty-wire.ts';
import { Link } from './link.ts';
import type { ClusterNode } from './node.ts';
import type { ClusterPlan } from './plan.ts';
import type { Writing } from './scene.ts';
import { type SlotChange, SlotTable } from './slot-table.ts';

export interface BackendDependencies {
  readonly directory: string;
  readonly plan: ClusterPlan;
  readonly prng: Prng;
  readonly bug: ClusterBug | null;
  readonly time: VirtualTime;
  readonly witness: Witness;
  tell(what: string): void;
  fail(error: unknown): void;
  slotChanged(change: SlotChange): void;
  /** For so long from now on it is no wonder when this node is late. */
  hindered(node: ClusterNode, ms: number): void;
  refused(write: ClaimWrite): void;
  /** A verb was carried out, and nobody knows yet. */
  carriedOut(node: ClusterNode, verb: string): void;
}

interface Way {
  readonly wire: FaultyWire;
  readonly link: Link;
}

export class Backend {
  readonly slots: SlotTable;
  readonly #dependencies: BackendDependencies;
  readonly #ways = new Map<ClusterNode, Way>();
  #store: SqliteStore | null = null;
  #isHealed = false;
  /** What is being carried out. */
  writing: Writing | null = null;

  constructor(dependencies: BackendDependencies) {
    this.#dependencies = dependencies;
    this.slots = new SlotTable(join(dependencies.directory, DATABASE_FILE));
  }

  async open(now: Instant): Promise<void> {
    const { directory, bug } = this.#dependencies;
    if (bug?.trigger !== undefined) {
      const db = openForWriting(join(directory, DATABASE_FILE), false);
      db.exec(bug.trigger);
      db.close();
    }
    this.#store = await SqliteStore.open({
      directory,
      now,
      exclusive: false,
      durable: false,
      sweepBatchMax: SWEEP_BATCH_MAX,
      openWriter: async (data) =>
        new VirtualWriter(data, {
          latencies: () => [0, 0],
          fate: () => 'kept',
          later: (_, act) => queueMicrotask(() => void act()),
          given: (steps) => bug?.steps?.(steps) ?? steps,
          wrote: (steps, answer) => this.#wrote(steps, answer),
          ran: () => {},
          answering: () => {},
        }),
    });
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.slots.close();
  }

  heal(): void {
    this.#isHealed = true;
    for (const { wire } of this.#ways.values()) wire.heal();
  }

  cutOff(node: ClusterNode, isCut: boolean): void {
    const way = this.#ways.get(node);
    if (way !== undefined && !this.#isHealed) way.wire.isCut = isCut;
  }

  /** Whether everything this node asked for was answered. */
  isIdle(node: ClusterNode): boolean {
    return this.#ways.get(node)?.link.isIdle ?? true;
  }

  forget(node: ClusterNode): void {
    this.#ways.delete(node);
  }

  /** The store as a node reaches it. */
  of(node: ClusterNode): SharedStore {
    const { plan, prng, bug, time } = this.#dependencies;
    const wire = new FaultyWire(plan, prng, (ms) => this.#dependencies.hindered(node, ms));
    if (this.#isHealed) wire.heal();
    const link = new Link({
      latencies: () => wire.latencies(),
      fate: () => {
        const fate = wire.fate();
        if (fate !== 'kept') this.#dependencies.tell(`${node.node} ${fate}`);
        return fate;
      },
      atStore: (ms, act) => void time.after(ms, 'work', node.onItsWay, act),
      atNode: (ms, act) => void time.after(ms, 'work', node.scope, act),
      carryOut: (verb, given, run) => this.#carryOut(node, verb, given, run),
    });
    this.#ways.set(node, { wire, link });
    const shared = this.#shared();
    return link.around(bug?.store?.(shared) ?? shared);
  }

  /** With the time of the simulation for its own. */
  #shared(): SharedStore {
    const store = this.#store;
    if (store === null) throw new Error('The store is not open.');
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'readClock') return async () => this.#dependencies.time.now();
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  async #carryOut(
    node: ClusterNode,
    verb: string,
    given: readonly unknown[],
    run: () => unknown,
  ): Promise<unknown> {
    // Those that are decided by whoever holds a slot have their fence in second place.
    this.writing = { node: node.node, verb, fence: given[1] as Fence | undefined };
    try {
      const answer = await run();
      if (verb === 'claim') this.#refused(given[0] as readonly ClaimWrite[], answer as readonly string[]);
      return answer;
    } finally {
      this.writing = null;
      this.#dependencies.carriedOut(node, verb);
    }
  }

  #refused(writes: readonly ClaimWrite[], answers: readonly string[]): void {
    for (const [at, write] of writes.entries())
      if (answers[at] === 'stale') this.#dependencies.refused(write);
  }

  #wrote(steps: readonly Step[], answer: Answer): void {
    const { time, witness } = this.#dependencies;
    try {
      for (const change of this.slots.look(steps, time.elapsedMs)) this.#dependencies.slotChanged(change);
      const told = witness.look(steps, answer === 'done');
      const { node, verb } = this.writing ?? {};
      if (told === '' && (answer === 'done' || verb === 'takeSlots')) return;
      const how = typeof answer === 'string' ? answer : JSON.stringify(answer);
      this.#dependencies.tell(`${node} ${verb} ${how} ${told}`);
    } catch (error) {
      this.#dependencies.fail(error);
    }
  }
}
