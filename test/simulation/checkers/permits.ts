/**
 * The permits to send, counted once more from what was asked of the store and what the network saw. An endpoint that
 * holds e permits, at a host that holds h, of a customer that holds c, may take another one while
 * `2 × free > c + 2 × (h + 16 × e)`. Work in time and overdue work are counted apart, and overdue work has half of
 * all permits. A delivery that waits although its endpoint may take a permit has been forgotten.
 *
 * The engine holds a permit a little longer than is seen here: from the moment when a delivery is taken out of its
 * queue, which is before it is asked for. So an endpoint counts as full when it is nearly so.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import { gateKey } from './breaker.ts';

const OVERDUE_PARTS = 2;
const CUSTOMER_SHARE = 2;
const HOST_PARTS = 2;
const ENDPOINT_PARTS = 16;
/** A permit is for a body of so many bytes; a larger one takes several. */
const PERMIT_BYTES = 65_536;
/** The largest body, with its headers, takes so many, of which one has to be free. */
const BODY_PERMITS_MAX = 13;
/** Permits of an endpoint that may be held without being seen. */
const UNSEEN = 2;

type Destined = Pick<Delivery, 'partition' | 'target'>;

export type Punctuality = 'in_time' | 'overdue';

/** The delivery that asks for a permit, and how it counts. */
interface Use {
  readonly delivery: Destined;
  /** Both, where nobody can say: it counts as either then. */
  readonly kinds: readonly Punctuality[];
  readonly bodyBytes: number | null;
  /** The node that holds the permit. */
  readonly node: string;
}

interface Permit {
  readonly node: string;
  readonly kinds: readonly Punctuality[];
  /** The endpoint, its host, its customer. */
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

  /** All that anybody holds. */
  get held(): number {
    return this.#total.in_time + this.#total.overdue;
  }

  /** All that a customer holds. */
  heldBy(partition: Partition): number {
    return this.#heldOf(customerKey(partition));
  }

  /** Twice the number of permits that have to be free before the endpoint may take one more. */
  needOf(delivery: Destined): number {
    const [endpoint, host, customer] = keysOf(delivery).map((key) => this.#heldOf(key));
    return (customer ?? 0) + HOST_PARTS * ((host ?? 0) + ENDPOINT_PARTS * (endpoint ?? 0));
  }

  /** Twice the number of permits that so many other customers leave free at least, whatever they do. */
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

  /** Remembers everybody who is full now: a permit of one endpoint can fill another one. */
  #note(nowMs: number): void {
    for (const { kinds, keys } of this.#permits.values()) {
      for (const punctuality of kinds) {
        const full = this.#full(keys, punctuality);
        if (full !== null) this.#fullMs[punctuality].set(full, nowMs);
      }
    }
  }

  /** The widest of them that is full; null where a permit may be taken. */
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
