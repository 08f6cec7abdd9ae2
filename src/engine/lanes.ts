/**
 * What is due and waits for its turn: a lane for each endpoint, taken from in rounds, so that one with much
 * to do or slow to answer never holds up another.
 *
 * Slots are the requests that may be under way. How many a lane may hold depends on how many are free: a
 * fixed part of them, at least one. A single busy endpoint gets about a hundred; a hundred hanging ones get
 * some twenty each and still leave hundreds for everyone else. Places to wait are shared out in the same
 * way; what finds none stays in the store, and is found again by looking back.
 *
 * In a lane, what came in time and what is overdue take turns. Overdue work goes by its deadline, what has
 * none comes last.
 */
import type { Due } from '#src/domain/due.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { Heap } from './heap.ts';

export const SLOTS_MAX = 2_048;
const SLOT_SHARE = 1 / 16;
/** Each for work in time and for overdue work. */
export const WAITING_MAX = 10_000;
const WAITING_SHARE = 2;

export type Punctuality = 'in_time' | 'overdue';

interface Lane {
  readonly key: string;
  readonly in_time: Heap<Due>;
  readonly overdue: Heap<Due>;
  /** Whose turn it is next. */
  turn: Punctuality;
  underWay: number;
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with something waiting, the one served longest ago first. */
  readonly #ready = new Map<string, Lane>();
  readonly #known = new Set<DeliveryId>();
  readonly #waiting = { in_time: 0, overdue: 0 };
  #underWay = 0;

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting.in_time + this.#waiting.overdue;
  }

  get overdue(): number {
    return this.#waiting.overdue;
  }

  /** Whether anything overdue could still be taken in. */
  get hasRoom(): boolean {
    return this.#waiting.overdue < WAITING_MAX;
  }

  /** False when it is known already or its lane has no room. */
  add(due: Due, punctuality: Punctuality): boolean {
    if (this.#known.has(due.id)) return false;
    const key = laneKey(due);
    const lane = this.#lanes.get(key) ?? newLane(key);
    const room = WAITING_MAX - this.#waiting[punctuality];
    if (lane[punctuality].size >= room * WAITING_SHARE) return false;
    lane[punctuality].push(due);
    this.#waiting[punctuality]++;
    this.#known.add(due.id);
    this.#lanes.set(key, lane);
    this.#ready.set(key, lane);
    return true;
  }

  /**
   * Takes up to `limit` that may go now, `overdueMax` of them overdue, in rounds over the lanes; each holds a
   * slot until it is released.
   */
  take(limit: number, overdueMax = limit): readonly Due[] {
    const taken: Due[] = [];
    let overdueLeft = overdueMax;
    for (let round = [...this.#ready.values()]; round.length > 0; ) {
      const again: Lane[] = [];
      for (const lane of round) {
        if (taken.length >= limit || this.#underWay >= SLOTS_MAX) return taken;
        if (!this.#mayTake(lane)) continue;
        const from = turnOf(lane, overdueLeft > 0);
        const due = from === null ? undefined : this.#next(lane, from);
        if (due === undefined) continue;
        if (from === 'overdue') overdueLeft--;
        taken.push(due);
        if (this.#ready.has(lane.key)) again.push(lane);
      }
      round = again;
    }
    return taken;
  }

  #mayTake(lane: Lane): boolean {
    return lane.underWay < Math.max((SLOTS_MAX - this.#underWay) * SLOT_SHARE, 1);
  }

  #next(lane: Lane, from: Punctuality): Due | undefined {
    const due = lane[from].pop();
    if (due === undefined) return undefined;
    lane.turn = from === 'in_time' ? 'overdue' : 'in_time';
    lane.underWay++;
    this.#underWay++;
    this.#waiting[from]--;
    this.#ready.delete(lane.key);
    if (lane.in_time.size + lane.overdue.size > 0) this.#ready.set(lane.key, lane);
    return due;
  }

  /** It is claimed, or no longer to be: the store knows, and looking finds it only if it waits again. */
  forget(due: Due): void {
    this.#known.delete(due.id);
  }

  /** Gives a slot back. */
  release(due: Due): void {
    this.forget(due);
    const key = laneKey(due);
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    lane.underWay--;
    this.#underWay--;
    if (lane.underWay === 0 && !this.#ready.has(key)) this.#lanes.delete(key);
  }
}

/** Whose turn it is among those that have something and may go. */
function turnOf(lane: Lane, isOverdueAllowed: boolean): Punctuality | null {
  const hasInTime = lane.in_time.size > 0;
  const hasOverdue = isOverdueAllowed && lane.overdue.size > 0;
  if (hasInTime && hasOverdue) return lane.turn;
  if (hasInTime) return 'in_time';
  return hasOverdue ? 'overdue' : null;
}

function laneKey({ partition, endpoint }: Due): string {
  return `${partition}/${endpoint}`;
}

function newLane(key: string): Lane {
  return {
    key,
    in_time: new Heap((a, b) => a.dueAt - b.dueAt),
    overdue: new Heap(byDeadline),
    turn: 'in_time',
    underWay: 0,
  };
}

function byDeadline(a: Due, b: Due): number {
  const first = a.deadline ?? Number.POSITIVE_INFINITY;
  const second = b.deadline ?? Number.POSITIVE_INFINITY;
  return first === second ? a.dueAt - b.dueAt : first - second;
}
