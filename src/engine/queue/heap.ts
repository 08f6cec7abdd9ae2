/** A binary heap. The least item by `compare` comes out first, and of equal items the one that was added first. */
export class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];
  /** The sequence number of each item, in the order in which they were added. */
  readonly #numbers: number[] = [];
  #added = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(item, items[parent] as T) >= 0) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, item, this.#added++);
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    const number = this.#numbers.pop();
    if (items.length === 0 || last === undefined || number === undefined) return top;
    let at = 0;
    for (;;) {
      const child = this.#lesserChild(at);
      if (child === null || !this.#isBefore(child, last, number)) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, last, number);
    return top;
  }

  #lesserChild(at: number): number | null {
    const left = 2 * at + 1;
    const right = left + 1;
    if (left >= this.#items.length) return null;
    const isRight =
      right < this.#items.length &&
      this.#isBefore(right, this.#items[left] as T, this.#numbers[left] as number);
    return isRight ? right : left;
  }

  #isBefore(at: number, item: T, number: number): boolean {
    const order = this.#compare(this.#items[at] as T, item);
    return order === 0 ? (this.#numbers[at] as number) < number : order < 0;
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#items[from] as T, this.#numbers[from] as number);
  }

  #set(at: number, item: T, number: number): void {
    this.#items[at] = item;
    this.#numbers[at] = number;
  }
}
