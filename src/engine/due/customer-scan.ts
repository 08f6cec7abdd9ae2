/**
 * Goes through the customers who have waiting deliveries, a few rows of each at a time, so that many rows of one never
 * hide those of another. One round visits every customer once, and then again those who have more rows, round robin.
 * A round may be interrupted at any time and goes on from there.
 */

import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { CustomerCursor, CustomersPage, Store } from '#src/ports/store.ts';

/** Customers in one list that is read. */
const LISTED_MAX = 60;
/** Customers in one visit. */
const VISITED_MAX = 60;
/** Rows of one visit, of all its customers together. */
const ROWS_MAX = 300;

export type Position = Pick<DueDelivery, 'dueAt' | 'id'>;
type CustomerStore = Pick<Store, 'listWaitingCustomers' | 'listDueOfCustomers'>;

export class CustomerScan {
  readonly #store: CustomerStore;
  readonly #ownership: Pick<SlotOwnership, 'slots'>;
  #listed: CustomerCursor[] = [];
  #lastListed: CustomerCursor | null = null;
  #areAllListed = false;
  readonly #unfinished = new RoundRobinQueue<CustomerCursor>();
  #isRestarting = false;

  constructor(store: CustomerStore, ownership: Pick<SlotOwnership, 'slots'>) {
    this.#store = store;
    this.#ownership = ownership;
  }

  /**
   * The customers to visit next, who have deliveries that are due at `until` at the latest. None when the round is
   * over; the next call begins another.
   */
  async next(until: Instant): Promise<readonly CustomerCursor[]> {
    if (this.#isRestarting) this.#reset();
    if (this.#listed.length === 0 && !this.#areAllListed) await this.#list(until);
    const cursors = this.#listed.splice(0, VISITED_MAX);
    if (cursors.length > 0) return cursors;
    const unfinished = takeNext(this.#unfinished);
    if (unfinished.length === 0) this.#reset();
    return unfinished;
  }

  /** These have more rows in this round. */
  visitAgain(cursors: readonly CustomerCursor[]): void {
    for (const cursor of cursors) this.#unfinished.add(cursor.partition, cursor);
  }

  /** This round may have missed customers, so the next call begins another. */
  restart(): void {
    this.#isRestarting = true;
  }

  #reset(): void {
    this.#isRestarting = false;
    this.#listed = [];
    this.#lastListed = null;
    this.#areAllListed = false;
    this.#unfinished.clear();
  }

  async #list(until: Instant): Promise<void> {
    const listed = await this.#store.listWaitingCustomers(
      this.#lastListed,
      until,
      LISTED_MAX,
      this.#ownership.slots,
    );
    this.#listed = [...listed];
    this.#lastListed = listed.at(-1) ?? this.#lastListed;
    this.#areAllListed = listed.length < LISTED_MAX;
  }
}

/** Cursors that were left for later, each once, taken round robin by customer. */
export class CursorBacklog {
  readonly #cursors = new RoundRobinQueue<CustomerCursor>();
  /** Keys of the cursors that wait here, and of those that were taken and not put back. */
  readonly #keys = new Set<string>();
  /** The positions up to which finished cursors have read. */
  readonly #readUntil = new Map<string, Position>();

  get isEmpty(): boolean {
    return this.#cursors.isEmpty;
  }

  /** A known cursor keeps its position, and a finished one goes on where it ended. */
  add(cursors: readonly CustomerCursor[]): void {
    for (const cursor of cursors) {
      const key = keyOf(cursor);
      if (this.#keys.has(key)) continue;
      this.#keys.add(key);
      const after = later(cursor.after, this.#readUntil.get(key) ?? null);
      this.#cursors.add(cursor.partition, { ...cursor, after });
    }
  }

  /** Takes the next cursors. Each has to be put back. */
  take(): readonly CustomerCursor[] {
    return takeNext(this.#cursors);
  }

  putBack(cursors: readonly CustomerCursor[], unfinished: readonly CustomerCursor[]): void {
    for (const cursor of cursors) this.#keys.delete(keyOf(cursor));
    this.add(unfinished);
  }

  /** Rows of these up to this position need not be read again. */
  finished(cursors: readonly CustomerCursor[], position: Position): void {
    for (const cursor of cursors) this.#readUntil.set(keyOf(cursor), position);
  }

  /** Forgets the positions that are due by now. */
  forgetBefore(now: Instant): void {
    for (const [key, { dueAt }] of this.#readUntil) if (dueAt <= now) this.#readUntil.delete(key);
  }
}

/** Reads the rows after these cursors and after this position. The rows of all together are bounded. */
export function visit(
  store: CustomerStore,
  cursors: readonly CustomerCursor[],
  from: Position | null,
  until: Instant,
  slots: SlotOwnership['slots'],
): Promise<CustomersPage> {
  const begun = cursors.map((cursor) => ({ ...cursor, after: later(cursor.after, from) }));
  return store.listDueOfCustomers(begun, until, Math.floor(ROWS_MAX / Math.max(cursors.length, 1)), slots);
}

function later(after: Position | null, from: Position | null): Position | null {
  if (after === null || from === null) return after ?? from;
  return after.dueAt > from.dueAt ? after : from;
}

function takeNext(cursors: RoundRobinQueue<CustomerCursor>): readonly CustomerCursor[] {
  const taken: CustomerCursor[] = [];
  while (taken.length < VISITED_MAX) {
    const cursor = cursors.next();
    if (cursor === undefined) break;
    taken.push(cursor);
  }
  return taken;
}

function keyOf({ partition, slot }: CustomerCursor): string {
  return `${partition}/${slot}`;
}
