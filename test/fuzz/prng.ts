/**
 * Seeded randomness (mulberry32). The same seed gives the same requests, so a failing one can be sent again.
 */
export class Prng {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A generator for one request of a run. Request 4711 therefore does not depend on the 4710 before it. */
  static of(seed: number, index: number): Prng {
    const prng = new Prng(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35));
    for (let i = 0; i < 3; i++) prng.uint32();
    return prng;
  }

  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer from 0 to `below`, exclusive. */
  int(below: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * below);
  }

  between(from: number, to: number): number {
    return from + this.int(to - from + 1);
  }

  chance(probability: number): boolean {
    return this.uint32() / 2 ** 32 < probability;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.int(list.length)];
    if (item === undefined && list.length === 0) throw new Error('Nothing to pick from.');
    return item as T;
  }

  /** One of the entries, chosen by weight. */
  weighted<T>(entries: readonly (readonly [weight: number, item: T])[]): T {
    const total = entries.reduce((sum, [weight]) => sum + weight, 0);
    let left = (this.uint32() / 2 ** 32) * total;
    for (const [weight, item] of entries) {
      left -= weight;
      if (left < 0) return item;
    }
    return this.pick(entries)[1];
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.int(256)));
  }

  /** Some entries of the list, in order. */
  some<T>(list: readonly T[], probability: number): readonly T[] {
    return list.filter(() => this.chance(probability));
  }
}
