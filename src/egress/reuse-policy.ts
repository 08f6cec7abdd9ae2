/**
 * Decides whether a connection of one origin may be reused immediately after an answer.
 *
 * Some servers close each connection a moment after the answer without announcing it. A request that is sent
 * in that moment is lost, and the sender cannot know whether it was received. So a connection that was just
 * answered is reused at once only if the origin has shown that it keeps connections open: one has served
 * twice, or one that has served stayed open for a while. Reuse ends when a reused connection breaks. A
 * connection that has not served yet proves nothing, because such servers wait for the first request.
 */
import type { Timers } from '#src/ports/system.ts';

/** Servers that close without announcing it do so within a few milliseconds. */
export const TRIAL_MS = 50;

export class ReusePolicy<Connection extends object> {
  readonly #timers: Timers;
  readonly #onAllowed: () => void;
  readonly #served = new WeakSet<Connection>();
  #isAllowed = false;
  #onTrial: Connection | null = null;
  #cancelTrial: (() => void) | null = null;

  constructor(timers: Timers, onAllowed: () => void) {
    this.#timers = timers;
    this.#onAllowed = onAllowed;
  }

  /** Whether the connection may serve a request right now. */
  canReuse(connection: Connection): boolean {
    return this.#isAllowed || !this.#served.has(connection);
  }

  noteAnswered(connection: Connection): void {
    if (this.#served.has(connection)) this.#allow();
    else this.#served.add(connection);
  }

  startIdle(connection: Connection): void {
    if (this.#isAllowed || this.#onTrial !== null || !this.#served.has(connection)) return;
    this.#onTrial = connection;
    this.#cancelTrial = this.#timers.after(TRIAL_MS, () => this.#allow());
  }

  /** The connection is in use or closed. */
  endIdle(connection: Connection): void {
    if (this.#onTrial === connection) this.#endTrial();
  }

  /** The connection ended before its request was answered. */
  noteBroken(connection: Connection): void {
    if (this.#served.has(connection)) this.#isAllowed = false;
  }

  #allow(): void {
    this.#endTrial();
    if (this.#isAllowed) return;
    this.#isAllowed = true;
    this.#onAllowed();
  }

  #endTrial(): void {
    this.#cancelTrial?.();
    this.#cancelTrial = null;
    this.#onTrial = null;
  }
}
