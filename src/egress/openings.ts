/**
 * The lanes of one origin that are being opened, and whom each is for.
 *
 * A lane being opened belongs to the request it is opened for, and fails for it and with it. Once that
 * request has been served by another lane, it passes to the next one that has none, or is for nobody. One
 * that takes long may never open: it is late, and then for nobody but the request it was opened for.
 */
import type { Timers } from '#src/ports/timers.ts';

/** A lane that is not open by then is late. */
export const LATE_MS = 1_000;

export interface Opening<Passenger> {
  /** Nobody, where it is opened ahead of time or who it was for is served. */
  readonly owner: Passenger | null;
  /** Whether it was opened for its owner. */
  readonly isOwn: boolean;
  readonly callOff: () => void;
}

export class Openings<Lane, Passenger> {
  readonly #timers: Timers;
  readonly #onLate: (lane: Lane, opening: Opening<Passenger>) => void;
  readonly #all = new Map<Lane, Opening<Passenger>>();
  readonly #unowned = new Set<Lane>();
  readonly #late = new Set<Lane>();
  /** In the order they came. */
  readonly #owners = new Map<Passenger, Lane>();

  constructor(timers: Timers, onLate: (lane: Lane, opening: Opening<Passenger>) => void) {
    this.#timers = timers;
    this.#onLate = onLate;
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** How many may soon be open. */
  get inTime(): number {
    return this.#all.size - this.#late.size;
  }

  lanes(): Iterable<Lane> {
    return this.#all.keys();
  }

  unowned(): Lane | undefined {
    const [lane] = this.#unowned;
    return lane;
  }

  /** Who has waited longest, and its lane. */
  first(): readonly [Passenger, Lane] | undefined {
    const [first] = this.#owners;
    return first;
  }

  laneOf(owner: Passenger): Lane | undefined {
    return this.#owners.get(owner);
  }

  begin(lane: Lane, owner: Passenger | null): void {
    const callOff = this.#timers.after(LATE_MS, () => {
      const opening = this.#all.get(lane);
      if (opening !== undefined) this.#onLate(lane, opening);
    });
    this.#assign(lane, { owner, isOwn: true, callOff });
  }

  isLate(lane: Lane): boolean {
    return this.#late.has(lane);
  }

  keepLate(lane: Lane): void {
    this.#late.add(lane);
  }

  passOn(lane: Lane, owner: Passenger | null): void {
    const opening = this.#all.get(lane);
    if (opening === undefined) return;
    this.#disown(lane, opening);
    this.#assign(lane, { owner, isOwn: false, callOff: opening.callOff });
  }

  /** What it was; undefined where it was no longer being opened. */
  end(lane: Lane): Opening<Passenger> | undefined {
    const opening = this.#all.get(lane);
    if (opening === undefined) return undefined;
    opening.callOff();
    this.#all.delete(lane);
    this.#late.delete(lane);
    this.#disown(lane, opening);
    return opening;
  }

  #assign(lane: Lane, opening: Opening<Passenger>): void {
    this.#all.set(lane, opening);
    if (opening.owner === null) this.#unowned.add(lane);
    else this.#owners.set(opening.owner, lane);
  }

  /** Its owner may have another by now. */
  #disown(lane: Lane, { owner }: Opening<Passenger>): void {
    this.#unowned.delete(lane);
    if (owner !== null && this.#owners.get(owner) === lane) this.#owners.delete(owner);
  }
}
