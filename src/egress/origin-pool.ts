/**
 * The connections of one origin, and the requests that wait for one.
 *
 * A handshake costs both sides far more than a request, so a thousand requests that are due at once do not
 * get a thousand connections. A request that finds no idle connection gets one opened for it, as soon as
 * `connection-pacer.ts` allows. It is served by that connection or by a released one, whichever comes first.
 * A fast destination is therefore served over few connections. A destination that is slow or hangs gets more
 * and more of them, about as fast as the machine can open them. `reuse-policy.ts` says whether a released
 * connection may serve again at once.
 *
 * A request in time goes before overdue ones, also to a connection that was opened for one of them
 * (`waiter-queue.ts`).
 *
 * `pending-connections.ts` records which request each opening connection is for. A connection that opens
 * slowly delays only the request it was opened for. If it is for no request, it is discarded. If its request
 * inherited it from another, that request gets a new one.
 */
import type { Timers } from '#src/ports/system.ts';
import { ConnectionPacer } from './connection-pacer.ts';
import { type PendingConnection, PendingConnections } from './pending-connections.ts';
import { ReusePolicy } from './reuse-policy.ts';
import { WaiterQueue } from './waiter-queue.ts';

export interface Openable {
  /** Calls back once, with the error or null. */
  open(onEnd: (error: Error | null) => void): void;
}

/** A request that waits for a connection. Exactly one of the two is called, unless it is cancelled before. */
export interface Waiter<Connection> {
  /** Overdue requests wait behind the others. */
  readonly isOverdue: boolean;
  connect(connection: Connection): void;
  fail(error: Error): void;
}

export interface OriginPoolDependencies<Connection> {
  readonly timers: Timers;
  /** Creates a connection that this pool then opens. */
  create(): Connection;
  /** The connection is open, opens slowly or was abandoned. */
  onOpeningEnded(connection: Connection): void;
  /** Destroys the connection, and calls `remove`. */
  discard(connection: Connection): void;
  onIdle(connection: Connection): void;
  onIdleTaken(connection: Connection): void;
  /** Whether one more connection may be opened ahead of time. */
  canWarm(): boolean;
}

export class OriginPool<Connection extends Openable> {
  readonly #dependencies: OriginPoolDependencies<Connection>;
  readonly #pacer: ConnectionPacer;
  readonly #reuse: ReusePolicy<Connection>;
  /** Connections that are in use, idle or opening. */
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #pending: PendingConnections<Connection, Waiter<Connection>>;
  /** Waiters without a pending connection. */
  readonly #queue = new WaiterQueue<Waiter<Connection>>();
  #warmTarget = 0;

  constructor(dependencies: OriginPoolDependencies<Connection>) {
    this.#dependencies = dependencies;
    this.#pending = new PendingConnections(dependencies.timers, (connection, pending) =>
      this.#handleSlow(connection, pending),
    );
    this.#reuse = new ReusePolicy(dependencies.timers, () => this.#assignIdle());
    this.#pacer = new ConnectionPacer({
      timers: dependencies.timers,
      queuedCount: () => this.#queue.size,
      idleCount: () => this.#idle.length,
      openMore: () => this.#openMore(),
    });
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#queue.size === 0;
  }

  /** Takes the most recently used one: it is the least likely to be closed. */
  takeIdle(): Connection | undefined {
    const connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    this.#reuse.endIdle(connection);
    this.#dependencies.onIdleTaken(connection);
    return connection;
  }

  remove(connection: Connection): void {
    this.#connections.delete(connection);
    this.#reuse.endIdle(connection);
    const index = this.#idle.lastIndexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  enqueue(waiter: Waiter<Connection>): void {
    // The requests that the warm connections were for have come: a connection that is not open yet is too late.
    this.#warmTarget = 0;
    this.#queue.add(waiter);
    const unowned = this.#pending.unowned();
    if (unowned === undefined) this.#openMore();
    else this.#reassign(unowned);
  }

  /** Its pending connection may be the reason why it waited too long, so that is abandoned too. */
  cancel(waiter: Waiter<Connection>): void {
    if (this.#queue.delete(waiter)) return;
    const connection = this.#pending.connectionOf(waiter);
    if (connection === undefined) return;
    this.#abandon(connection);
    this.#openMore();
  }

  /** The connection has served. It goes to the next waiter if it may be reused at once, or becomes idle. */
  release(connection: Connection): void {
    this.#reuse.noteAnswered(connection);
    this.#offer(connection);
  }

  /** The connection broke before its request was answered. The caller removes it. */
  noteBroken(connection: Connection): void {
    this.#reuse.noteBroken(connection);
  }

  /** Opens connections until `count` of them are idle or opening. */
  warm(count: number): void {
    this.#warmTarget = Math.max(this.#warmTarget, count);
    this.#openMore();
  }

  close(error: Error): void {
    this.#warmTarget = 0;
    for (const waiter of this.#queue.takeAll()) waiter.fail(error);
    for (const connection of this.#pending.connections()) this.#failOpening(connection, error);
  }

  #offer(connection: Connection): void {
    const waiter = this.#reuse.canReuse(connection) ? this.#nextWaiter() : undefined;
    if (waiter !== undefined) {
      this.#pacer.noteReleased();
      waiter.connect(connection);
      return;
    }
    this.#idle.push(connection);
    this.#dependencies.onIdle(connection);
    this.#reuse.startIdle(connection);
  }

  /** Connections that were idle because reuse was not allowed yet go to the waiters. */
  #assignIdle(): void {
    while (this.#idle.length > 0) {
      const waiter = this.#nextWaiter();
      const connection = waiter === undefined ? undefined : this.takeIdle();
      if (waiter === undefined || connection === undefined) return;
      this.#pacer.noteReleased();
      waiter.connect(connection);
    }
  }

  /** Takes a waiter in time, or else the oldest. Its pending connection, if it has one, is reassigned. */
  #nextWaiter(): Waiter<Connection> | undefined {
    const oldest = this.#pending.oldestOwner();
    if (oldest === undefined) return this.#queue.take() ?? undefined;
    const [owner, own] = oldest;
    const first = this.#queue.takeBefore(owner);
    if (first !== null) return first;
    if (this.#pending.isSlow(own)) this.#abandon(own);
    else this.#reassign(own);
    return owner;
  }

  #openMore(): void {
    while (this.#pacer.canOpen && this.#needsConnection()) this.#open(this.#queue.take());
  }

  #needsConnection(): boolean {
    if (this.#queue.size > 0) return true;
    const ready = this.#idle.length + this.#pending.onTimeCount;
    const isWanted = ready < this.#warmTarget && this.#dependencies.canWarm();
    if (!isWanted) this.#warmTarget = 0;
    return isWanted;
  }

  #open(owner: Waiter<Connection> | null): void {
    const connection = this.#dependencies.create();
    this.#connections.add(connection);
    this.#pending.add(connection, owner);
    this.#pacer.noteStarted();
    connection.open((error) => {
      if (error === null) this.#finishOpening(connection);
      else this.#failOpening(connection, error);
    });
  }

  #finishOpening(connection: Connection): void {
    const pending = this.#endOpening(connection);
    if (pending === undefined) return;
    this.#pacer.noteOpened();
    if (pending.owner === null) this.#offer(connection);
    else this.#serve(pending.owner, connection);
  }

  /** A request in time may go before the overdue one that the connection was opened for. */
  #serve(owner: Waiter<Connection>, connection: Connection): void {
    const first = this.#queue.takeBefore(owner);
    (first ?? owner).connect(connection);
    if (first !== null) this.enqueue(owner);
  }

  #failOpening(connection: Connection, error: Error): void {
    const pending = this.#endOpening(connection);
    if (pending === undefined) return;
    this.#warmTarget = 0;
    this.#pacer.noteFailed();
    this.#dependencies.discard(connection);
    pending.owner?.fail(error);
    this.#openMore();
  }

  #handleSlow(connection: Connection, { owner, isFirstOwner }: PendingConnection<Waiter<Connection>>): void {
    if (owner !== null && isFirstOwner) {
      this.#pending.markSlow(connection);
      this.#dependencies.onOpeningEnded(connection);
      return;
    }
    // The new connection is opened before this one is abandoned, so that its owner stays in its order.
    if (owner !== null) this.#open(owner);
    this.#abandon(connection);
  }

  #abandon(connection: Connection): void {
    this.#endOpening(connection);
    this.#dependencies.discard(connection);
  }

  /** Assigns a pending connection to the next waiter that has none, or to no one. */
  #reassign(connection: Connection): void {
    this.#pending.reassign(connection, this.#queue.take());
  }

  #endOpening(connection: Connection): PendingConnection<Waiter<Connection>> | undefined {
    const pending = this.#pending.remove(connection);
    if (pending === undefined) return undefined;
    this.#dependencies.onOpeningEnded(connection);
    if (this.#pending.isEmpty && this.#queue.size === 0) this.#pacer.reset();
    return pending;
  }
}
