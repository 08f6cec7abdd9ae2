/**
 * Something bounded that customers share: each may hold a multiple of what is free. So one customer gets most of it
 * while nobody else needs it, and several get about the same.
 */
import type { Partition } from './project.ts';

export class FairShareLimit {
  readonly #max: number;
  readonly #timesFree: number;
  readonly #heldBy = new Map<Partition, number>();
  #held = 0;

  /** `timesFree`: a customer may hold so many times what is free. */
  constructor(max: number, timesFree: number) {
    this.#max = max;
    this.#timesFree = timesFree;
  }

  get isFull(): boolean {
    return this.#held >= this.#max;
  }

  /** Whether a customer may hold more. */
  canAcquire(partition: Partition): boolean {
    return (this.#max - this.#held) * this.#timesFree > this.heldBy(partition);
  }

  heldBy(partition: Partition): number {
    return this.#heldBy.get(partition) ?? 0;
  }

  acquire(partition: Partition, amount: number): void {
    this.#held += amount;
    this.#heldBy.set(partition, this.heldBy(partition) + amount);
  }

  release(partition: Partition, amount: number): void {
    this.#held -= amount;
    const left = this.heldBy(partition) - amount;
    if (left > 0) this.#heldBy.set(partition, left);
    else this.#heldBy.delete(partition);
  }
}
