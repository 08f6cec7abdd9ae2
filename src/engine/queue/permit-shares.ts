/**
 * Who holds permits to send, and whose turn it is: a tree of customers, their hosts and the endpoints there.
 *
 * Permits are shared out by what is free: a customer may hold twice what is free, a host half of what its customer has
 * left, an endpoint a sixteenth of what its host has left, and each at least one. So something is always left for the
 * others: a hundred hanging endpoints, of one host or of many, or one host with thousands of paths, take some of the
 * permits and never all of them. Turns are given at each level: a customer with thousands of endpoints has as many as
 * one that has a single endpoint.
 *
 * Written the other way round, a holder needs something: an endpoint that holds e permits at a host that holds h, of
 * a customer that holds c, may take another where `2 × free > c + 2 × (h + 16 × e)`. So each holder needs what it holds
 * itself and, multiplied by its share, the least that anybody below needs. Everybody is known by one number, and who
 * may go is found without looking at those who may not (`roster.ts`).
 */
import type { DueDelivery } from '#src/domain/due.ts';
import { Heap } from './heap.ts';
import { type Member, Roster } from './roster.ts';

/** A customer may hold so many times what is free. */
const CUSTOMER_SHARE = 2;
/** A host may hold this part of what its customer has left. */
const HOST_PARTS = 2;
/** An endpoint may hold this part of what its host has left. */
const ENDPOINT_PARTS = 16;
/** A customer for whom no more than this waits does not rest. */
export const RESTLESS_WAITING_MAX = 64;

/** A customer, a host or an endpoint. */
abstract class Holder implements Member {
  readonly key: string;
  need = 0;
  /** Permits. */
  held = 0;
  /** Deliveries. */
  waiting = 0;

  constructor(key: string) {
    this.key = key;
  }

  get isIdle(): boolean {
    return this.held === 0 && this.waiting === 0;
  }
}

export class Endpoint extends Holder {
  readonly host: Host;
  readonly queue: Heap<DueDelivery>;

  constructor(key: string, host: Host, order: (a: DueDelivery, b: DueDelivery) => number) {
    super(key);
    this.host = host;
    this.queue = new Heap(order);
  }
}

/** A holder with others below it. */
class Group<Below extends Holder> extends Holder {
  readonly ready = new Roster<Below>();
  readonly below = new Map<string, Below>();
  readonly #parts: number;

  constructor(key: string, parts: number) {
    super(key);
    this.#parts = parts;
  }

  /** The need of this one: what it holds and, multiplied, the least need below. */
  get ownNeed(): number {
    return this.held + this.#parts * this.ready.least;
  }

  /** The bound on the needs below, where the need of this one must stay below `left`. */
  leftBelow(left: number): number {
    return (left - this.held) / this.#parts;
  }

  /** A holder below has changed: whether it has something to do, what it needs, whether it is needed. */
  update(below: Below, need: number): void {
    this.ready.needs(below, need);
    if (below.waiting > 0) this.ready.add(below);
    else this.ready.remove(below);
    if (!below.isIdle) this.below.set(below.key, below);
    // Where it was idle before, another may have come in its place.
    else if (this.below.get(below.key) === below) this.below.delete(below.key);
  }
}

export class Host extends Group<Endpoint> {
  readonly customer: Customer;

  constructor(key: string, customer: Customer) {
    super(key, ENDPOINT_PARTS);
    this.customer = customer;
  }
}

export class Customer extends Group<Host> {
  /** Deliveries, since everybody could go again. */
  taken = 0;
  /** It has had its share, and may not go until everybody can go again. */
  isResting = false;

  constructor(key: string) {
    super(key, HOST_PARTS);
  }

  override get ownNeed(): number {
    return this.isResting ? Number.POSITIVE_INFINITY : super.ownNeed;
  }
}

export class PermitShares {
  readonly #everybody = new Group<Customer>('', 1);
  readonly #order: (a: DueDelivery, b: DueDelivery) => number;
  /** Customers of whom something was taken since everybody could go again. */
  readonly #served = new Set<Customer>();

  /** `order`: in which the deliveries of one endpoint go. */
  constructor(order: (a: DueDelivery, b: DueDelivery) => number) {
    this.#order = order;
  }

  get held(): number {
    return this.#everybody.held;
  }

  get waiting(): number {
    return this.#everybody.waiting;
  }

  /** Whether anybody but this customer waits or holds a permit. */
  hasOthersThan(key: string): boolean {
    const { below } = this.#everybody;
    return below.size > (below.has(key) ? 1 : 0);
  }

  /** One of the customers who wait or hold a permit. */
  get someCustomer(): string | null {
    for (const key of this.#everybody.below.keys()) return key;
    return null;
  }

  /** The endpoint by its keys; a new one belongs to the tree once something was added to it. */
  endpoint(customerKey: string, hostKey: string, key: string): Endpoint {
    const customer = this.#everybody.below.get(customerKey) ?? new Customer(customerKey);
    const host = customer.below.get(hostKey) ?? new Host(hostKey, customer);
    return host.below.get(key) ?? new Endpoint(key, host, this.#order);
  }

  add(endpoint: Endpoint, due: DueDelivery): void {
    endpoint.queue.push(due);
    this.#change(endpoint, 0, 1);
  }

  /** The endpoint whose turn it is, where so many permits are free; null where nobody may go. */
  next(free: number): Endpoint | null {
    const left = CUSTOMER_SHARE * free;
    const customer = this.#everybody.ready.next(left);
    if (customer === null) return null;
    const leftOfCustomer = customer.leftBelow(left);
    const host = customer.ready.next(leftOfCustomer);
    return host?.ready.next(host.leftBelow(leftOfCustomer)) ?? null;
  }

  /** Takes the first delivery out of an endpoint's queue. */
  pop(endpoint: Endpoint): DueDelivery | undefined {
    const due = endpoint.queue.pop();
    if (due !== undefined) this.#change(endpoint, 0, -1);
    return due;
  }

  /** A customer of whom so many are taken rests after that, where many more wait. */
  taken({ host: { customer } }: Endpoint, ofEachMax: number): void {
    if (ofEachMax === Number.POSITIVE_INFINITY) return;
    this.#served.add(customer);
    customer.taken++;
    customer.isResting = customer.taken >= ofEachMax && customer.waiting > RESTLESS_WAITING_MAX;
    if (customer.isResting) this.#everybody.update(customer, customer.ownNeed);
  }

  /** Everybody can go again. */
  endRests(): void {
    for (const customer of this.#served) {
      customer.taken = 0;
      customer.isResting = false;
      this.#everybody.update(customer, customer.ownNeed);
    }
    this.#served.clear();
  }

  hold(endpoint: Endpoint, permits: number): void {
    this.#change(endpoint, permits, 0);
  }

  release(endpoint: Endpoint, permits: number): void {
    this.#change(endpoint, -permits, 0);
  }

  #change(endpoint: Endpoint, permits: number, deliveries: number): void {
    const { host } = endpoint;
    const { customer } = host;
    for (const holder of [endpoint, host, customer, this.#everybody]) {
      holder.held += permits;
      holder.waiting += deliveries;
    }
    host.update(endpoint, endpoint.held);
    customer.update(host, host.ownNeed);
    this.#everybody.update(customer, customer.ownNeed);
  }
}
