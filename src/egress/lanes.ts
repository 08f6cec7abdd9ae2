/**
 * Connections kept for the next request. While a lane serves a request it belongs to that request alone, so
 * that breaking off the request is to drop its lane; afterwards it serves who waits for one, or is idle under
 * its origin until the other side or the idle time closes it. `origin.ts` says when more are opened.
 *
 * Each customer has origins of its own. They share nothing but the bounds below and the turns in which connections are
 * opened (`opening-turns.ts`), and one without lanes leaves nothing behind.
 *
 * Lanes in use and requests that wait are bounded by the caller. Lanes it no longer knows of are bounded
 * here, the oldest going first: the ones that are idle, and the ones that are answered but whose body has not
 * ended.
 */
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import type { Connector } from './connector.ts';
import { failed } from './failures.ts';
import { type Destination, Lane, type LaneWorld, placeOf } from './lane.ts';
import { OpeningTurns } from './opening-turns.ts';
import { Origin, type Passenger } from './origin.ts';

const IDLE_MAX = 1_000;
const FINISHING_MAX = 256;
/** Idle or being opened, of all origins: what is opened ahead of time costs nobody an idle lane. */
const AHEAD_MAX = 500;

const CLOSED = failed('broken off');

export class Lanes {
  readonly #world: LaneWorld;
  readonly #timers: Timers;
  /** By customer: nobody waits behind the requests of another. */
  readonly #origins = new Map<string, Origin<Lane>>();
  readonly #all = new Set<Lane>();
  readonly #finishing = new Set<Lane>();
  readonly #idle = new Set<Lane>();
  readonly #opening = new Set<Lane>();
  #isClosed = false;

  constructor(connector: Connector, timers: Timers & Stopwatch) {
    this.#world = { connector, turns: new OpeningTurns(timers) };
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
    this.#world.turns.notice(customer);
    const origin = this.#originOf({ url, customer });
    const lane = origin.takeIdle();
    if (lane === undefined) origin.wait(passenger);
    else passenger.board(lane);
  }

  /** It no longer waits. */
  leave(destination: Destination, passenger: Passenger<Lane>): void {
    this.#origins.get(placeOf(destination))?.leave(passenger);
  }

  /** Sees to it that so many lanes are idle or being opened. */
  openAhead(destination: Destination, lanes: number): void {
    if (this.#isClosed) return;
    const origin = this.#originOf(destination);
    origin.openAhead(lanes);
    if (origin.isEmpty) this.#origins.delete(placeOf(destination));
  }

  /** The request is answered, but its lane is not free yet. */
  finishing(lane: Lane): void {
    this.#finishing.add(lane);
    this.#dropOldest(this.#finishing, FINISHING_MAX);
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
    this.#idle.delete(lane);
    const origin = this.#origins.get(lane.place);
    origin?.remove(lane);
    if (origin?.isEmpty === true) this.#origins.delete(lane.place);
    await lane.destroy();
  }

  #originOf(destination: Destination): Origin<Lane> {
    const place = placeOf(destination);
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
      useIdle: (lane) => this.#idle.delete(lane),
      mayOpenAhead: () => this.#idle.size + this.#opening.size < AHEAD_MAX,
    });
    this.#origins.set(place, origin);
    return origin;
  }

  #opened(lane: Lane): void {
    this.#opening.delete(lane);
    lane.beLate();
  }

  #create(destination: Destination): Lane {
    const lane = new Lane(destination, this.#world, (closed) => {
      if (this.#idle.has(closed)) this.drop(closed);
    });
    this.#all.add(lane);
    this.#opening.add(lane);
    return lane;
  }

  #keepIdle(lane: Lane): void {
    this.#idle.add(lane);
    this.#dropOldest(this.#idle, IDLE_MAX);
  }

  #dropOldest(lanes: ReadonlySet<Lane>, max: number): void {
    const [oldest] = lanes;
    if (lanes.size > max && oldest !== undefined) this.drop(oldest);
  }
}
