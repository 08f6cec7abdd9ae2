/**
 * A tree of customers, their hosts and the endpoints there. It shares out the permits and holds the queues of the
 * endpoints.
 *
 * Shares depend on what is free. A customer may hold twice what is free, a host half of what its customer has left, an
 * endpoint a sixteenth of what its host has left, and each at least one permit. Something is therefore always left for
 * the others: a hundred hanging endpoints, or one host with thousands of paths, take some of the permits and never all.
 * Each level is served round robin: a customer with thousands of endpoints goes as often as one with a single endpoint.
 *
 * Solved for what is free: an endpoint that holds e permits, at a host that holds h, of a customer that holds c, may
 * take another where `2 × free > c + 2 × (h + 16 × e)`. The need of a holder is what it holds itself, plus the least
 * need below it multiplied by its share. One number describes each holder, so the next one that may go is found without
 * checking those that may not (`round-robin-by-need.ts`).
 */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { Heap } from './heap.ts';
import { type Member, RoundRobinByNeed } from './round-robin-by-need.ts';

/** A customer may hold this many times what is free. */
const CUSTOMER_SHARE = 2;
/** A host may hold one of this many parts of what its customer has left. */
const HOST_PARTS = 2;
/** An endpoint may hold one of this many parts of what its host has left. */
const ENDPOINT_PARTS = 16;
/** A customer with no more deliveries waiting than this does not rest. */
export const REST_FROM_WAITING = 64;

/** A customer, a host or an endpoint. */
abstract class Holder implements Member {
  readonly key: string;
  need = 0;
  /** Permits that it holds. */
  held = 0;
  /** Deliveries that wait. */
  waiting = 0;
  /** Whether its group lists it. */
  isListed = false;

  constructor(key: string) {
    this.key = key;
  }

  get isIdle(): boolean {
    return this.held === 0 && this.waiting === 0;
  }

  change(permits: number, deliveries: number): void {
    this.held += permits;
    this.waiting += deliveries;
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

/** A holder with others below it: a customer with hosts, or a host with endpoints. */
class Group<Below extends Holder> extends Holder {
  readonly ready = new RoundRobinByNeed<Below>();
  readonly below = new Map<string, Below>();
  readonly #parts: number;

  constructor(key: string, parts: number) {
    super(key);
    this.#parts = parts;
  }

  /** The permits held, plus the least need below multiplied by the number of parts. */
  get ownNeed(): number {
    return this.held + this.#parts * this.ready.leastNeed;
  }

  /** The bound of the needs below, where the need of this holder has the bound `left`. */
  leftBelow(left: number): number {
    return (left - this.held) / this.#parts;
  }

  /** A holder below has changed: it joins or leaves the round robin, and is forgotten when it is idle. */
  update(below: Below, need: number): void {
    this.ready.setNeed(below, need);
    if (below.waiting > 0) this.ready.add(below);
    else this.ready.remove(below);
    if (below.isIdle === !below.isListed) return;
    below.isListed = !below.isListed;
    if (below.isListed) this.below.set(below.key, below);
    else this.below.delete(below.key);
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
  /** Deliveries that were taken since the last `endRests`. */
  taken = 0;
  /** It has had its share, and waits for the next `endRests`. */
  isResting = false;

  constructor(key: string) {
    super(key, HOST_PARTS);
  }

  override get ownNeed(): number {
    return this.isResting ? Number.POSITIVE_INFINITY : super.ownNeed;
  }
}

export class PermitTree {
  readonly #root = new Group<Customer>('', 1);
  readonly #order: (a: DueDelivery, b: DueDelivery) => number;
  /** Customers of whom deliveries were taken since the last `endRests`. */
  readonly #served = new Set<Customer>();

  /** `order` is the order of the deliveries of one endpoint. */
  constructor(order: (a: DueDelivery, b: DueDelivery) => number) {
    this.#order = order;
  }

  get held(): number {
    return this.#root.held;
  }

  get waiting(): number {
    return this.#root.waiting;
  }

  /** Whether another customer waits or holds a permit. */
  hasOthersThan(key: string): boolean {
    const { below } = this.#root;
    return below.size > (below.has(key) ? 1 : 0);
  }

  /** One of the customers who wait or hold a permit. */
  get someCustomer(): string | null {
    for (const key of this.#root.below.keys()) return key;
    return null;
  }

  /** Finds the endpoint by its keys. A new one joins the tree when a delivery is added to it. */
  endpoint(customerKey: string, hostKey: string, key: string): Endpoint {
    const customer = this.#root.below.get(customerKey) ?? new Customer(customerKey);
    const host = customer.below.get(hostKey) ?? new Host(hostKey, customer);
    return host.below.get(key) ?? new Endpoint(key, host, this.#order);
  }

  add(endpoint: Endpoint, due: DueDelivery): void {
    endpoint.queue.push(due);
    this.#change(endpoint, 0, 1);
  }

  /** The next endpoint that may go with this many free permits; null if none may. */
  next(free: number): Endpoint | null {
    const left = CUSTOMER_SHARE * free;
    const customer = this.#root.ready.next(left);
    if (customer === null) return null;
    const leftOfCustomer = customer.leftBelow(left);
    const host = customer.ready.next(leftOfCustomer);
    return host?.ready.next(host.leftBelow(leftOfCustomer)) ?? null;
  }

  /** Takes the first delivery out of an endpoint's queue. It holds these permits from now on. */
  pop(endpoint: Endpoint, permits: number): void {
    endpoint.queue.pop();
    this.#change(endpoint, permits, -1);
  }

  /** A customer of whom `ofEachMax` were taken rests after that, if many more wait. */
  taken({ host: { customer } }: Endpoint, ofEachMax: number): void {
    if (ofEachMax === Number.POSITIVE_INFINITY) return;
    this.#served.add(customer);
    customer.taken++;
    customer.isResting = customer.taken >= ofEachMax && customer.waiting > REST_FROM_WAITING;
    if (customer.isResting) this.#root.update(customer, customer.ownNeed);
  }

  /** Customers that rest may go again. */
  endRests(): void {
    for (const customer of this.#served) {
      customer.taken = 0;
      customer.isResting = false;
      this.#root.update(customer, customer.ownNeed);
    }
    this.#served.clear();
  }

  release(endpoint: Endpoint, permits: number): void {
    this.#change(endpoint, -permits, 0);
  }

  #change(endpoint: Endpoint, permits: number, deliveries: number): void {
    const { host } = endpoint;
    const { customer } = host;
    endpoint.change(permits, deliveries);
    host.change(permits, deliveries);
    customer.change(permits, deliveries);
    this.#root.change(permits, deliveries);
    host.update(endpoint, endpoint.held);
    customer.update(host, host.ownNeed);
    this.#root.update(customer, customer.ownNeed);
  }
}
