/**
 * Lanes that are kept for now, a bounded number, of which each customer has a share. Where a customer has no room for
 * another one, its own oldest goes: whoever has many lanes costs the others none.
 */
import { CustomerShares } from '#src/domain/customer-shares.ts';
import type { Partition } from '#src/domain/partition.ts';

/** A customer may keep so many times what is free. */
const CUSTOMER_SHARE = 2;

interface Kept {
  readonly customer: Partition;
}

export class KeptLanes<Lane extends Kept> {
  readonly #shares: CustomerShares;
  /** In the order they came. */
  readonly #byCustomer = new Map<Partition, Set<Lane>>();

  constructor(max: number) {
    this.#shares = new CustomerShares(max, CUSTOMER_SHARE);
  }

  has(lane: Lane): boolean {
    return this.#byCustomer.get(lane.customer)?.has(lane) === true;
  }

  countOf(customer: Partition): number {
    return this.#shares.heldBy(customer);
  }

  /** Answers the lane that has to be deleted for it, if any. */
  add(lane: Lane): Lane | undefined {
    if (this.has(lane)) return undefined;
    const own = this.#byCustomer.get(lane.customer);
    const oldest = this.#shares.hasRoom(lane.customer) ? undefined : own?.values().next().value;
    if (own === undefined) this.#byCustomer.set(lane.customer, new Set([lane]));
    else own.add(lane);
    this.#shares.hold(lane.customer, 1);
    return oldest;
  }

  delete(lane: Lane): boolean {
    const own = this.#byCustomer.get(lane.customer);
    if (own?.delete(lane) !== true) return false;
    this.#shares.release(lane.customer, 1);
    if (own.size === 0) this.#byCustomer.delete(lane.customer);
    return true;
  }
}
