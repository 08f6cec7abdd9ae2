/**
 * What is due and waits for its turn: a lane for each endpoint, taken from in rounds, so that one with much
 * to do or slow to answer never holds up another.
 *
 * Slots are the requests that may be under way. They are shared out by what is free, on three levels: all of
 * one customer, all towards one host, one endpoint. Each may take a part of what the level above has left, so
 * that something is always left for the others: a hundred hanging endpoints, of one host or of many, or one
 * host with thousands of paths, take some of the slots and never all of them.
 *
 * Places to wait are shared out in the same way; what finds none stays in the store, and is found again by
 * looking back.
 *
 * What came in time and what is overdue are taken separately. Overdue work is shared out a part of the slots, as
 * if there were no others, and so leaves some on every level to what comes due meanwhile. For the last slot of a
 * lane both take turns: neither waits for the other to have nothing left to do. Overdue work goes by its deadline,
 * what has none comes last.
 */
import { type Due, placeOf } from '#src/domain/due.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { Heap } from './heap.ts';

export const SLOTS_MAX = 2_048;
/** Of these, for overdue work. Towards one host that is about what can be claimed and sent at one time. */
const OVERDUE_SLOTS_MAX = 1_024;
/** Each for work in time and for overdue work. */
export const WAITING_MAX = 50_000;

/** What a customer may take of what is free, a host of what its customer has left, an endpoint of its host's. */
const CUSTOMER_SHARE = { slots: 2, waiting: 4 };
const HOST_SHARE = { slots: 1 / 2, waiting: 1 / 2 };
const ENDPOINT_SHARE = { slots: 1 / 16, waiting: 1 };

/** So few left of a lane's slots, and both kinds take turns: taking one costs the lane a little more than one. */
const LAST_SLOTS = 2;

export type Punctuality = 'in_time' | 'overdue';

type Counts = Record<Punctuality, number>;

/** All that share an endpoint, a host or a customer. */
interface Crowd {
  readonly key: string;
  readonly waiting: Counts;
  underWay: number;
  /** Of those under way. */
  overdueUnderWay: number;
}

interface Lane {
  readonly key: string;
  readonly endpoint: Crowd;
  readonly host: Crowd;
  readonly customer: Crowd;
  readonly in_time: Heap<Due>;
  readonly overdue: Heap<Due>;
  /** Whose turn it is where one slot is left. */
  turn: Punctuality;
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #crowds = new Map<string, Crowd>();
  /** Lanes with something waiting, the one served longest ago first. */
  readonly #ready: Readonly<Record<Punctuality, Map<string, Lane>>> = {
    in_time: new Map(),
    overdue: new Map(),
  };
  /** The lane it waits in; null once it was taken from it. */
  readonly #known = new Map<DeliveryId, Lane | null>();
  readonly #waiting: Counts = { in_time: 0, overdue: 0 };
  #underWay = 0;
  /** Of those under way. */
  readonly #overdueUnderWay = new Set<Due>();

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

  /**
   * False when it is known already or its lane has no room. One that was sent elsewhere while it waited changes
   * lanes; what it leaves behind is passed over.
   */
  add(due: Due, punctuality: Punctuality): boolean {
    const key = placeOf(due);
    const known = this.#known.get(due.id);
    if (known === null || known?.key === key) return false;
    const lane = this.#lanes.get(key) ?? this.#newLane(key, due);
    if (!this.#mayWait(lane, punctuality)) return false;
    lane[punctuality].push(due);
    for (const crowd of crowdsOf(lane)) {
      crowd.waiting[punctuality]++;
      this.#crowds.set(crowd.key, crowd);
    }
    this.#waiting[punctuality]++;
    this.#known.set(due.id, lane);
    this.#lanes.set(key, lane);
    this.#ready[punctuality].set(key, lane);
    return true;
  }

  #newLane(key: string, { partition, origin }: Due): Lane {
    return {
      key,
      endpoint: this.#crowd(key),
      host: this.#crowd(`${partition} ${origin}`),
      customer: this.#crowd(`${partition}`),
      in_time: new Heap((a, b) => a.dueAt - b.dueAt),
      overdue: new Heap(byDeadline),
      turn: 'in_time',
    };
  }

  #crowd(key: string): Crowd {
    return (
      this.#crowds.get(key) ?? {
        key,
        waiting: { in_time: 0, overdue: 0 },
        underWay: 0,
        overdueUnderWay: 0,
      }
    );
  }

  #mayWait({ endpoint, host, customer }: Lane, punctuality: Punctuality): boolean {
    const room = WAITING_MAX - this.#waiting[punctuality];
    const customerLeft = room * CUSTOMER_SHARE.waiting - customer.waiting[punctuality];
    const hostLeft = customerLeft * HOST_SHARE.waiting - host.waiting[punctuality];
    return endpoint.waiting[punctuality] < hostLeft * ENDPOINT_SHARE.waiting;
  }

  /** Takes up to `limit` that may go now, in rounds over the lanes; each holds a slot until it is released. */
  take(punctuality: Punctuality, limit: number): readonly Due[] {
    const taken: Due[] = [];
    // Who is served goes to the end, and is met again there.
    for (const lane of this.#ready[punctuality].values()) {
      if (taken.length >= limit || this.#underWay >= SLOTS_MAX) break;
      if (!this.#mayTake(lane, punctuality)) continue;
      const due = this.#next(lane, punctuality);
      if (due !== undefined) taken.push(due);
    }
    return taken;
  }

  #mayTake(lane: Lane, punctuality: Punctuality): boolean {
    const left = this.#slotsLeft(lane);
    if (left <= 0) return false;
    if (punctuality === 'overdue' && this.#overdueSlotsLeft(lane) <= 0) return false;
    if (left > LAST_SLOTS || lane.turn === punctuality) return true;
    return lane[lane.turn].size === 0 || (lane.turn === 'overdue' && this.#overdueSlotsLeft(lane) <= 0);
  }

  #slotsLeft({ endpoint, host, customer }: Lane): number {
    const free = SLOTS_MAX - this.#underWay;
    return slotsLeft(free, customer.underWay, host.underWay, endpoint.underWay);
  }

  #overdueSlotsLeft({ endpoint, host, customer }: Lane): number {
    const free = OVERDUE_SLOTS_MAX - this.#overdueUnderWay.size;
    return slotsLeft(free, customer.overdueUnderWay, host.overdueUnderWay, endpoint.overdueUnderWay);
  }

  #next(lane: Lane, from: Punctuality): Due | undefined {
    const due = this.#pop(lane, from);
    this.#ready[from].delete(lane.key);
    if (lane[from].size > 0) this.#ready[from].set(lane.key, lane);
    if (due === undefined) {
      this.#tidy(lane);
      return undefined;
    }
    lane.turn = from === 'in_time' ? 'overdue' : 'in_time';
    for (const crowd of crowdsOf(lane)) {
      crowd.underWay++;
      if (from === 'overdue') crowd.overdueUnderWay++;
    }
    this.#underWay++;
    if (from === 'overdue') this.#overdueUnderWay.add(due);
    this.#known.set(due.id, null);
    return due;
  }

  /** The first that waits here still. */
  #pop(lane: Lane, from: Punctuality): Due | undefined {
    for (let due = lane[from].pop(); due !== undefined; due = lane[from].pop()) {
      for (const crowd of crowdsOf(lane)) crowd.waiting[from]--;
      this.#waiting[from]--;
      if (this.#known.get(due.id) === lane) return due;
    }
    return undefined;
  }

  /** It is claimed, or no longer to be: the store knows, and looking finds it only if it waits again. */
  forget(due: Due): void {
    this.#known.delete(due.id);
  }

  /** Gives a slot back. */
  release(due: Due): void {
    this.forget(due);
    const key = placeOf(due);
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    const wasOverdue = this.#overdueUnderWay.delete(due);
    for (const crowd of crowdsOf(lane)) {
      crowd.underWay--;
      if (wasOverdue) crowd.overdueUnderWay--;
    }
    this.#underWay--;
    this.#tidy(lane);
  }

  #tidy(lane: Lane): void {
    for (const crowd of crowdsOf(lane)) if (isEmpty(crowd)) this.#crowds.delete(crowd.key);
    if (!this.#crowds.has(lane.key)) this.#lanes.delete(lane.key);
  }
}

/** What a lane may take of the slots that are free, where so many are under way. */
function slotsLeft(free: number, customer: number, host: number, endpoint: number): number {
  const customerLeft = free * CUSTOMER_SHARE.slots - customer;
  const hostLeft = customerLeft * HOST_SHARE.slots - host;
  return hostLeft <= 0 ? 0 : Math.max(hostLeft * ENDPOINT_SHARE.slots, 1) - endpoint;
}

function crowdsOf({ endpoint, host, customer }: Lane): readonly Crowd[] {
  return [endpoint, host, customer];
}

function isEmpty({ underWay, waiting }: Crowd): boolean {
  return underWay + waiting.in_time + waiting.overdue === 0;
}

function byDeadline(a: Due, b: Due): number {
  const first = a.deadline ?? Number.POSITIVE_INFINITY;
  const second = b.deadline ?? Number.POSITIVE_INFINITY;
  return first === second ? a.dueAt - b.dueAt : first - second;
}
