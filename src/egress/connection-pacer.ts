/**
 * Decides how fast one origin opens connections for the requests that wait, window by window.
 *
 * A few connections are opened in each window. If they open but none is released for two windows while
 * requests wait, the destination is slow or hangs and can take more. Then twice as many are opened in the
 * next window, and so on. Doubling ends when connections are released at a steady rate. From then on none is
 * opened as long as the queue moves: a waiting request gets a released connection sooner than a new one, or
 * it waits for this process and not for a connection.
 */
import type { Timers } from '#src/ports/system.ts';

/** Opened and released connections are counted over this time. */
export const WINDOW_MS = 20;
/** Connections opened in the first window. */
export const OPENED_PER_WINDOW_MIN = 16;
export const OPENED_PER_WINDOW_MAX = 256;
/** One released connection each millisecond. The queue does not move if fewer are released. */
export const RELEASED_PER_WINDOW_MOVING = 20;
/** A process can send about this many requests in a window. More connections would not make it faster. */
export const RELEASED_PER_WINDOW_SATURATED = 100;
/** A queue moves if it empties within this many windows, about as long as a handshake takes. */
const QUEUE_WINDOWS_MAX = 5;

export interface ConnectionPacerDependencies {
  readonly timers: Timers;
  /** Requests that have no connection, not even a pending one. */
  queuedCount(): number;
  /** Connections that are idle. */
  idleCount(): number;
  /** Called when `canOpen` may have become true. */
  openMore(): void;
}

export class ConnectionPacer {
  readonly #dependencies: ConnectionPacerDependencies;
  #budget = OPENED_PER_WINDOW_MIN;
  #started = 0;
  #opened = 0;
  #released = 0;
  #isMoving = false;
  /** Whether the previous window opened connections and released none. */
  #isStalled = false;
  #cancelTimer: (() => void) | null = null;

  constructor(dependencies: ConnectionPacerDependencies) {
    this.#dependencies = dependencies;
  }

  get canOpen(): boolean {
    return !this.#isMoving && this.#started < this.#budget;
  }

  noteStarted(): void {
    this.#started += 1;
    if (this.#cancelTimer === null) this.#startWindow();
  }

  noteOpened(): void {
    this.#opened += 1;
  }

  /** A failed connection does not count, so that all waiters soon learn that nothing listens there. */
  noteFailed(): void {
    this.#started = Math.max(0, this.#started - 1);
  }

  /** A connection was released and serves a request that waited. */
  noteReleased(): void {
    this.#released += 1;
  }

  /** No request waits any more, so the next burst starts with the smallest budget. */
  reset(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#budget = OPENED_PER_WINDOW_MIN;
    this.#started = 0;
    this.#isMoving = false;
    this.#isStalled = false;
  }

  #startWindow(): void {
    this.#opened = 0;
    this.#released = 0;
    const { timers } = this.#dependencies;
    this.#cancelTimer = timers.after(WINDOW_MS, () => {
      // Answers that arrived while this process was busy are read first, because they release connections.
      this.#cancelTimer = timers.after(0, () => this.#endWindow());
    });
  }

  #endWindow(): void {
    this.#cancelTimer = null;
    this.#isMoving = this.#isQueueMoving();
    this.#adjustBudget();
    this.#started = 0;
    this.#dependencies.openMore();
    if (this.#cancelTimer === null && this.#dependencies.queuedCount() > 0) this.#startWindow();
  }

  #isQueueMoving(): boolean {
    const queued = this.#dependencies.queuedCount();
    if (queued === 0 || this.#released < RELEASED_PER_WINDOW_MOVING) return false;
    return this.#released >= RELEASED_PER_WINDOW_SATURATED || queued <= this.#released * QUEUE_WINDOWS_MAX;
  }

  #adjustBudget(): void {
    const wasStalled = this.#isStalled;
    this.#isStalled = this.#opened > 0 && this.#released === 0 && this.#dependencies.idleCount() === 0;
    // If handshakes take long, starting more of them at once would not finish them sooner.
    const areHandshakesFast = this.#opened * 2 >= this.#budget;
    if (this.#released >= RELEASED_PER_WINDOW_MOVING) this.#budget = OPENED_PER_WINDOW_MIN;
    else if (wasStalled && this.#isStalled && areHandshakesFast)
      this.#budget = Math.min(OPENED_PER_WINDOW_MAX, this.#budget * 2);
  }
}
