/**
 * The deliveries of the next moments, by the instant they are due. Bounded, and each customer has a share: what does
 * not fit stays in the store and is found again. A delivery that was moved leaves its old entry behind, which is passed
 * over.
 */

import { CustomerShares } from '#src/domain/customer-shares.ts';
import type { DueDelivery } from '#src/domain/due.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import { Heap } from './heap.ts';
import { type Member, Roster } from './roster.ts';

/** With the entries left behind. */
export const DUE_QUEUE_MAX = 40_000;
/** A customer may hold so many times what is free. */
const CUSTOMER_SHARE = 4;

interface Customer extends Member {
  readonly partition: Partition;
  readonly entries: Heap<DueDelivery>;
}

export class DueQueue {
  readonly #customers = new Map<Partition, Customer>();
  /** Customers with entries; each needs the instant of its first one to pass. */
  readonly #turns = new Roster<Customer>();
  readonly #dueAt = new Map<DeliveryId, Instant>();
  readonly #shares = new CustomerShares(DUE_QUEUE_MAX, CUSTOMER_SHARE);

  /** Whether more than one customer has deliveries here. */
  get isShared(): boolean {
    return this.#customers.size > 1;
  }

  /** One of the customers who have deliveries here. */
  get someCustomer(): Partition | null {
    for (const partition of this.#customers.keys()) return partition;
    return null;
  }

  hasRoom(partition: Partition): boolean {
    return this.#shares.hasRoom(partition);
  }

  /** False when there is no room. */
  add(due: DueDelivery): boolean {
    if (this.#dueAt.get(due.id) === due.dueAt) return true;
    if (!this.#shares.hasRoom(due.partition)) return false;
    this.#dueAt.set(due.id, due.dueAt);
    this.#shares.hold(due.partition, 1);
    const customer = this.#customers.get(due.partition) ?? newCustomer(due);
    customer.entries.push(due);
    this.#customers.set(due.partition, customer);
    this.#update(customer);
    return true;
  }

  nextAt(): Instant | null {
    return this.#first()?.entries.peek()?.dueAt ?? null;
  }

  /** Takes out up to `limit` of what is due: customers in turns, the earliest of each first. */
  take(now: Instant, limit: number): readonly DueDelivery[] {
    const taken: DueDelivery[] = [];
    while (taken.length < limit) {
      // Only what needs less than this is taken: what is due now, too.
      const customer = this.#turns.next(now + 1);
      if (customer === null) break;
      const due = this.#pop(customer);
      if (due !== undefined && this.#dueAt.get(due.id) === due.dueAt) {
        this.#dueAt.delete(due.id);
        taken.push(due);
      }
    }
    return taken;
  }

  /** The customer whose entry comes first; entries left behind at the front are gone then. */
  #first(): Customer | null {
    for (;;) {
      const customer = this.#turns.leastNeedy;
      const due = customer?.entries.peek();
      if (customer === null || due === undefined || this.#dueAt.get(due.id) === due.dueAt) return customer;
      this.#pop(customer);
    }
  }

  #pop(customer: Customer): DueDelivery | undefined {
    const due = customer.entries.pop();
    if (due !== undefined) this.#shares.release(customer.partition, 1);
    this.#update(customer);
    return due;
  }

  #update(customer: Customer): void {
    const first = customer.entries.peek();
    if (first === undefined) {
      this.#turns.remove(customer);
      this.#customers.delete(customer.partition);
      return;
    }
    this.#turns.needs(customer, first.dueAt);
    this.#turns.add(customer);
  }
}

function newCustomer({ partition }: DueDelivery): Customer {
  return { partition, need: 0, entries: new Heap((a, b) => a.dueAt - b.dueAt) };
}
