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
import { gateKey } from './breaker.ts';

const PERMITS_MAX = 2_048;
const OVERDUE_PERMITS_MAX = 1_024;
const CUSTOMER_SHARE = 2;
const HOST_PARTS = 2;
const ENDPOINT_PARTS = 16;
/** A permit is for a body of so many bytes; a larger one takes several. */
const PERMIT_BYTES = 65_536;
/** Permits of an endpoint that may be held without being seen. */
const UNSEEN = 2;

type Destined = Pick<Delivery, 'partition' | 'target'>;

export type Punctuality = 'in_time' | 'overdue';

interface Permit {
  readonly punctuality: Punctuality;
  /** The endpoint, its host, its customer. */
  readonly keys: readonly [string, string, string];
  readonly count: number;
}

export class Permits {
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

  hold(
    token: string,
    delivery: Destined,
    punctuality: Punctuality,
    bodyBytes: number | null,
    nowMs: number,
  ): void {
    if (this.#permits.has(token)) return;
    const count = Math.max(Math.ceil((bodyBytes ?? 0) / PERMIT_BYTES), 1);
    const permit = { punctuality, keys: keysOf(delivery), count };
    this.#permits.set(token, permit);
    this.#change(permit, count);
    this.#note(permit, nowMs);
  }

  release(token: string, nowMs: number): void {
    const permit = this.#permits.get(token);
    if (permit === undefined) return;
    this.#note(permit, nowMs);
    this.#permits.delete(token);
    this.#change(permit, -permit.count);
  }

  releaseAll(nowMs: number): void {
    for (const token of [...this.#permits.keys()]) this.release(token, nowMs);
  }

  isFull(delivery: Destined, punctuality: Punctuality): boolean {
    return this.#full(keysOf(delivery), punctuality) !== null;
  }

  wasFullSince(delivery: Destined, punctuality: Punctuality, sinceMs: number): boolean {
    if (this.isFull(delivery, punctuality)) return true;
    return keysOf(delivery).some((key) => (this.#fullMs[punctuality].get(key) ?? -1) >= sinceMs);
  }

  #change({ punctuality, keys }: Permit, by: number): void {
    const held = this.#held[punctuality];
    for (const key of keys) held.set(key, (held.get(key) ?? 0) + by);
    this.#total[punctuality] += by;
  }

  #note({ punctuality, keys }: Permit, nowMs: number): void {
    const full = this.#full(keys, punctuality);
    if (full !== null) this.#fullMs[punctuality].set(full, nowMs);
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
    const free = PERMITS_MAX - inTime - overdue;
    return punctuality === 'in_time' ? free : Math.min(free, OVERDUE_PERMITS_MAX - overdue);
  }
}

function keysOf(delivery: Destined): Permit['keys'] {
  const { partition, target } = delivery;
  return [gateKey(delivery), `${partition} ${new URL(target.url).origin}`, `${partition}`];
}
