/**
 * Connections kept for the next request. While a lane serves a request it belongs to that request alone;
 * afterwards it waits, under its origin, until the other side or the idle time closes it.
 *
 * undici's own pools share connections that are being made among requests. Here each request has its own, so
 * that breaking off a request is to drop its lane, whatever it is doing: resolving, connecting, waiting. And
 * an origin without connections leaves nothing behind.
 *
 * Lanes in use are bounded by the caller. Those it no longer knows of are bounded here, the oldest going
 * first: the ones that wait, and the ones that are answered but whose body has not ended.
 */
import type { Connector } from './connector.ts';
import { Lane } from './lane.ts';

const IDLE_MAX = 1_000;
const FINISHING_MAX = 256;

export class Lanes {
  readonly #connector: Connector;
  readonly #all = new Set<Lane>();
  readonly #finishing = new Set<Lane>();
  readonly #idle = new Set<Lane>();
  readonly #idleOf = new Map<string, Lane[]>();

  constructor(connector: Connector) {
    this.#connector = connector;
  }

  get size(): number {
    return this.#all.size;
  }

  /** The lane that waited the shortest is the least likely to be closed. */
  take(url: URL): Lane {
    const waiting = this.#idleOf.get(url.origin)?.at(-1);
    if (waiting !== undefined) {
      this.#removeIdle(waiting);
      return waiting;
    }
    const lane = new Lane(url, this.#connector, (closed) => {
      if (this.#idle.has(closed)) this.drop(closed);
    });
    this.#all.add(lane);
    return lane;
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
    if (!lane.isConnected) {
      this.drop(lane);
      return;
    }
    this.#idle.add(lane);
    const siblings = this.#idleOf.get(lane.origin);
    if (siblings === undefined) this.#idleOf.set(lane.origin, [lane]);
    else siblings.push(lane);
    this.#dropOldest(this.#idle, IDLE_MAX);
  }

  drop(lane: Lane): void {
    void this.#drop(lane);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((lane) => this.#drop(lane)));
  }

  async #drop(lane: Lane): Promise<void> {
    this.#all.delete(lane);
    this.#finishing.delete(lane);
    this.#removeIdle(lane);
    await lane.destroy();
  }

  #dropOldest(lanes: ReadonlySet<Lane>, max: number): void {
    const [oldest] = lanes;
    if (lanes.size > max && oldest !== undefined) this.drop(oldest);
  }

  #removeIdle(lane: Lane): void {
    if (!this.#idle.delete(lane)) return;
    const siblings = this.#idleOf.get(lane.origin) ?? [];
    siblings.splice(siblings.lastIndexOf(lane), 1);
    if (siblings.length === 0) this.#idleOf.delete(lane.origin);
  }
}
