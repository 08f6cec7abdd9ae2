/**
 * The connection pool. A connection belongs to one request while it serves it, so the pool aborts a request
 * by destroying its connection. Afterwards the connection serves the next waiter. Without a waiter it is
 * idle in the pool of its origin until the server or the idle time closes it. `origin-pool.ts` decides when
 * more connections are opened.
 *
 * Each customer has its own origin pools, and an empty one is deleted. Customers share the limits below, of
 * which each gets a share, and the limiter that spaces out handshakes (`connect-limiter.ts`).
 *
 * The caller bounds the connections in use and the requests that wait. The pool bounds the others: idle
 * ones, and draining ones, whose answer has begun but whose body has not ended. Where a customer has too
 * many, its oldest is destroyed.
 */
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { BoundedConnectionSet } from './bounded-connection-set.ts';
import { ConnectLimiter } from './connect-limiter.ts';
import { Connection, type ConnectionDependencies, connectionKeyOf, type Destination } from './connection.ts';
import type { Connector } from './connector.ts';
import { SendFailure } from './failures.ts';
import { OriginPool, type Waiter } from './origin-pool.ts';

/** One customer alone may use two thirds of these two limits. */
const IDLE_MAX = 1_500;
const DRAINING_MAX = 384;
/**
 * Connections that are idle or opening. A customer that has used up its share of these opens no more ahead
 * of time. The share of one customer alone is 500.
 */
const SPARE_MAX = 4_000;
const SPARE_SHARE = 1 / 7;

const CLOSED = new SendFailure('aborted');

export class ConnectionPool {
  readonly #dependencies: ConnectionDependencies;
  readonly #timers: Timers;
  /** The pools by customer and origin, so that no request waits behind those of another customer. */
  readonly #origins = new Map<string, OriginPool<Connection>>();
  readonly #all = new Set<Connection>();
  readonly #draining = new BoundedConnectionSet<Connection>(DRAINING_MAX);
  readonly #idle = new BoundedConnectionSet<Connection>(IDLE_MAX);
  readonly #opening = new Set<Connection>();
  /** Counts the connections that are idle or opening. */
  readonly #spare = new FairShareLimit(SPARE_MAX, SPARE_SHARE);
  #isClosed = false;

  constructor(connector: Connector, timers: Timers & Stopwatch, keepsPrivateAnswers: boolean) {
    this.#dependencies = { connector, limiter: new ConnectLimiter(timers), keepsPrivateAnswers };
    this.#timers = timers;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Connects the waiter at once, or as soon as a connection is there for it. */
  acquire({ url, customer }: Destination, waiter: Waiter<Connection>): void {
    if (this.#isClosed) {
      waiter.fail(CLOSED);
      return;
    }
    this.#dependencies.limiter.noteActive(customer);
    const origin = this.#originOf({ url, customer });
    const connection = origin.takeIdle();
    if (connection === undefined) origin.enqueue(waiter);
    else waiter.connect(connection);
  }

  /** The waiter no longer wants a connection. */
  cancel(destination: Destination, waiter: Waiter<Connection>): void {
    this.#origins.get(connectionKeyOf(destination))?.cancel(waiter);
  }

  /** Opens connections until `count` of them are idle or opening. */
  warm(destination: Destination, count: number): void {
    if (this.#isClosed) return;
    const origin = this.#originOf(destination);
    origin.warm(count);
    if (origin.isEmpty) this.#origins.delete(connectionKeyOf(destination));
  }

  /** The answer of its request has begun, but its body has not ended. */
  startDraining(connection: Connection): void {
    this.#discardEvicted(this.#draining.add(connection));
  }

  /** Its request has ended: the connection may serve another one. */
  release(connection: Connection): void {
    this.#draining.delete(connection);
    if (!this.#all.has(connection)) return;
    if (connection.isConnected) this.#origins.get(connection.key)?.release(connection);
    else this.discard(connection);
  }

  /** It broke before its request was answered. */
  discardBroken(connection: Connection): void {
    // A connection that the pool discarded before did not break by itself.
    if (this.#all.has(connection)) this.#origins.get(connection.key)?.noteBroken(connection);
    this.discard(connection);
  }

  discard(connection: Connection): void {
    void this.#discard(connection);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const origin of this.#origins.values()) origin.close(CLOSED);
    await Promise.all([...this.#all].map((connection) => this.#discard(connection)));
  }

  async #discard(connection: Connection): Promise<void> {
    this.#all.delete(connection);
    this.#draining.delete(connection);
    this.#removeIdle(connection);
    this.#removeOpening(connection);
    const origin = this.#origins.get(connection.key);
    origin?.remove(connection);
    if (origin?.isEmpty === true) this.#origins.delete(connection.key);
    await connection.destroy();
  }

  #originOf(destination: Destination): OriginPool<Connection> {
    const key = connectionKeyOf(destination);
    const known = this.#origins.get(key);
    if (known !== undefined) return known;
    // Keeps the origin only: the rest of the URL belongs to the request and must not outlive it.
    const own = { url: new URL(destination.url.origin), customer: destination.customer };
    const origin = new OriginPool<Connection>({
      timers: this.#timers,
      create: () => this.#create(own),
      onOpeningEnded: (connection) => this.#endOpening(connection),
      discard: (connection) => this.discard(connection),
      onIdle: (connection) => this.#addIdle(connection),
      onIdleTaken: (connection) => this.#removeIdle(connection),
      canWarm: () => this.#spare.canAcquire(own.customer),
    });
    this.#origins.set(key, origin);
    return origin;
  }

  #endOpening(connection: Connection): void {
    this.#removeOpening(connection);
    connection.releasePermit();
  }

  #create(destination: Destination): Connection {
    const connection = new Connection(destination, this.#dependencies, (closed) => {
      if (this.#idle.has(closed)) this.discard(closed);
    });
    this.#all.add(connection);
    this.#opening.add(connection);
    this.#spare.acquire(connection.customer, 1);
    return connection;
  }

  #addIdle(connection: Connection): void {
    this.#spare.acquire(connection.customer, 1);
    this.#discardEvicted(this.#idle.add(connection));
  }

  #discardEvicted(connection: Connection | undefined): void {
    if (connection !== undefined) this.discard(connection);
  }

  #removeIdle(connection: Connection): void {
    if (this.#idle.delete(connection)) this.#spare.release(connection.customer, 1);
  }

  #removeOpening(connection: Connection): void {
    if (this.#opening.delete(connection)) this.#spare.release(connection.customer, 1);
  }
}
