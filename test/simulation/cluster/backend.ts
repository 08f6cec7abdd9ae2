/**
 * The store that all nodes share, and the link of each node to it. Every verb is applied at one moment. Its
 * changes are read and reported to the checkers before the next verb.
 */
import { join } from 'node:path';
import type { Instant } from '#src/domain/instant.ts';
import type { Fence } from '#src/domain/slot.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { openForWriting } from '#src/store/sqlite/connection.ts';
import type { Answer } from '#src/store/sqlite/executor.ts';
import { DATABASE_FILE, openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { Observer } from '../observer.ts';
import { SWEEP_BATCH_MAX } from '../service-instance.ts';
import type { VirtualTime } from '../virtual-time.ts';
import type { SharedStore } from '../watched-store.ts';
import { VirtualWriter } from '../writer.ts';
import type { ClusterBug } from './bugs.ts';
import { Link } from './link.ts';
import { LinkFaults } from './link-faults.ts';
import type { ClusterNode } from './node.ts';
import type { ClusterPlan } from './plan.ts';
import type { VerbInProgress } from './simulation-view.ts';
import { type SlotChange, SlotTable } from './slot-table.ts';

export interface BackendDependencies {
  readonly directory: string;
  readonly plan: ClusterPlan;
  readonly prng: Prng;
  readonly bug: ClusterBug | null;
  readonly time: VirtualTime;
  readonly observer: Observer;
  trace(what: string): void;
  fail(error: unknown): void;
  slotChanged(change: SlotChange): void;
  /** The node may be late for this long from now on. */
  disturbed(node: ClusterNode, ms: number): void;
  refused(write: ClaimWrite): void;
  /** A verb was applied, but its node does not know it yet. */
  verbEnded(node: ClusterNode, verb: string): void;
}

interface NodeLink {
  readonly faults: LinkFaults;
  readonly link: Link;
}

export class Backend {
  readonly slots: SlotTable;
  readonly #dependencies: BackendDependencies;
  readonly #links = new Map<ClusterNode, NodeLink>();
  #store: SqlStore | null = null;
  #isHealed = false;
  /** The verb that is being applied. */
  verbInProgress: VerbInProgress | null = null;

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
    this.#store = await openSqlite({
      directory,
      now,
      exclusive: false,
      durable: false,
      sweepBatchMax: SWEEP_BATCH_MAX,
      openWriter: async (data) =>
        new VirtualWriter(data, {
          latencies: () => [0, 0],
          outcome: () => 'kept',
          later: (_, act) => queueMicrotask(() => void act()),
          alterSteps: (steps) => bug?.steps?.(steps) ?? steps,
          verbApplied: (steps, answer) => this.#verbApplied(steps, answer),
          batchApplied: () => {},
          batchAnswered: () => {},
        }),
    });
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.slots.close();
  }

  heal(): void {
    this.#isHealed = true;
    for (const { faults } of this.#links.values()) faults.heal();
  }

  cutOff(node: ClusterNode, isCut: boolean): void {
    const link = this.#links.get(node);
    if (link !== undefined && !this.#isHealed) link.faults.isCut = isCut;
  }

  /** Whether all calls of this node were answered. */
  isIdle(node: ClusterNode): boolean {
    return this.#links.get(node)?.link.isIdle ?? true;
  }

  forget(node: ClusterNode): void {
    this.#links.delete(node);
  }

  /** The store as this node reaches it. */
  of(node: ClusterNode): SharedStore {
    const { plan, prng, bug, time } = this.#dependencies;
    const faults = new LinkFaults(plan, prng, (ms) => this.#dependencies.disturbed(node, ms));
    if (this.#isHealed) faults.heal();
    const link = new Link({
      latencies: () => faults.latencies(),
      outcome: () => {
        const outcome = faults.outcome();
        if (outcome !== 'kept') this.#dependencies.trace(`${node.node} ${outcome}`);
        return outcome;
      },
      answering: (ms) => faults.answering(ms),
      atStore: (ms, act) => void time.after(ms, 'work', node.storeCalls, act),
      atNode: (ms, act) => void time.after(ms, 'work', node.scope, act),
      carryOut: (verb, given, run) => this.#carryOut(node, verb, given, run),
    });
    this.#links.set(node, { faults, link });
    const shared = this.#shared();
    return link.around(bug?.store?.(shared) ?? shared);
  }

  /** The shared store, with the simulation's time as its clock. */
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
    // Verbs that only a slot's owner may call have their fence as second argument.
    this.verbInProgress = { node: node.node, verb, fence: given[1] as Fence | undefined };
    try {
      const answer = await run();
      if (verb === 'claim') this.#refused(given[0] as readonly ClaimWrite[], answer as readonly string[]);
      return answer;
    } finally {
      this.verbInProgress = null;
      this.#dependencies.verbEnded(node, verb);
    }
  }

  #refused(writes: readonly ClaimWrite[], answers: readonly string[]): void {
    for (const [at, write] of writes.entries())
      if (answers[at] === 'stale') this.#dependencies.refused(write);
  }

  #verbApplied(steps: readonly Step[], answer: Answer): void {
    const { time, observer } = this.#dependencies;
    try {
      for (const change of this.slots.observe(steps, time.elapsedMs)) this.#dependencies.slotChanged(change);
      const changes = observer.observe(steps, answer === 'done');
      const { node, verb } = this.verbInProgress ?? {};
      if (changes === '' && (answer === 'done' || verb === 'takeSlots')) return;
      const how = typeof answer === 'string' ? answer : JSON.stringify(answer);
      this.#dependencies.trace(`${node} ${verb} ${how} ${changes}`);
    } catch (error) {
      this.#dependencies.fail(error);
    }
  }
}
