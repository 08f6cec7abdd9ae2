/**
 * A second count of the permits to send, from the engine's writes to the store and from the requests on the
 * network. An endpoint that holds e permits, at a host that holds h, of a customer that holds c, may take
 * another one while `2 × free > c + 2 × (h + 16 × e)`. Work in time and overdue work are counted apart, and
 * overdue work has half of all permits. A delivery that waits although its endpoint may take a permit has
 * been forgotten.
 *
 * The engine holds a permit a little longer than this count shows. It takes the permit when the delivery
 * leaves its queue, which is before the write. An endpoint therefore counts as full when it is nearly full.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import { gateKey } from './breaker.ts';

const OVERDUE_PARTS = 2;
const CUSTOMER_SHARE = 2;
const HOST_PARTS = 2;
const ENDPOINT_PARTS = 16;
/** One permit covers a body of this size. A larger body takes several permits. */
const PERMIT_BYTES = 65_536;
/** The largest body with its headers takes this many permits. At least one of them has to be free. */
const BODY_PERMITS_MAX = 13;
/** Permits that an endpoint may hold before they are counted here. */
const UNSEEN = 2;

type Destined = Pick<Delivery, 'partition' | 'target'>;

export type Punctuality = 'in_time' | 'overdue';

/** The delivery that asks for a permit, and how it counts. */
interface Use {
  readonly delivery: Destined;
  /** Both kinds, where it is not certain. The permit then counts as either. */
  readonly kinds: readonly Punctuality[];
  readonly bodyBytes: number | null;
  /** The node that holds the permit. */
  readonly node: string;
}

interface Permit {
  readonly node: string;
  readonly kinds: readonly Punctuality[];
  /** The endpoint, its host and its customer. */
  readonly keys: readonly [string, string, string];
  readonly count: number;
}

export class Permits {
  readonly #max: number;
  readonly #held: Readonly<Record<Punctuality, Map<string, number>>> = {
    in_time: new Map(),
    overdue: new Map(),
  };
  readonly #total: Record<Punctuality, number> = { in_time: 0, overdue: 0 };
  readonly #permits = new Map<string, Permit>();
  readonly #fullMs: Readonly<Record<Punctuality, Map<string, number>>> = {
    in_time: new Map(),
    overdue: new Map(),
  };

  constructor(max: number) {
    this.#max = max;
  }

  hold(token: string, { delivery, kinds, bodyBytes, node }: Use, nowMs: number): void {
    if (this.#permits.has(token)) return;
    const count = Math.max(Math.ceil((bodyBytes ?? 0) / PERMIT_BYTES), 1);
    const permit = { node, kinds, keys: keysOf(delivery), count };
    this.#permits.set(token, permit);
    this.#change(permit, count);
    this.#note(nowMs);
  }

  release(token: string, nowMs: number): void {
    const permit = this.#permits.get(token);
    if (permit === undefined) return;
    this.#note(nowMs);
    this.#permits.delete(token);
    this.#change(permit, -permit.count);
  }

  releaseAllOf(node: string, nowMs: number): void {
    for (const [token, permit] of this.#permits) if (permit.node === node) this.release(token, nowMs);
  }

  /** The permits of all customers together. */
  get held(): number {
    return this.#total.in_time + this.#total.overdue;
  }

  /** The permits of one customer. */
  heldBy(partition: Partition): number {
    return this.#heldOf(customerKey(partition));
  }

  /** Twice the number of permits that have to be free before the endpoint may take one more. */
  needOf(delivery: Destined): number {
    const [endpoint, host, customer] = keysOf(delivery).map((key) => this.#heldOf(key));
    return (customer ?? 0) + HOST_PARTS * ((host ?? 0) + ENDPOINT_PARTS * (endpoint ?? 0));
  }

  /** Twice the number of permits that this many other customers leave free in any case. */
  leftBeside(others: number): number {
    return (CUSTOMER_SHARE * (this.#max - others * BODY_PERMITS_MAX)) / (CUSTOMER_SHARE * others + 1);
  }

  #heldOf(key: string): number {
    return (this.#held.in_time.get(key) ?? 0) + (this.#held.overdue.get(key) ?? 0);
  }

  isFull(delivery: Destined, punctuality: Punctuality): boolean {
    return this.#full(keysOf(delivery), punctuality) !== null;
  }

  wasFullSince(delivery: Destined, punctuality: Punctuality, sinceMs: number): boolean {
    if (this.isFull(delivery, punctuality)) return true;
    return keysOf(delivery).some((key) => (this.#fullMs[punctuality].get(key) ?? -1) >= sinceMs);
  }

  #change({ kinds, keys }: Permit, by: number): void {
    for (const punctuality of kinds) {
      const held = this.#held[punctuality];
      for (const key of keys) held.set(key, (held.get(key) ?? 0) + by);
      this.#total[punctuality] += by;
    }
  }

  /**
   * Remembers all endpoints, hosts and customers that are full now. A permit of one endpoint can fill
   * another.
   */
  #note(nowMs: number): void {
    for (const { kinds, keys } of this.#permits.values()) {
      for (const punctuality of kinds) {
        const full = this.#full(keys, punctuality);
        if (full !== null) this.#fullMs[punctuality].set(full, nowMs);
      }
    }
  }

  /** The widest key that is full: customer, then host, then endpoint. Null where a permit may be taken. */
  #full(keys: Permit['keys'], punctuality: Punctuality): string | null {
    const [endpoint, host, customer] = keys.map((key) => this.#held[punctuality].get(key) ?? 0);
    const needOfHost = (customer ?? 0) + HOST_PARTS * (host ?? 0);
    const left = CUSTOMER_SHARE * this.#free(punctuality) - HOST_PARTS * ENDPOINT_PARTS * UNSEEN;
    if (left <= (customer ?? 0)) return keys[2];
    if (left <= needOfHost) return keys[1];
    return left <= needOfHost + HOST_PARTS * ENDPOINT_PARTS * (endpoint ?? 0) ? keys[0] : null;
  }

  #free(punctuality: Punctuality): number {
    const { in_time: inTime, overdue } = this.#total;
    const free = this.#max - inTime - overdue;
    return punctuality === 'in_time' ? free : Math.min(free, this.#max / OVERDUE_PARTS - overdue);
  }
}

function keysOf(delivery: Destined): Permit['keys'] {
  const { partition, target } = delivery;
  return [gateKey(delivery), `${partition} ${new URL(target.url).origin}`, customerKey(partition)];
}

function customerKey(partition: Partition): string {
  return `${partition}`;
}
