/** Attempts that were claimed and are not settled yet, by their ids, which are the fencing tokens of their claims. */
import type { Waker } from '#src/engine/queue/waker.ts';
import type { Sendable, Unsendable } from './request-builder.ts';

/** Attempts in flight, on this node. */
const ATTEMPTS_MAX = 4_096;

export type AttemptRequest = Sendable | Unsendable;

export class AttemptsInFlight {
  readonly #waker: Pick<Waker, 'soon'>;
  /** The request of each attempt; null once it was taken to be sent. */
  readonly #requests = new Map<string, AttemptRequest | Promise<AttemptRequest> | null>();
  readonly #onIdle: (() => void)[] = [];

  constructor(waker: Pick<Waker, 'soon'>) {
    this.#waker = waker;
  }

  /** Whether too many attempts are unsettled to begin another. */
  get isFull(): boolean {
    return this.#requests.size >= ATTEMPTS_MAX;
  }

  has(token: string): boolean {
    return this.#requests.has(token);
  }

  add(token: string, request: AttemptRequest | Promise<AttemptRequest>): void {
    this.#requests.set(token, request);
  }

  requestOf(token: string): AttemptRequest | Promise<AttemptRequest> | null {
    return this.#requests.get(token) ?? null;
  }

  /** The request is sent: its body must not stay in memory until the attempt is settled. */
  dropRequest(token: string): void {
    this.#requests.set(token, null);
  }

  remove(token: string): void {
    const wasFull = this.isFull;
    this.#requests.delete(token);
    if (wasFull) this.#waker.soon();
    if (this.#requests.size > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Resolves when no attempt is in flight. */
  idle(): Promise<void> {
    if (this.#requests.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#onIdle.push(resolve));
  }
}
