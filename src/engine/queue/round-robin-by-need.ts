/**
 * Round robin among members that each need a part of the remaining amount. A heap has the member with the least need on
 * top.
 *
 * The next member is the one that was served longest ago. If it needs more than is left, the member with the least need
 * goes instead; if that one may not go either, none may. Finding the next member therefore costs the same however many
 * members wait for something to come free.
 */
export interface Member {
  /** The member may go where more than this is left. Only `RoundRobinByNeed.setNeed` changes it. */
  need: number;
}

interface Entry<T extends Member> {
  readonly member: T;
  /** The index in the heap. */
  at: number;
  before: Entry<T> | null;
  after: Entry<T> | null;
}

export class RoundRobinByNeed<T extends Member> {
  readonly #entries = new Map<T, Entry<T>>();
  /** A binary heap with the least need first. */
  readonly #heap: Entry<T>[] = [];
  #first: Entry<T> | null = null;
  #last: Entry<T> | null = null;

  get size(): number {
    return this.#heap.length;
  }

  get leastNeedy(): T | null {
    return this.#heap[0]?.member ?? null;
  }

  /** The least need of all members; infinite without members. */
  get leastNeed(): number {
    return this.#heap[0]?.member.need ?? Number.POSITIVE_INFINITY;
  }

  /** Adds a member at the end of the round, unless it is there already. */
  add(member: T): void {
    if (this.#entries.has(member)) return;
    const entry: Entry<T> = { member, at: this.#heap.length, before: null, after: null };
    this.#entries.set(member, entry);
    this.#heap.push(entry);
    this.#rise(entry);
    this.#append(entry);
  }

  remove(member: T): void {
    const entry = this.#entries.get(member);
    if (entry === undefined) return;
    this.#entries.delete(member);
    this.#unlink(entry);
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return;
    this.#setAt(last, entry.at);
    this.#rise(last);
    this.#sink(last);
  }

  /** Sets the need of a member, whether or not it was added. */
  setNeed(member: T, need: number): void {
    if (member.need === need) return;
    member.need = need;
    const entry = this.#entries.get(member);
    if (entry === undefined) return;
    this.#rise(entry);
    this.#sink(entry);
  }

  /** The next member that needs less than `left`. It is served again after all others. */
  next(left: number): T | null {
    const first = this.#first;
    const least = this.#heap[0];
    if (first === null || least === undefined || least.member.need >= left) return null;
    this.#moveToEnd(first);
    if (first.member.need < left) return first.member;
    this.#moveToEnd(least);
    return least.member;
  }

  #moveToEnd(entry: Entry<T>): void {
    if (this.#last === entry) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<T>): void {
    entry.before = this.#last;
    entry.after = null;
    if (this.#last === null) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
  }

  #unlink({ before, after }: Entry<T>): void {
    if (before === null) this.#first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
  }

  #rise(entry: Entry<T>): void {
    for (let at = entry.at; at > 0; ) {
      const parentAt = (at - 1) >> 1;
      const parent = this.#heap[parentAt] as Entry<T>;
      if (parent.member.need <= entry.member.need) return;
      this.#setAt(parent, at);
      this.#setAt(entry, parentAt);
      at = parentAt;
    }
  }

  #sink(entry: Entry<T>): void {
    for (let at = entry.at; ; ) {
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      if (left === undefined) return;
      const child = right !== undefined && right.member.need < left.member.need ? right : left;
      if (child.member.need >= entry.member.need) return;
      const childAt = child.at;
      this.#setAt(child, at);
      this.#setAt(entry, childAt);
      at = childAt;
    }
  }

  #setAt(entry: Entry<T>, at: number): void {
    this.#heap[at] = entry;
    entry.at = at;
  }
}
