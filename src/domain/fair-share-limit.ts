/**
 * A limit that customers share. Each customer may hold a multiple of what is free. A single customer therefore gets
 * most of it, and several customers get about the same.
 */
import type { Partition } from './project.ts';

export class FairShareLimit {
  readonly #max: number;
  readonly #timesFree: number;
  readonly #heldBy = new Map<Partition, number>();
  #held = 0;

  /** `timesFree` is that multiple. */
  constructor(max: number, timesFree: number) {
    this.#max = max;
    this.#timesFree = timesFree;
  }

  get isFull(): boolean {
    return this.#held >= this.#max;
  }

  /** Returns true when the customer may hold more. */
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
