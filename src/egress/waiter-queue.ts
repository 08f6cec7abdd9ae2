/**
 * The requests that wait for a connection of one origin, the oldest first. A restart may send thousands of overdue
 * requests to one origin. A request in time does not wait behind them. Of four requests one is overdue, so that
 * overdue work goes on.
 */
const IN_TIME_FOR_EACH_OVERDUE = 3;

interface Waiting {
  readonly isOverdue: boolean;
}

export class WaiterQueue<Waiter extends Waiting> {
  readonly #inTime = new Set<Waiter>();
  readonly #overdue = new Set<Waiter>();
  /** Requests in time that went while an overdue one waited. */
  #passed = 0;

  get size(): number {
    return this.#inTime.size + this.#overdue.size;
  }

  add(waiter: Waiter): void {
    this.#setOf(waiter).add(waiter);
  }

  delete(waiter: Waiter): boolean {
    return this.#setOf(waiter).delete(waiter);
  }

  /** Takes the next one; null when none waits. */
  take(): Waiter | null {
    const overdue = firstOf(this.#overdue);
    const next = overdue === null ? firstOf(this.#inTime) : (this.takeBefore(overdue) ?? overdue);
    if (next !== null) this.delete(next);
    return next;
  }

  /** Takes a request in time that may go before `other`, which is about to go; null when none may. */
  takeBefore({ isOverdue }: Waiter): Waiter | null {
    if (!isOverdue) return null;
    const next = this.#passed < IN_TIME_FOR_EACH_OVERDUE ? firstOf(this.#inTime) : null;
    this.#passed = next === null ? 0 : this.#passed + 1;
    if (next !== null) this.#inTime.delete(next);
    return next;
  }

  takeAll(): readonly Waiter[] {
    const all = [...this.#inTime, ...this.#overdue];
    this.#inTime.clear();
    this.#overdue.clear();
    return all;
  }

  #setOf({ isOverdue }: Waiter): Set<Waiter> {
    return isOverdue ? this.#overdue : this.#inTime;
  }
}

function firstOf<T>(set: ReadonlySet<T>): T | null {
  return set.size === 0 ? null : (set.values().next().value ?? null);
}
