/**
 * Makes ready what is due in the next moments, in quiet time: its work is read, its letter opened, a connection
 * asked for. At its instant there is left to judge it, to claim it, to sign it and to send it.
 *
 * What was read may be old by then. The claim is conditional on the revision that was read, so whoever changed
 * the delivery in between wins, and it is read again. The gate in memory counts for more than the one read here,
 * and is kept in memory until then. The policies of a profile may be edited without a trace in the delivery: of
 * one that goes to a profile only the letter is good at its instant. Of another epoch of its slot, what was read
 * does not count at all.
 *
 * Nothing waits for this. It works in slices, small ones where something else is about to be due, and none while
 * as much is being claimed as may be; what is not ready is read when it is due. Bounded in number and bytes, and
 * in time: what is opened here holds what is secret. What is still there a second after its instant waits for its
 * endpoint: it is kept while there is room, since a burst may take seconds, and makes room within a second for what
 * may go in time. Ages are counted in rounds of a timer: the clock may be set back.
 */
import { isWaiting } from '#src/domain/delivery-life.ts';
import type { Due } from '#src/domain/due.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Work } from '#src/ports/store.ts';
import type { Gates } from './gates.ts';
import { type Letter, Letters } from './letters.ts';
import type { Territory } from './territory.ts';
import { Warmth } from './warmth.ts';
import type { EngineWorld } from './world.ts';

export const READY_MAX = 20_000;
/** Of the letters that are ready. */
const LETTER_BYTES_MAX = 32 * 1_048_576;
/** Of the ages of what is ready. */
const ROUND_MS = 1_000;
/** So old it is let go of: it was read two seconds before its instant at most. */
const AGE_ROUNDS_MAX = 10;
/** The same where there was no room for more. */
const CROWDED_AGE_ROUNDS_MAX = 4;
const SLICE_MAX = 64;
/** Where something is due soon, or being claimed. */
const SMALL_SLICE_MAX = 8;
const PAUSE_MS = 0;
/** While as much is being claimed as may be. */
const BUSY_PAUSE_MS = 20;

/** How much else there is to do. */
export type Load = 'calm' | 'some' | 'busy';

export interface Ready {
  readonly due: Due;
  /** Of its slot, in which it was read. */
  readonly epoch: number;
  readonly work: Work;
  readonly letter: Letter;
  /** In which it was made ready. */
  readonly round: number;
}

export class Ahead {
  readonly #world: EngineWorld;
  readonly #territory: Territory;
  readonly #gates: Gates;
  readonly #load: () => Load;
  readonly #letters: Letters;
  readonly #warmth: Warmth;
  readonly #wanted = new Map<DeliveryId, Due>();
  /** The oldest first. */
  readonly #ready = new Map<DeliveryId, Ready>();
  #letterBytes = 0;
  /** Whether room was wanting in this round. */
  #wasFull = false;
  #round = 0;
  #isSliceComing = false;
  #callOffSlice: () => void = () => {};
  #callOffRound: (() => void) | null = null;
  #isStopped = false;

  constructor(world: EngineWorld, territory: Territory, gates: Gates, load: () => Load) {
    this.#world = world;
    this.#territory = territory;
    this.#gates = gates;
    this.#load = load;
    this.#letters = new Letters(world);
    this.#warmth = new Warmth(world.egress, gates);
  }

  /** It will be due in the next moments. */
  want(due: Due): void {
    const ready = this.#ready.get(due.id);
    if (ready?.due.dueAt === due.dueAt || this.#isStopped || this.#wanted.size >= READY_MAX) return;
    if (ready !== undefined) this.#drop(ready);
    this.#wanted.set(due.id, due);
    if (!this.#isSliceComing) this.#sliceIn(PAUSE_MS);
  }

  /** It was changed: what was read is old. */
  forget(id: DeliveryId): void {
    this.#wanted.delete(id);
    const ready = this.#ready.get(id);
    if (ready !== undefined) this.#drop(ready);
  }

  /** It is due: hands over what is ready, with the reading of its gate, which `Gates.readEnds` ends. */
  take(due: Due): Ready | null {
    this.#wanted.delete(due.id);
    const ready = this.#ready.get(due.id);
    if (ready === undefined) return null;
    const isSame = ready.due.dueAt === due.dueAt && ready.due.endpoint === due.endpoint;
    if (!isSame || this.#territory.epochOf(due) !== ready.epoch) {
      this.#drop(ready);
      return null;
    }
    this.#remove(ready);
    return ready;
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOffSlice();
    this.#callOffRound?.();
    this.#wanted.clear();
    for (const ready of this.#ready.values()) this.#drop(ready);
  }

  #sliceIn(ms: number): void {
    this.#isSliceComing = true;
    this.#callOffSlice = this.#world.timers.after(ms, () => void this.#slice());
  }

  async #slice(): Promise<void> {
    const load = this.#load();
    const hasRoom = this.#ready.size < READY_MAX && this.#letterBytes < LETTER_BYTES_MAX;
    this.#wasFull ||= !hasRoom;
    if (load !== 'busy' && hasRoom) {
      const dues = this.#next(load === 'calm' ? SLICE_MAX : SMALL_SLICE_MAX);
      if (dues.length > 0) await this.#make(dues);
    } else this.#passOver();
    if (this.#wanted.size > 0) this.#sliceIn(load === 'busy' || !hasRoom ? BUSY_PAUSE_MS : PAUSE_MS);
    else this.#isSliceComing = false;
  }

  #next(limit: number): readonly Due[] {
    const now = this.#world.clock.now();
    const dues: Due[] = [];
    for (const [id, due] of this.#wanted) {
      if (dues.length >= limit) break;
      this.#wanted.delete(id);
      if (due.dueAt > now) dues.push(due);
    }
    return dues;
  }

  /** What is due already is read by whoever fires it. */
  #passOver(): void {
    const now = this.#world.clock.now();
    for (const [id, { dueAt }] of this.#wanted) if (dueAt <= now) this.#wanted.delete(id);
  }

  async #make(dues: readonly Due[]): Promise<void> {
    const epochs = dues.map((due) => this.#territory.epochOf(due));
    const taken = new Set<Due>();
    this.#gates.readBegins(dues);
    try {
      const works = await this.#world.store.findWork(dues);
      const found = dues.flatMap((due, index) => {
        const work = works[index] ?? null;
        const epoch = epochs[index] ?? null;
        return work === null || epoch === null || !isAsSeen(due, work) ? [] : [{ due, epoch, work }];
      });
      const letters = await this.#letters.read(found.map(({ work }) => work.delivery));
      for (const [index, read] of found.entries()) {
        const letter = letters[index];
        if (letter?.kind !== 'letter' || this.#isStopped || this.#ready.has(read.due.id)) continue;
        taken.add(read.due);
        this.#keep({ ...read, letter, round: this.#round });
      }
    } catch {
      // Whoever fires them will find out.
    }
    this.#gates.readEnds(dues.filter((due) => !taken.has(due)));
    this.#warmth.rise();
  }

  #keep(ready: Ready): void {
    this.#ready.set(ready.due.id, ready);
    this.#letterBytes += bytesOf(ready);
    this.#warmth.expect(ready);
    this.#callOffRound ??= this.#world.timers.after(ROUND_MS, () => this.#nextRound());
  }

  #drop(ready: Ready): void {
    this.#remove(ready);
    this.#gates.readEnds([ready.due]);
  }

  #remove(ready: Ready): void {
    this.#ready.delete(ready.due.id);
    this.#letterBytes -= bytesOf(ready);
  }

  #nextRound(): void {
    this.#callOffRound = null;
    this.#round++;
    const roundsMax = this.#wasFull ? CROWDED_AGE_ROUNDS_MAX : AGE_ROUNDS_MAX;
    this.#wasFull = false;
    for (const ready of this.#ready.values()) {
      if (this.#round - ready.round < roundsMax) break;
      this.#drop(ready);
    }
    if (this.#ready.size === 0) return;
    this.#callOffRound = this.#world.timers.after(ROUND_MS, () => this.#nextRound());
  }
}

function isAsSeen(due: Due, { delivery }: Work): boolean {
  const isSameTime = delivery.dueAt === due.dueAt && isWaiting(delivery.status);
  return isSameTime && endpointKeyOf(delivery.target) === due.endpoint;
}

function bytesOf({ letter }: Ready): number {
  const headers = letter.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return headers + (letter.body?.length ?? 0);
}
