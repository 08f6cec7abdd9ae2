/**
 * The arrivals that are kept, in memory: the last ones, and no more bytes than a page can bear.
 *
 * Every change of anything that is shown has a number, and everything that is kept knows the number of its last
 * change. So whoever has seen all up to a number is told what changed after it, and there is no log of changes
 * to keep.
 */
import { type Arrival, bytesOf } from './arrival.ts';

const ARRIVALS_MAX = 200;
const BYTES_MAX = 16 * 1_048_576;

export interface Kept {
  readonly arrival: Arrival;
  /** The number of its last change. */
  readonly change: number;
}

export class Arrivals {
  /** By their number, oldest first. */
  readonly #kept = new Map<number, Kept>();
  readonly #changed: (kept: Kept) => void;
  #bytes = 0;
  #last = 0;
  #change = 0;

  constructor(changed: (kept: Kept) => void) {
    this.#changed = changed;
  }

  /** What has a lower number is gone. */
  get first(): number {
    return this.#kept.keys().next().value ?? this.#last + 1;
  }

  get change(): number {
    return this.#change;
  }

  /** Of something that is shown beside the arrivals. */
  countChange(): number {
    this.#change += 1;
    return this.#change;
  }

  add(arrived: Omit<Arrival, 'number'>): number {
    this.#last += 1;
    const number = this.#last;
    this.#bytes += bytesOf(arrived);
    const kept = this.#keep({ ...arrived, number });
    while (this.#kept.size > ARRIVALS_MAX || (this.#bytes > BYTES_MAX && this.#kept.size > 1)) {
      this.#drop(this.first);
    }
    // Only now: whoever is told is told what is gone as well.
    this.#changed(kept);
    return number;
  }

  /** One that is gone stays so. */
  update(number: number, changes: Pick<Partial<Arrival>, 'answered' | 'delivery'>): void {
    const kept = this.#kept.get(number);
    if (kept !== undefined) this.#changed(this.#keep({ ...kept.arrival, ...changes }));
  }

  find(number: number): Arrival | null {
    return this.#kept.get(number)?.arrival ?? null;
  }

  /** In the order of their changes: whoever is cut off in between has seen all up to the last one told. */
  changedAfter(change: number): readonly Kept[] {
    const changed = [...this.#kept.values()].filter((kept) => kept.change > change);
    return changed.sort((one, other) => one.change - other.change);
  }

  ofDelivery(deliveryId: string): readonly Arrival[] {
    return [...this.#kept.values()]
      .map(({ arrival }) => arrival)
      .filter(({ sent }) => sent?.deliveryId === deliveryId);
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(arrival: Arrival): Kept {
    const kept = { arrival, change: this.countChange() };
    this.#kept.set(arrival.number, kept);
    return kept;
  }

  #drop(number: number): void {
    const kept = this.#kept.get(number);
    if (kept === undefined) return;
    this.#bytes -= bytesOf(kept.arrival);
    this.#kept.delete(number);
  }
}
