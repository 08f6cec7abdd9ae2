/**
 * The lanes of one origin, and the requests that wait for one.
 *
 * A handshake costs both sides far more than a request does, so a thousand requests that are due at once are
 * not worth a thousand connections. A request that finds no idle lane has one opened for it, as soon as
 * `pace.ts` allows. Whichever comes first serves it, a lane given back or its own. So a fast destination is
 * served over few connections, and one that is slow or hangs gets more and more of them, about as fast as a
 * machine can open them. `trust.ts` says whether a lane given back may serve at once.
 *
 * `openings.ts` says whom a lane is for while it is being opened. One that takes long holds up nobody but the
 * request it was opened for: it ends where it is for nobody, and who had it from another gets a new one.
 */
import type { Timers } from '#src/ports/timers.ts';
import { type Opening, Openings } from './openings.ts';
import { Pace } from './pace.ts';
import { Trust } from './trust.ts';

export interface Openable {
  /** Calls back once, with what went wrong if anything did. */
  open(onEnd: (error: Error | null) => void): void;
}

/** A request that waits for a lane. Exactly one of the two is called, unless it leaves before. */
export interface Passenger<Lane> {
  board(lane: Lane): void;
  strand(error: Error): void;
}

export interface OriginDependencies<Lane> {
  readonly timers: Timers;
  /** A lane about to be opened. */
  create(): Lane;
  /** It is open, late or given up. */
  opened(lane: Lane): void;
  /** Comes back as `remove`. */
  drop(lane: Lane): void;
  keepIdle(lane: Lane): void;
  /** It is idle no longer. */
  useIdle(lane: Lane): void;
  /** Whether one more may be opened ahead of time. */
  mayOpenAhead(): boolean;
}

export class Origin<Lane extends Openable> {
  readonly #dependencies: OriginDependencies<Lane>;
  readonly #pace: Pace;
  readonly #trust: Trust<Lane>;
  /** In use, idle or being opened. */
  readonly #lanes = new Set<Lane>();
  readonly #idle: Lane[] = [];
  readonly #openings: Openings<Lane, Passenger<Lane>>;
  /** In the order they came, and after those who have a lane being opened. */
  readonly #queue = new Set<Passenger<Lane>>();
  #wantedAhead = 0;

  constructor(dependencies: OriginDependencies<Lane>) {
    this.#dependencies = dependencies;
    this.#openings = new Openings(dependencies.timers, (lane, opening) => this.#beLate(lane, opening));
    this.#trust = new Trust(dependencies.timers, () => this.#passIdle());
    this.#pace = new Pace({
      timers: dependencies.timers,
      queued: () => this.#queue.size,
      idle: () => this.#idle.length,
      openMore: () => this.#openMore(),
    });
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0 && this.#queue.size === 0;
  }

  /** The lane that was idle the shortest is the least likely to be closed. */
  takeIdle(): Lane | undefined {
    const lane = this.#idle.pop();
    if (lane === undefined) return undefined;
    this.#trust.leaves(lane);
    this.#dependencies.useIdle(lane);
    return lane;
  }

  remove(lane: Lane): void {
    this.#lanes.delete(lane);
    this.#trust.leaves(lane);
    const index = this.#idle.lastIndexOf(lane);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  wait(passenger: Passenger<Lane>): void {
    // What was to be ready for it by now is late.
    this.#wantedAhead = 0;
    this.#queue.add(passenger);
    const unowned = this.#openings.unowned();
    if (unowned === undefined) this.#openMore();
    else this.#passOn(unowned);
  }

  /** It no longer wants a lane. What was opened for it may be what held it up, and ends with it. */
  leave(passenger: Passenger<Lane>): void {
    if (this.#queue.delete(passenger)) return;
    const lane = this.#openings.laneOf(passenger);
    if (lane === undefined) return;
    this.#giveUp(lane);
    this.#openMore();
  }

  /** The lane has served and is free: for who has waited longest, if anybody does and it is to be trusted. */
  free(lane: Lane): void {
    this.#trust.answered(lane);
    this.#offer(lane);
  }

  /** The lane ended before its request was answered. Its removal is for the caller to see to. */
  broke(lane: Lane): void {
    this.#trust.broke(lane);
  }

  /** Sees to it that so many are idle or being opened. */
  openAhead(lanes: number): void {
    this.#wantedAhead = Math.max(this.#wantedAhead, lanes);
    this.#openMore();
  }

  close(error: Error): void {
    this.#wantedAhead = 0;
    const queued = [...this.#queue];
    this.#queue.clear();
    for (const passenger of queued) passenger.strand(error);
    for (const lane of this.#openings.lanes()) this.#fail(lane, error);
  }

  #offer(lane: Lane): void {
    const passenger = this.#trust.covers(lane) ? this.#next() : undefined;
    if (passenger !== undefined) {
      this.#pace.free();
      passenger.board(lane);
      return;
    }
    this.#idle.push(lane);
    this.#dependencies.keepIdle(lane);
    this.#trust.rests(lane);
  }

  /** Those that were idle for want of trust are for those who wait. */
  #passIdle(): void {
    while (this.#idle.length > 0) {
      const passenger = this.#next();
      const lane = passenger === undefined ? undefined : this.takeIdle();
      if (passenger === undefined || lane === undefined) return;
      this.#pace.free();
      passenger.board(lane);
    }
  }

  /** Who has waited longest. What is being opened for it, if anything is, passes to another. */
  #next(): Passenger<Lane> | undefined {
    const first = this.#openings.first();
    if (first === undefined) return this.#dequeue() ?? undefined;
    const [owner, own] = first;
    if (this.#openings.isLate(own)) this.#giveUp(own);
    else this.#passOn(own);
    return owner;
  }

  #dequeue(): Passenger<Lane> | null {
    const [next = null] = this.#queue;
    if (next !== null) this.#queue.delete(next);
    return next;
  }

  #openMore(): void {
    while (this.#pace.mayOpen && this.#isOneWanted()) this.#open(this.#dequeue());
  }

  #isOneWanted(): boolean {
    if (this.#queue.size > 0) return true;
    const ready = this.#idle.length + this.#openings.inTime;
    const isWanted = ready < this.#wantedAhead && this.#dependencies.mayOpenAhead();
    if (!isWanted) this.#wantedAhead = 0;
    return isWanted;
  }

  #open(owner: Passenger<Lane> | null): void {
    const lane = this.#dependencies.create();
    this.#lanes.add(lane);
    this.#openings.begin(lane, owner);
    this.#pace.begin();
    lane.open((error) => {
      if (error === null) this.#succeed(lane);
      else this.#fail(lane, error);
    });
  }

  #succeed(lane: Lane): void {
    const opening = this.#endOpening(lane);
    if (opening === undefined) return;
    this.#pace.succeed();
    if (opening.owner === null) this.#offer(lane);
    else opening.owner.board(lane);
  }

  #fail(lane: Lane, error: Error): void {
    const opening = this.#endOpening(lane);
    if (opening === undefined) return;
    this.#wantedAhead = 0;
    this.#pace.fail();
    this.#dependencies.drop(lane);
    opening.owner?.strand(error);
    this.#openMore();
  }

  #beLate(lane: Lane, { owner, isOwn }: Opening<Passenger<Lane>>): void {
    if (owner !== null && isOwn) {
      this.#openings.keepLate(lane);
      this.#dependencies.opened(lane);
      return;
    }
    // The new one takes its place first: its owner keeps its turn.
    if (owner !== null) this.#open(owner);
    this.#giveUp(lane);
  }

  #giveUp(lane: Lane): void {
    this.#endOpening(lane);
    this.#dependencies.drop(lane);
  }

  /** The lane being opened is for the next who has none, if there is one. */
  #passOn(lane: Lane): void {
    this.#openings.passOn(lane, this.#dequeue());
  }

  #endOpening(lane: Lane): Opening<Passenger<Lane>> | undefined {
    const opening = this.#openings.end(lane);
    if (opening === undefined) return undefined;
    this.#dependencies.opened(lane);
    if (this.#openings.isEmpty && this.#queue.size === 0) this.#pace.rest();
    return opening;
  }
}
