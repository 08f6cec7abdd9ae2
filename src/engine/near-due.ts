/**
 * The deliveries of the next moments, by the instant they are due. Bounded: what does not fit stays in the
 * store and is found again. A delivery that was moved leaves its old entry behind, which is passed over.
 */
import type { Due } from '#src/domain/due.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { Heap } from './heap.ts';

export const NEAR_DUE_MAX = 20_000;
/** With the entries left behind. */
const ENTRIES_MAX = 2 * NEAR_DUE_MAX;

export class NearDue {
  readonly #entries = new Heap<Due>((a, b) => a.dueAt - b.dueAt);
  readonly #dueAt = new Map<DeliveryId, Instant>();

  get isFull(): boolean {
    return this.#dueAt.size >= NEAR_DUE_MAX || this.#entries.size >= ENTRIES_MAX;
  }

  /** False when there is no room. */
  add(due: Due): boolean {
    const known = this.#dueAt.get(due.id);
    if (known === due.dueAt) return true;
    if (this.isFull) return false;
    this.#dueAt.set(due.id, due.dueAt);
    this.#entries.push(due);
    return true;
  }

  nextAt(): Instant | null {
    return this.#top()?.dueAt ?? null;
  }

  /** Takes out what is due, the earliest first. */
  take(now: Instant): readonly Due[] {
    const taken: Due[] = [];
    for (let top = this.#top(); top !== undefined && top.dueAt <= now; top = this.#top()) {
      this.#entries.pop();
      this.#dueAt.delete(top.id);
      taken.push(top);
    }
    return taken;
  }

  #top(): Due | undefined {
    for (;;) {
      const top = this.#entries.peek();
      if (top === undefined || this.#dueAt.get(top.id) === top.dueAt) return top;
      this.#entries.pop();
    }
  }
}
