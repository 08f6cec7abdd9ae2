/**
 * The deliveries that are due in the next moments, in the order of their instants. The queue is bounded and each
 * customer has a share of it. A delivery that does not fit stays in the store, and a later scan finds it. A delivery
 * that was moved leaves an outdated entry behind, which is skipped.
 */

import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { Heap } from './heap.ts';
import { type Member, RoundRobinByNeed } from './round-robin-by-need.ts';

/** Entries, the outdated ones included. */
export const DUE_QUEUE_MAX = 40_000;
/** A customer may hold this many times what is free. */
const CUSTOMER_SHARE = 4;

interface Customer extends Member {
  readonly partition: Partition;
  readonly entries: Heap<DueDelivery>;
}

export class DueQueue {
  readonly #customers = new Map<Partition, Customer>();
  /** Customers with entries. The need of a customer is the instant of its first entry. */
  readonly #roundRobin = new RoundRobinByNeed<Customer>();
  readonly #dueAt = new Map<DeliveryId, Instant>();
  readonly #shares = new FairShareLimit(DUE_QUEUE_MAX, CUSTOMER_SHARE);

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
    return this.#shares.canAcquire(partition);
  }

  /** False when there is no room. */
  add(due: DueDelivery): boolean {
    if (this.#dueAt.get(due.id) === due.dueAt) return true;
    if (!this.#shares.canAcquire(due.partition)) return false;
    this.#dueAt.set(due.id, due.dueAt);
    this.#shares.acquire(due.partition, 1);
    const customer = this.#customers.get(due.partition) ?? newCustomer(due);
    customer.entries.push(due);
    this.#customers.set(due.partition, customer);
    this.#update(customer);
    return true;
  }

  nextAt(): Instant | null {
    return this.#first()?.entries.peek()?.dueAt ?? null;
  }

  /** Takes up to `limit` deliveries that are due: round robin by customer, the earliest of each first. */
  take(now: Instant, limit: number): readonly DueDelivery[] {
    const taken: DueDelivery[] = [];
    while (taken.length < limit) {
      // `next` answers customers whose need is below this, so deliveries due now are among them.
      const customer = this.#roundRobin.next(now + 1);
      if (customer === null) break;
      const due = this.#pop(customer);
      if (due !== undefined && this.#dueAt.get(due.id) === due.dueAt) {
        this.#dueAt.delete(due.id);
        taken.push(due);
      }
    }
    return taken;
  }

  /** The customer whose entry comes first. Outdated entries at the front are removed. */
  #first(): Customer | null {
    for (;;) {
      const customer = this.#roundRobin.leastNeedy;
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
      this.#roundRobin.remove(customer);
      this.#customers.delete(customer.partition);
      return;
    }
    this.#roundRobin.setNeed(customer, first.dueAt);
    this.#roundRobin.add(customer);
  }
}

function newCustomer({ partition }: DueDelivery): Customer {
  return { partition, need: 0, entries: new Heap((a, b) => a.dueAt - b.dueAt) };
}
