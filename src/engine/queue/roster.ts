/**
 * Those who have something to do, in the order of their turns, with the one that needs least always at hand.
 *
 * A turn goes to whoever had none for longest. Where that one may not go, since it needs more than is left, its turn
 * passes and the one that needs least goes instead: if that one may not go, nobody may. So finding the next costs the
 * same however many wait for something to come free.
 */
export interface Member {
  /** It may go where more than this is left. Changed only by `Roster.needs`. */
  need: number;
}

interface Entry<T extends Member> {
  readonly member: T;
  /** Its place in the heap. */
  at: number;
  before: Entry<T> | null;
  after: Entry<T> | null;
}

export class Roster<T extends Member> {
  readonly #entries = new Map<T, Entry<T>>();
  /** A binary heap: whoever needs least comes first. */
  readonly #heap: Entry<T>[] = [];
  #first: Entry<T> | null = null;
  #last: Entry<T> | null = null;

  get size(): number {
    return this.#heap.length;
  }

  /** Who needs least. */
  get leastNeedy(): T | null {
    return this.#heap[0]?.member ?? null;
  }

  /** The least that anybody here needs; without anybody, more than there is. */
  get least(): number {
    return this.#heap[0]?.member.need ?? Number.POSITIVE_INFINITY;
  }

  /** Joins at the end of the turns, unless it is here. */
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
    this.#place(last, entry.at);
    this.#rise(last);
    this.#sink(last);
  }

  /** It needs so much from now on, whether or not it is here. */
  needs(member: T, need: number): void {
    if (member.need === need) return;
    member.need = need;
    const entry = this.#entries.get(member);
    if (entry === undefined) return;
    this.#rise(entry);
    this.#sink(entry);
  }

  /** Whose turn it is, of those who need less than `left`; its next turn comes after everybody else's. */
  next(left: number): T | null {
    const first = this.#first;
    const least = this.#heap[0];
    if (first === null || least === undefined || least.member.need >= left) return null;
    this.#toTheEnd(first);
    if (first.member.need < left) return first.member;
    this.#toTheEnd(least);
    return least.member;
  }

  #toTheEnd(entry: Entry<T>): void {
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
      this.#place(parent, at);
      this.#place(entry, parentAt);
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
      this.#place(child, at);
      this.#place(entry, childAt);
      at = childAt;
    }
  }

  #place(entry: Entry<T>, at: number): void {
    this.#heap[at] = entry;
    entry.at = at;
  }
}
