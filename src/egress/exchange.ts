/**
 * One request on its lane, and what comes of it. It is answered with the head of the final answer. The body
 * is then read for the sake of the connection only, which can serve again once the body has ended: within
 * bounds, and no longer for whoever asked.
 */
import type { Dispatcher } from 'undici';
import type { SendResult } from '#src/ports/egress.ts';
import type { Timers } from '#src/ports/timers.ts';
import { BROKEN_OFF, notSent } from './failures.ts';
import type { Destination, Lane } from './lane.ts';
import type { Lanes } from './lanes.ts';
import type { Passenger } from './origin.ts';

export const BODY_BYTES_MAX = 65_536;
export const BODY_MS_MAX = 2_000;

const FINAL_STATUS_MIN = 200;

export interface ExchangeDependencies {
  readonly lanes: Lanes;
  readonly timers: Timers;
}

/** Whoever asked. */
export interface Asker {
  readonly onEnd: (result: SendResult) => void;
  readonly onConnected: (wasOpen: boolean) => void;
}

export class Exchange implements Passenger<Lane>, Dispatcher.DispatchHandler {
  readonly #lanes: Lanes;
  readonly #timers: Timers;
  readonly #destination: Destination;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #asker: Asker;
  #lane: Lane | null = null;
  #isWaiting = false;
  /** Whether its lane was open before it came. */
  #isLaneKept = false;
  /** Whether whoever asked knows what came of it. */
  #isOver = false;
  #isAnswered = false;
  #hasBodyEnded = false;
  #bodyBytes = 0;
  #callOff: (() => void) | null = null;

  constructor(
    { lanes, timers }: ExchangeDependencies,
    destination: Destination,
    options: Dispatcher.DispatchOptions,
    asker: Asker,
  ) {
    this.#lanes = lanes;
    this.#timers = timers;
    this.#destination = destination;
    this.#options = options;
    this.#asker = asker;
  }

  begin(): void {
    this.#lanes.take(this.#destination, this);
    this.#isWaiting = this.#lane === null;
  }

  board(lane: Lane): void {
    this.#lane = lane;
    // One that was opened for it and is boarded just now has served nobody.
    this.#isLaneKept = lane.isConnected && (!this.#isWaiting || lane.hasServed);
    lane.dispatch(this.#options, this);
  }

  strand(error: unknown): void {
    this.#end(notSent(error).result);
  }

  /** It is about to be written, on a connection that undici may have had to make anew. */
  onRequestStart(): void {
    if (!this.#isOver) this.#asker.onConnected(this.#isLaneKept);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode < FINAL_STATUS_MIN || this.#lane === null) return;
    this.#isAnswered = true;
    // Nearly always the body has come with the head, and has ended by then.
    queueMicrotask(() => this.#awaitBody());
    this.#end({ kind: 'answered', statusCode });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > BODY_BYTES_MAX) this.#drop();
  }

  onResponseEnd(): void {
    this.#endBody();
    if (this.#lane !== null) this.#lanes.giveBack(this.#lane);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#endBody();
    if (this.#isAnswered || this.#lane === null) this.#drop();
    else this.#lanes.broke(this.#lane);
    this.#end(notSent(error).result);
  }

  /** What is over already goes on as it is: its body is read for the next. */
  breakOff(): void {
    if (this.#isOver) return;
    this.#end(BROKEN_OFF);
    this.#drop();
  }

  #awaitBody(): void {
    if (this.#hasBodyEnded || this.#lane === null) return;
    this.#lanes.finishing(this.#lane);
    this.#callOff = this.#timers.after(BODY_MS_MAX, () => this.#drop());
  }

  #endBody(): void {
    this.#hasBodyEnded = true;
    this.#callOff?.();
  }

  #drop(): void {
    if (this.#lane === null) this.#lanes.leave(this.#destination, this);
    else this.#lanes.drop(this.#lane);
  }

  #end(result: SendResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#asker.onEnd(result);
  }
}
