/**
 * Connections kept for the next request. While a lane serves a request it belongs to that request alone, so
 * that breaking off the request is to drop its lane; afterwards it serves who waits for one, or is idle under
 * its origin until the other side or the idle time closes it. `origin.ts` says when more are opened.
 *
 * Each customer has origins of its own, and one without lanes leaves nothing behind. Customers share the bounds below,
 * of which each has a part, and the turns in which connections are opened (`opening-turns.ts`).
 *
 * Lanes in use and requests that wait are bounded by the caller. Lanes it no longer knows of are bounded
 * here, the oldest of a customer going first: the ones that are idle, and the ones that are answered but whose body has
 * not ended.
 */
import { CustomerShares } from '#src/domain/customer-shares.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import type { Connector } from './connector.ts';
import { failed } from './failures.ts';
import { KeptLanes } from './kept-lanes.ts';
import { connectionKeyOf, type Destination, Lane, type LaneDependencies } from './lane.ts';
import { OpeningTurns } from './opening-turns.ts';
import { Origin, type Passenger } from './origin.ts';

/** A customer alone keeps two thirds of these. */
const IDLE_MAX = 1_500;
const FINISHING_MAX = 384;
/** Lanes that are idle or being opened. Beyond a customer's part of these none is opened ahead of time: 500, alone. */
const SPARE_MAX = 4_000;
const SPARE_SHARE = 1 / 7;

const CLOSED = failed('broken off');

export class Lanes {
  readonly #dependencies: LaneDependencies;
  readonly #timers: Timers;
  /** By customer: nobody waits behind the requests of another. */
  readonly #origins = new Map<string, Origin<Lane>>();
  readonly #all = new Set<Lane>();
  readonly #finishing = new KeptLanes<Lane>(FINISHING_MAX);
  readonly #idle = new KeptLanes<Lane>(IDLE_MAX);
  readonly #opening = new Set<Lane>();
  /** Idle or being opened. */
  readonly #spare = new CustomerShares(SPARE_MAX, SPARE_SHARE);
  #isClosed = false;

  constructor(connector: Connector, timers: Timers & Stopwatch) {
    this.#dependencies = { connector, turns: new OpeningTurns(timers) };
    this.#timers = timers;
  }

  get size(): number {
    return this.#all.size;
  }

  /** At once, or when a lane is there for it. */
  take({ url, customer }: Destination, passenger: Passenger<Lane>): void {
    if (this.#isClosed) {
      passenger.strand(CLOSED);
      return;
    }
    this.#dependencies.turns.notice(customer);
    const origin = this.#originOf({ url, customer });
    const lane = origin.takeIdle();
    if (lane === undefined) origin.wait(passenger);
    else passenger.board(lane);
  }

  /** It no longer waits. */
  leave(destination: Destination, passenger: Passenger<Lane>): void {
    this.#origins.get(connectionKeyOf(destination))?.leave(passenger);
  }

  /** Sees to it that so many lanes are idle or being opened. */
  openAhead(destination: Destination, lanes: number): void {
    if (this.#isClosed) return;
    const origin = this.#originOf(destination);
    origin.openAhead(lanes);
    if (origin.isEmpty) this.#origins.delete(connectionKeyOf(destination));
  }

  /** The request is answered, but its lane is not free yet. */
  finishing(lane: Lane): void {
    this.#dropInstead(this.#finishing.add(lane));
  }

  /** The request is done, and its lane is free for another. */
  giveBack(lane: Lane): void {
    this.#finishing.delete(lane);
    if (!this.#all.has(lane)) return;
    if (lane.isConnected) this.#origins.get(lane.place)?.free(lane);
    else this.drop(lane);
  }

  /** It ended before its request was answered. */
  broke(lane: Lane): void {
    // Where it was dropped before, that is what ended it.
    if (this.#all.has(lane)) this.#origins.get(lane.place)?.broke(lane);
    this.drop(lane);
  }

  drop(lane: Lane): void {
    void this.#drop(lane);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const origin of this.#origins.values()) origin.close(CLOSED);
    await Promise.all([...this.#all].map((lane) => this.#drop(lane)));
  }

  async #drop(lane: Lane): Promise<void> {
    this.#all.delete(lane);
    this.#finishing.delete(lane);
    this.#isIdleNoMore(lane);
    this.#isOpeningNoMore(lane);
    const origin = this.#origins.get(lane.place);
    origin?.remove(lane);
    if (origin?.isEmpty === true) this.#origins.delete(lane.place);
    await lane.destroy();
  }

  #originOf(destination: Destination): Origin<Lane> {
    const place = connectionKeyOf(destination);
    const known = this.#origins.get(place);
    if (known !== undefined) return known;
    // The rest of the URL is the request's, and ends with it.
    const own = { url: new URL(destination.url.origin), customer: destination.customer };
    const origin = new Origin<Lane>({
      timers: this.#timers,
      create: () => this.#create(own),
      opened: (lane) => this.#opened(lane),
      drop: (lane) => this.drop(lane),
      keepIdle: (lane) => this.#keepIdle(lane),
      useIdle: (lane) => this.#isIdleNoMore(lane),
      mayOpenAhead: () => this.#spare.hasRoom(own.customer),
    });
    this.#origins.set(place, origin);
    return origin;
  }

  #opened(lane: Lane): void {
    this.#isOpeningNoMore(lane);
    lane.beLate();
  }

  #create(destination: Destination): Lane {
    const lane = new Lane(destination, this.#dependencies, (closed) => {
      if (this.#idle.has(closed)) this.drop(closed);
    });
    this.#all.add(lane);
    this.#opening.add(lane);
    this.#spare.hold(lane.customer, 1);
    return lane;
  }

  #keepIdle(lane: Lane): void {
    this.#spare.hold(lane.customer, 1);
    this.#dropInstead(this.#idle.add(lane));
  }

  /** It went to make room, and is known to nobody here any more. */
  #dropInstead(lane: Lane | undefined): void {
    if (lane !== undefined) this.drop(lane);
  }

  #isIdleNoMore(lane: Lane): void {
    if (this.#idle.delete(lane)) this.#spare.release(lane.customer, 1);
  }

  #isOpeningNoMore(lane: Lane): void {
    if (this.#opening.delete(lane)) this.#spare.release(lane.customer, 1);
  }
}
