/**
 * When each connection is opened. A handshake takes a millisecond or two of the thread that everybody shares, so few
 * begin in one turn of the event loop: in between, everything else goes on. Customers take turns, and so do the hosts
 * of each of them: whoever wants hundreds of connections has others wait for no more than a few. Many hosts may accept
 * their connections at one moment: the handshakes over them take turns again.
 *
 * A host that accepts many connections and then answers all of their handshakes at once makes as much work at one
 * instant. So only some of a host's are under way at one time; that a host does not answer is its own trouble, and
 * does not count for the others.
 */

import type { Partition } from '#src/domain/partition.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { type CustomersAround, customersAround } from '#src/ports/customers-around.ts';
import { SlowedTimers } from '#src/ports/slowed-timers.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';

/** Begun in one turn of the event loop. */
export const BEGUN_TOGETHER_MAX = 2;
/** The same, as long as one customer is the only one with anything to send. */
export const BEGUN_TOGETHER_MAX_ALONE = 16;
/** The pause between two turns while several customers share the process. It leaves half of the time to others. */
export const REST_MS = 4;
/** Under way at one time, to one host for one customer. */
export const UNDER_WAY_MAX = 16;
/** The same, as long as one customer is the only one with anything to send. */
export const UNDER_WAY_MAX_ALONE = 64;

interface Host {
  readonly key: string;
  readonly customer: Partition;
  /** Those that wait, in the order they came. */
  readonly waiting: Set<() => void>;
  readonly underWay: Set<() => void>;
}

export interface OpeningTurn {
  /** Resolves when it is to begin, or was ended before. */
  readonly begun: Promise<void>;
  /** It takes long, and counts no more among those under way: silence takes nobody's time. */
  readonly beLate: () => void;
  /** It is over, or is not wanted any more. */
  readonly end: () => void;
}

export class OpeningTurns {
  readonly #timers: Timers;
  readonly #slowed: Timers;
  readonly #around: CustomersAround;
  readonly #hosts = new Map<string, Host>();
  /** The hosts of which one may begin, by customer; both in the order of their turns. */
  readonly #ready = new Map<Partition, Set<Host>>();
  readonly #handshakes = new RoundRobinQueue<() => void>();
  #handshakesInTurn = 0;
  #begunInTurn = 0;
  #isTurnPlanned = false;

  constructor(timers: Timers & Stopwatch) {
    this.#timers = timers;
    this.#around = customersAround(timers);
    this.#slowed = new SlowedTimers(timers, () => this.#isShared);
  }

  /** A customer has something to send. */
  notice(customer: Partition): void {
    this.#around.notice(`${customer}`);
  }

  get #isShared(): boolean {
    return this.#around.areSeveral;
  }

  get #togetherMax(): number {
    return this.#isShared ? BEGUN_TOGETHER_MAX : BEGUN_TOGETHER_MAX_ALONE;
  }

  ask(customer: Partition, origin: string): OpeningTurn {
    const host = this.#hostOf(customer, origin);
    const { promise, resolve } = Promise.withResolvers<void>();
    host.waiting.add(resolve);
    this.#update(host);
    this.#beginSome();
    return {
      begun: promise,
      beLate: () => this.#leave(host, resolve),
      end: () => {
        if (host.waiting.delete(resolve)) resolve();
        this.#leave(host, resolve);
      },
    };
  }

  /** A connection is there: resolves when its handshake is to begin. */
  handshake(customer: Partition): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#handshakes.add(customer, resolve);
    if (this.#handshakesInTurn < this.#togetherMax) this.#nextHandshakes();
    return promise;
  }

  #nextHandshakes(): void {
    while (this.#handshakesInTurn < this.#togetherMax) {
      const begin = this.#handshakes.next();
      if (begin === undefined) return;
      if (this.#handshakesInTurn++ === 0) {
        this.#timers.after(0, () => {
          this.#handshakesInTurn = 0;
          this.#nextHandshakes();
        });
      }
      begin();
    }
  }

  #hostOf(customer: Partition, origin: string): Host {
    const key = `${customer} ${origin}`;
    const host = this.#hosts.get(key) ?? { key, customer, waiting: new Set(), underWay: new Set() };
    this.#hosts.set(key, host);
    return host;
  }

  #leave(host: Host, resolve: () => void): void {
    host.underWay.delete(resolve);
    this.#update(host);
    if (host.underWay.size + host.waiting.size > 0) this.#beginSome();
    else this.#hosts.delete(host.key);
  }

  /** A host that may begin another keeps its turn, or joins behind the others. */
  #update(host: Host): void {
    const { customer, waiting, underWay } = host;
    const hosts = this.#ready.get(customer);
    if (waiting.size > 0 && underWay.size < (this.#isShared ? UNDER_WAY_MAX : UNDER_WAY_MAX_ALONE)) {
      if (hosts === undefined) this.#ready.set(customer, new Set([host]));
      else hosts.add(host);
      return;
    }
    hosts?.delete(host);
    if (hosts?.size === 0) this.#ready.delete(customer);
  }

  #beginSome(): void {
    while (this.#begunInTurn < this.#togetherMax && this.#beginOne()) this.#begunInTurn++;
    if (this.#isTurnPlanned || this.#begunInTurn === 0) return;
    this.#isTurnPlanned = true;
    this.#slowed.after(this.#isShared ? REST_MS : 0, () => {
      this.#isTurnPlanned = false;
      this.#begunInTurn = 0;
      this.#beginSome();
    });
  }

  #beginOne(): boolean {
    const [first] = this.#ready;
    if (first === undefined) return false;
    const [customer, hosts] = first;
    const [host] = hosts;
    const [begin] = host?.waiting ?? [];
    if (host === undefined || begin === undefined) return false;
    // Both go behind the others.
    hosts.delete(host);
    this.#ready.delete(customer);
    if (hosts.size > 0) this.#ready.set(customer, hosts);
    // A customer whose connections wait has something to do, though it may ask for nothing new.
    this.notice(customer);
    host.waiting.delete(begin);
    host.underWay.add(begin);
    this.#update(host);
    begin();
    return true;
  }
}
