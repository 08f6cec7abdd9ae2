/**
 * The deliveries that are due and wait to be sent, in one queue for each endpoint. The queues are served round robin,
 * so an endpoint that has much to do or answers slowly never delays another.
 *
 * A permit allows one request in flight with a body of up to 64 KiB. A larger body takes one permit for each 64 KiB.
 * The permits therefore bound both the requests in flight and their memory. They are shared out by customer, host and
 * endpoint (`permit-tree.ts`).
 *
 * The room to wait is bounded and shared out in a similar way. A delivery that finds no room stays in the store, and a
 * later scan finds it.
 *
 * Deliveries in time and overdue ones wait apart and have shares of their own, so neither waits for the other. Overdue
 * work may hold half of the permits at most. It goes by its deadline; deliveries without a deadline come last.
 */

import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import { type Endpoint, PermitTree } from './permit-tree.ts';

export const PERMITS_MAX = 2_048;
/** Overdue work may hold one of this many parts of the permits. */
const OVERDUE_PARTS = 2;
/** Bytes of a body that one permit covers. */
export const PERMIT_BYTES = 65_536;
/** Deliveries that may wait in time, and as many that may wait overdue. */
export const WAITING_MAX = 50_000;
/** A customer may have this many deliveries waiting for each free place, and a host half of what its customer has left. */
const CUSTOMER_WAITING_SHARE = 4;
const HOST_WAITING_PARTS = 2;

export type Punctuality = 'in_time' | 'overdue';

interface Taken {
  readonly endpoint: Endpoint;
  readonly permits: number;
  readonly punctuality: Punctuality;
}

export class FairQueue {
  readonly #trees: Readonly<Record<Punctuality, PermitTree>> = {
    in_time: new PermitTree((a, b) => a.dueAt - b.dueAt),
    overdue: new PermitTree(byDeadline),
  };
  /** The endpoint in whose queue a delivery waits; null once it was taken. */
  readonly #known = new Map<DeliveryId, Endpoint | null>();
  readonly #taken = new Map<DueDelivery, Taken>();
  readonly #permitsMax: number;

  constructor(permitsMax = PERMITS_MAX) {
    this.#permitsMax = permitsMax;
  }

  /** Deliveries that hold permits: their requests are in flight or about to be. */
  get inFlight(): number {
    return this.#taken.size;
  }

  get waiting(): number {
    return this.#trees.in_time.waiting + this.#trees.overdue.waiting;
  }

  get overdue(): number {
    return this.#trees.overdue.waiting;
  }

  /** One of the customers who have deliveries waiting or in flight. */
  get someCustomer(): string | null {
    return this.#trees.in_time.someCustomer ?? this.#trees.overdue.someCustomer;
  }

  /** Whether another customer has deliveries waiting or in flight. */
  hasOthersThan(customer: string): boolean {
    return this.#trees.in_time.hasOthersThan(customer) || this.#trees.overdue.hasOthersThan(customer);
  }

  /** Whether there is room for overdue deliveries. */
  get hasRoom(): boolean {
    return this.overdue < WAITING_MAX;
  }

  /**
   * False when the delivery is known already or finds no room. A delivery whose endpoint changed while it waited, or
   * that was overdue and was moved, changes queues. The entry that it leaves behind is skipped.
   */
  add(due: DueDelivery, punctuality: Punctuality): boolean {
    const tree = this.#trees[punctuality];
    const key = endpointRefKey(due);
    const known = this.#known.get(due.id);
    if (known === null || (known?.key === key && punctuality === 'overdue')) return false;
    const endpoint = tree.endpoint(`${due.partition}`, due.origin, key);
    if (known === endpoint || !this.#mayWait(endpoint, tree)) return false;
    this.#known.set(due.id, endpoint);
    tree.add(endpoint, due);
    return true;
  }

  #mayWait({ host, waiting }: Endpoint, tree: PermitTree): boolean {
    const free = WAITING_MAX - tree.waiting;
    const leftOfCustomer = free * CUSTOMER_WAITING_SHARE - host.customer.waiting;
    return waiting + host.waiting < leftOfCustomer / HOST_WAITING_PARTS;
  }

  /**
   * Takes up to `limit` deliveries that may go now, and at most `ofEachMax` of a customer with many more until `endRests`.
   * Each holds its permits until it is released.
   */
  take(
    punctuality: Punctuality,
    limit: number,
    ofEachMax = Number.POSITIVE_INFINITY,
  ): readonly DueDelivery[] {
    const tree = this.#trees[punctuality];
    const taken: DueDelivery[] = [];
    while (taken.length < limit) {
      const endpoint = tree.next(this.#free(punctuality));
      if (endpoint === null) break;
      const due = endpoint.queue.peek();
      const isWaiting = due !== undefined && this.#known.get(due.id) === endpoint;
      const permits = isWaiting ? permitsOf(due) : 0;
      tree.pop(endpoint, permits);
      if (!isWaiting) continue;
      tree.taken(endpoint, ofEachMax);
      this.#known.set(due.id, null);
      this.#taken.set(due, { endpoint, permits, punctuality });
      taken.push(due);
    }
    return taken;
  }

  /** Customers that rest may go again. */
  endRests(punctuality: Punctuality): void {
    this.#trees[punctuality].endRests();
  }

  #free(punctuality: Punctuality): number {
    const { in_time: inTime, overdue } = this.#trees;
    const free = this.#permitsMax - inTime.held - overdue.held;
    return punctuality === 'in_time' ? free : Math.min(free, this.#permitsMax / OVERDUE_PARTS - overdue.held);
  }

  /** Whether a delivery that holds permits was overdue when it entered the queue. */
  wasOverdue(due: DueDelivery): boolean {
    return this.#taken.get(due)?.punctuality === 'overdue';
  }

  /** The store knows the new state of the delivery, so a scan finds it again only if it waits again. */
  forget(due: DueDelivery): void {
    this.#known.delete(due.id);
  }

  /** Gives the permits of a delivery back. */
  release(due: DueDelivery): void {
    const taken = this.#taken.get(due);
    if (taken === undefined) return;
    this.forget(due);
    this.#taken.delete(due);
    this.#trees[taken.punctuality].release(taken.endpoint, taken.permits);
  }
}

export function permitsOf({ payloadBytes }: Pick<DueDelivery, 'payloadBytes'>): number {
  return Math.max(Math.ceil(payloadBytes / PERMIT_BYTES), 1);
}

function byDeadline(a: DueDelivery, b: DueDelivery): number {
  const first = a.deadline ?? Number.POSITIVE_INFINITY;
  const second = b.deadline ?? Number.POSITIVE_INFINITY;
  return first === second ? a.dueAt - b.dueAt : first - second;
}
