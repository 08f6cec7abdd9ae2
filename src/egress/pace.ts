/**
 * How fast lanes are opened for the requests that wait at one origin, window by window.
 *
 * A few are opened in each window. Where they open but for two windows none comes free while others wait, the
 * destination is slow or hangs and has room for more: twice as many are opened in the next window, and so on.
 * That ends where lanes come free one after the other. Then none is opened as long as the queue moves: who waits has a
 * lane sooner than it could be opened, or waits for this process and not for a lane.
 */
import type { Timers } from '#src/ports/timers.ts';

/** What is opened and what comes free is counted over so long. */
export const WINDOW_MS = 20;
/** In one window, at first. */
export const OPENED_FIRST = 16;
/** In one window, at most. */
export const OPENED_MAX = 256;
/** In one window: a lane each millisecond. With fewer the queue does not move. */
export const FREED_MOVING = 20;
/** In one window: about what a process can send at all. More lanes would not make it faster. */
export const FREED_PLENTY = 100;
/** A queue moves that is over after so many windows: about as long as a handshake takes. */
const QUEUE_WINDOWS_MAX = 5;

export interface PaceDependencies {
  readonly timers: Timers;
  /** Requests that have no lane, not even one being opened. */
  queued(): number;
  /** Lanes that are idle. */
  idle(): number;
  /** More may be opened. */
  openMore(): void;
}

export class Pace {
  readonly #dependencies: PaceDependencies;
  #budget = OPENED_FIRST;
  #begun = 0;
  #opened = 0;
  #freed = 0;
  #isMoving = false;
  /** In the window before, some were opened and none came free. */
  #isStill = false;
  #callOff: (() => void) | null = null;

  constructor(dependencies: PaceDependencies) {
    this.#dependencies = dependencies;
  }

  get mayOpen(): boolean {
    return !this.#isMoving && this.#begun < this.#budget;
  }

  /** One is being opened. */
  begin(): void {
    this.#begun += 1;
    if (this.#callOff === null) this.#startWindow();
  }

  succeed(): void {
    this.#opened += 1;
  }

  /** It took nobody's time: those who wait are to hear as soon that nobody is there. */
  fail(): void {
    this.#begun = Math.max(0, this.#begun - 1);
  }

  /** One came free, for a request that waited. */
  free(): void {
    this.#freed += 1;
  }

  /** Nobody waits for anything: the next to come need not know what was. */
  rest(): void {
    this.#callOff?.();
    this.#callOff = null;
    this.#budget = OPENED_FIRST;
    this.#begun = 0;
    this.#isMoving = false;
    this.#isStill = false;
  }

  #startWindow(): void {
    this.#opened = 0;
    this.#freed = 0;
    const { timers } = this.#dependencies;
    this.#callOff = timers.after(WINDOW_MS, () => {
      // Answers that came while this process was busy are read first: they free lanes.
      this.#callOff = timers.after(0, () => this.#endWindow());
    });
  }

  #endWindow(): void {
    this.#callOff = null;
    this.#isMoving = this.#isQueueMoving();
    this.#adjustBudget();
    this.#begun = 0;
    this.#dependencies.openMore();
    if (this.#callOff === null && this.#dependencies.queued() > 0) this.#startWindow();
  }

  #isQueueMoving(): boolean {
    const queued = this.#dependencies.queued();
    if (queued === 0 || this.#freed < FREED_MOVING) return false;
    return this.#freed >= FREED_PLENTY || queued <= this.#freed * QUEUE_WINDOWS_MAX;
  }

  #adjustBudget(): void {
    const wasStill = this.#isStill;
    this.#isStill = this.#opened > 0 && this.#freed === 0 && this.#dependencies.idle() === 0;
    // Where handshakes take their time, more of them at once would not be done sooner.
    const hasRoom = this.#opened * 2 >= this.#budget;
    if (this.#freed >= FREED_MOVING) this.#budget = OPENED_FIRST;
    else if (wasStill && this.#isStill && hasRoom) this.#budget = Math.min(OPENED_MAX, this.#budget * 2);
  }
}
