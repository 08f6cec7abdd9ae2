/**
 * A bounded set of connections in which each customer has a share. A customer that has used up its share
 * loses its own oldest connection, so a customer with many connections never evicts those of another.
 */
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import type { Partition } from '#src/domain/project.ts';

/** A customer may hold this many times what is free. */
const CUSTOMER_SHARE = 2;

interface Owned {
  readonly customer: Partition;
}

export class BoundedConnectionSet<Connection extends Owned> {
  readonly #shares: FairShareLimit;
  /** Each customer's connections, the oldest first. */
  readonly #byCustomer = new Map<Partition, Set<Connection>>();

  constructor(max: number) {
    this.#shares = new FairShareLimit(max, CUSTOMER_SHARE);
  }

  has(connection: Connection): boolean {
    return this.#byCustomer.get(connection.customer)?.has(connection) === true;
  }

  countOf(customer: Partition): number {
    return this.#shares.heldBy(customer);
  }

  /** Returns the connection that the caller must delete to make space, if there is one. */
  add(connection: Connection): Connection | undefined {
    if (this.has(connection)) return undefined;
    const own = this.#byCustomer.get(connection.customer);
    const oldest = this.#shares.canAcquire(connection.customer) ? undefined : own?.values().next().value;
    if (own === undefined) this.#byCustomer.set(connection.customer, new Set([connection]));
    else own.add(connection);
    this.#shares.acquire(connection.customer, 1);
    return oldest;
  }

  delete(connection: Connection): boolean {
    const own = this.#byCustomer.get(connection.customer);
    if (own?.delete(connection) !== true) return false;
    this.#shares.release(connection.customer, 1);
    if (own.size === 0) this.#byCustomer.delete(connection.customer);
    return true;
  }
}
