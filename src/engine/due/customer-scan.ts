/**
 * Goes through the customers who have waiting deliveries, a few rows of each at a time, so that much of one customer
 * never hides what another has. A round visits every customer once. Customers who have more are visited again after
 * that, in turns. A round may be interrupted at any time and goes on where it was.
 */

import type { DueDelivery } from '#src/domain/due.ts';
import type { Instant } from '#src/domain/instant.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { CustomerCursor, CustomersPage, Store } from '#src/ports/store.ts';

/** Customers that are listed at a time. */
const LISTED_MAX = 60;
/** Customers that are visited at a time. */
const VISITED_MAX = 60;
/** Rows of all customers of a visit. */
const ROWS_MAX = 300;

export type Place = Pick<DueDelivery, 'dueAt' | 'id'>;
type CustomerStore = Pick<Store, 'listWaitingCustomers' | 'listDueOfCustomers'>;

export class CustomerScan {
  readonly #store: CustomerStore;
  readonly #ownership: Pick<SlotOwnership, 'slots'>;
  #listed: CustomerCursor[] = [];
  #lastListed: CustomerCursor | null = null;
  #isEverybodyListed = false;
  readonly #again = new RoundRobinQueue<CustomerCursor>();
  #isToBeginAnew = false;

  constructor(store: CustomerStore, ownership: Pick<SlotOwnership, 'slots'>) {
    this.#store = store;
    this.#ownership = ownership;
  }

  /** Whom to visit next; nobody when the round is over, and the next one begins. */
  async next(): Promise<readonly CustomerCursor[]> {
    if (this.#isToBeginAnew) this.#reset();
    if (this.#listed.length === 0 && !this.#isEverybodyListed) await this.#list();
    const cursors = this.#listed.splice(0, VISITED_MAX);
    if (cursors.length > 0) return cursors;
    const again = takeTurns(this.#again);
    if (again.length === 0) this.#reset();
    return again;
  }

  /** There is more of these in this round. */
  visitAgain(cursors: readonly CustomerCursor[]): void {
    for (const cursor of cursors) this.#again.add(cursor.partition, cursor);
  }

  /** There may be customers whom this round has missed. */
  beginAnew(): void {
    this.#isToBeginAnew = true;
  }

  #reset(): void {
    this.#isToBeginAnew = false;
    this.#listed = [];
    this.#lastListed = null;
    this.#isEverybodyListed = false;
    this.#again.clear();
  }

  async #list(): Promise<void> {
    const listed = await this.#store.listWaitingCustomers(
      this.#lastListed,
      LISTED_MAX,
      this.#ownership.slots,
    );
    this.#listed = [...listed];
    this.#lastListed = listed.at(-1) ?? this.#lastListed;
    this.#isEverybodyListed = listed.length < LISTED_MAX;
  }
}

/** Cursors that were left for later: each once, customers in turns. */
export class CursorBacklog {
  readonly #turns = new RoundRobinQueue<CustomerCursor>();
  /** Keys of the cursors that wait here, or were taken and not given back. */
  readonly #keys = new Set<string>();
  /** The places that finished cursors have come to. */
  readonly #readUntil = new Map<string, Place>();

  get isEmpty(): boolean {
    return this.#turns.isEmpty;
  }

  /** A cursor that is known already stays where it stands, and one that was finished goes on where it ended. */
  add(cursors: readonly CustomerCursor[]): void {
    for (const cursor of cursors) {
      const key = keyOf(cursor);
      if (this.#keys.has(key)) continue;
      this.#keys.add(key);
      const after = later(cursor.after, this.#readUntil.get(key) ?? null);
      this.#turns.add(cursor.partition, { ...cursor, after });
    }
  }

  /** The next ones. Each has to be given back. */
  take(): readonly CustomerCursor[] {
    return takeTurns(this.#turns);
  }

  giveBack(cursors: readonly CustomerCursor[], unfinished: readonly CustomerCursor[]): void {
    for (const cursor of cursors) this.#keys.delete(keyOf(cursor));
    this.add(unfinished);
  }

  /** Nothing of these up to this place needs to be read again. */
  finished(cursors: readonly CustomerCursor[], place: Place): void {
    for (const cursor of cursors) this.#readUntil.set(keyOf(cursor), place);
  }

  /** Forgets the places that are due by now. */
  forgetBefore(now: Instant): void {
    for (const [key, { dueAt }] of this.#readUntil) if (dueAt <= now) this.#readUntil.delete(key);
  }
}

/** Reads on behind these cursors, and behind this place: the rows of all together are bounded. */
export function visit(
  store: CustomerStore,
  cursors: readonly CustomerCursor[],
  from: Place | null,
  until: Instant,
  slots: SlotOwnership['slots'],
): Promise<CustomersPage> {
  const begun = cursors.map((cursor) => ({ ...cursor, after: later(cursor.after, from) }));
  return store.listDueOfCustomers(begun, until, Math.floor(ROWS_MAX / Math.max(cursors.length, 1)), slots);
}

function later(after: Place | null, from: Place | null): Place | null {
  if (after === null || from === null) return after ?? from;
  return after.dueAt > from.dueAt ? after : from;
}

function takeTurns(turns: RoundRobinQueue<CustomerCursor>): readonly CustomerCursor[] {
  const taken: CustomerCursor[] = [];
  while (taken.length < VISITED_MAX) {
    const cursor = turns.next();
    if (cursor === undefined) break;
    taken.push(cursor);
  }
  return taken;
}

function keyOf({ partition, slot }: CustomerCursor): string {
  return `${partition}/${slot}`;
}
