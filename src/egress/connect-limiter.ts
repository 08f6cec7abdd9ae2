/**
 * Limits how many connections are opened at once. A handshake takes a millisecond or two of the thread that
 * all customers share, so only a few start in one tick of the event loop, and other work runs in between.
 * Permits are granted round robin over customers, and over the hosts of each customer: a customer that wants
 * hundreds of connections delays another by only a few. Many hosts may accept their connections at the same
 * moment, so the TLS handshakes are spaced out a second time.
 *
 * A host that accepts many connections and then answers all their handshakes at once causes the same burst
 * of work. So the number of connections that one host is opening is limited too. A host that does not answer
 * uses up only its own limit.
 */
import type { Partition } from '#src/domain/project.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { type CustomerActivity, customerActivity } from '#src/ports/customer-activity.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';

/** Connections that start in one tick of the event loop while several customers are active. */
export const STARTED_PER_TICK_MAX = 2;
/** The same limit while only one customer is active. */
export const STARTED_PER_TICK_MAX_ALONE = 16;
/** The pause between two ticks while several customers are active. It leaves half of the time to other work. */
export const PAUSE_MS = 4;
/** Connections that one customer is opening to one host while several customers are active. */
export const OPENING_PER_HOST_MAX = 16;
/** The same limit while only one customer is active. */
export const OPENING_PER_HOST_MAX_ALONE = 64;

interface Host {
  readonly key: string;
  readonly customer: Partition;
  /** Calls that grant a permit, in the order in which they were asked for. */
  readonly waiting: Set<() => void>;
  /** The same calls, for permits that are granted and not released. */
  readonly opening: Set<() => void>;
}

export interface ConnectPermit {
  /** Resolves when the connection may be opened, or when the permit was released before that. */
  readonly granted: Promise<void>;
  /** The connection opens slowly: it no longer counts, because waiting takes no time of the thread. */
  readonly releaseEarly: () => void;
  /** The connection is open, has failed or is no longer wanted. */
  readonly release: () => void;
}

export class ConnectLimiter {
  readonly #timers: Timers;
  readonly #slowed: Timers;
  readonly #around: CustomerActivity;
  readonly #hosts = new Map<string, Host>();
  /** Hosts that may start a connection, by customer. Both levels are in round-robin order. */
  readonly #ready = new Map<Partition, Set<Host>>();
  readonly #handshakes = new RoundRobinQueue<() => void>();
  #handshakesInTick = 0;
  #startedInTick = 0;
  #isTickScheduled = false;

  constructor(timers: Timers & Stopwatch) {
    this.#timers = timers;
    this.#around = customerActivity(timers);
    this.#slowed = new ThrottledTimers(timers, () => this.#isShared);
  }

  /** Records that the customer has something to send. */
  noteActive(customer: Partition): void {
    this.#around.record(`${customer}`);
  }

  get #isShared(): boolean {
    return this.#around.hasSeveral;
  }

  get #perTickMax(): number {
    return this.#isShared ? STARTED_PER_TICK_MAX : STARTED_PER_TICK_MAX_ALONE;
  }

  acquire(customer: Partition, origin: string): ConnectPermit {
    const host = this.#hostOf(customer, origin);
    const { promise, resolve } = Promise.withResolvers<void>();
    host.waiting.add(resolve);
    this.#updateReady(host);
    this.#grantSome();
    return {
      granted: promise,
      releaseEarly: () => this.#release(host, resolve),
      release: () => {
        if (host.waiting.delete(resolve)) resolve();
        this.#release(host, resolve);
      },
    };
  }

  /** The TCP connection is open: resolves when its TLS handshake may start. */
  awaitHandshake(customer: Partition): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#handshakes.add(customer, resolve);
    if (this.#handshakesInTick < this.#perTickMax) this.#startHandshakes();
    return promise;
  }

  #startHandshakes(): void {
    while (this.#handshakesInTick < this.#perTickMax) {
      const start = this.#handshakes.next();
      if (start === undefined) return;
      if (this.#handshakesInTick++ === 0) {
        this.#timers.after(0, () => {
          this.#handshakesInTick = 0;
          this.#startHandshakes();
        });
      }
      start();
    }
  }

  #hostOf(customer: Partition, origin: string): Host {
    const key = `${customer} ${origin}`;
    const host = this.#hosts.get(key) ?? { key, customer, waiting: new Set(), opening: new Set() };
    this.#hosts.set(key, host);
    return host;
  }

  #release(host: Host, grant: () => void): void {
    host.opening.delete(grant);
    this.#updateReady(host);
    if (host.opening.size + host.waiting.size > 0) this.#grantSome();
    else this.#hosts.delete(host.key);
  }

  /** A host that may start another connection keeps its position, or joins at the end. */
  #updateReady(host: Host): void {
    const { customer, waiting, opening } = host;
    const hosts = this.#ready.get(customer);
    const openingMax = this.#isShared ? OPENING_PER_HOST_MAX : OPENING_PER_HOST_MAX_ALONE;
    if (waiting.size > 0 && opening.size < openingMax) {
      if (hosts === undefined) this.#ready.set(customer, new Set([host]));
      else hosts.add(host);
      return;
    }
    hosts?.delete(host);
    if (hosts?.size === 0) this.#ready.delete(customer);
  }

  #grantSome(): void {
    while (this.#startedInTick < this.#perTickMax && this.#grantOne()) this.#startedInTick++;
    if (this.#isTickScheduled || this.#startedInTick === 0) return;
    this.#isTickScheduled = true;
    this.#slowed.after(this.#isShared ? PAUSE_MS : 0, () => {
      this.#isTickScheduled = false;
      this.#startedInTick = 0;
      this.#grantSome();
    });
  }

  #grantOne(): boolean {
    const [first] = this.#ready;
    if (first === undefined) return false;
    const [customer, hosts] = first;
    const [host] = hosts;
    const [grant] = host?.waiting ?? [];
    if (host === undefined || grant === undefined) return false;
    // The customer and the host both move to the end of their queues.
    hosts.delete(host);
    this.#ready.delete(customer);
    if (hosts.size > 0) this.#ready.set(customer, hosts);
    // A customer whose connections wait is active, even if it sends nothing new.
    this.noteActive(customer);
    host.waiting.delete(grant);
    host.opening.add(grant);
    this.#updateReady(host);
    grant();
    return true;
  }
}
