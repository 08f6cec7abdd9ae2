/**
 * The owners of the slots and the leases of the nodes. It reads the store's tables over a connection of its
 * own, after every verb that could have changed them.
 */

import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Partition } from '#src/domain/project.ts';
import { ALL_SLOTS, type Slot, slotOf } from '#src/domain/slot.ts';
import type { SlotState } from '#src/ports/cluster-store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { type Db, openForReading } from '#src/store/sqlite/connection.ts';
import { PreparedQueries } from '#src/store/sqlite/prepared-queries.ts';

export interface SlotRow extends SlotState {
  /** When the slot got this owner and epoch. */
  readonly sinceMs: number;
}

interface Lease {
  readonly node: string;
  readonly until: number;
}

export type SlotChange = readonly [before: SlotRow, after: SlotRow];

const TOUCHED_BY: Readonly<Record<string, number>> = { takeSlot: 1, releaseSlot: 0 };
const TOUCHES_LEASES = /lease/i;

export class SlotTable {
  readonly #db: Db;
  readonly #ask: PreparedQueries;
  readonly #slots = new Map<Slot, SlotRow>();
  /** The end of each node's lease, by the clock of the store. */
  readonly leases = new Map<string, number>();
  /** The leases before the last verb that changed any. */
  leasesBefore: ReadonlyMap<string, number> = new Map();

  constructor(path: string) {
    this.#db = openForReading(path);
    this.#ask = new PreparedQueries(this.#db);
    this.#ask.inSnapshot(() => {
      for (const slot of ALL_SLOTS) this.#slots.set(slot, { ...this.#read(slot), sinceMs: 0 });
    });
  }

  get all(): Iterable<SlotRow> {
    return this.#slots.values();
  }

  of(slot: Slot): SlotRow {
    return this.#slots.get(slot) ?? { slot, owner: null, epoch: 0, sinceMs: 0 };
  }

  /** The slot of a gate key, which consists of the partition and the endpoint. */
  slotOfGate(gate: string): SlotRow {
    const at = gate.indexOf('/');
    const partition = Number(gate.slice(0, at)) as Partition;
    return this.of(slotOf(partition, gate.slice(at + 1) as EndpointKey));
  }

  /** Returns the slots that the verb has changed. */
  observe(steps: readonly Step[], nowMs: number): readonly SlotChange[] {
    const touched = new Set<Slot>();
    let isLease = false;
    for (const [name, , ...parameters] of steps) {
      isLease ||= TOUCHES_LEASES.test(name);
      const at = TOUCHED_BY[name];
      if (at !== undefined) touched.add(parameters[at] as Slot);
      if (name === 'releaseSlotsOf') for (const slot of ALL_SLOTS) touched.add(slot);
    }
    if (isLease) this.#readLeases();
    if (touched.size === 0) return [];
    return this.#ask.inSnapshot(() => [...touched].flatMap((slot) => this.#change(slot, nowMs)));
  }

  #change(slot: Slot, nowMs: number): readonly SlotChange[] {
    const before = this.of(slot);
    const read = this.#read(slot);
    if (read.owner === before.owner && read.epoch === before.epoch) return [];
    const after = { ...read, sinceMs: nowMs };
    this.#slots.set(slot, after);
    return [[before, after]];
  }

  #read(slot: Slot): SlotState {
    const row = this.#ask.get<SlotState>('SELECT slot, owner, epoch FROM slots WHERE slot = ?', slot);
    if (row === undefined) throw new Error(`There is no slot ${slot}.`);
    return row;
  }

  #readLeases(): void {
    this.leasesBefore = new Map(this.leases);
    this.leases.clear();
    const rows = this.#ask.all<Lease>('SELECT node, lease_until AS until FROM nodes');
    for (const { node, until } of rows) this.leases.set(node, until);
  }

  close(): void {
    this.#db.close();
  }
}
