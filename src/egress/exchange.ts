/**
 * One request on its lane, and what comes of it. It is answered with the head of the final answer. The body
 * is then read for the sake of the connection only, which can serve again once the body has ended: within
 * bounds, and no longer for whoever asked.
 */
import type { Dispatcher } from 'undici';
import type { SendResult } from '#src/ports/egress.ts';
import type { Timers } from '#src/ports/timers.ts';
import { BROKEN_OFF, notSent } from './failures.ts';
import type { Lane } from './lane.ts';
import type { Lanes } from './lanes.ts';

export const BODY_BYTES_MAX = 65_536;
export const BODY_MS_MAX = 2_000;

const FINAL_STATUS_MIN = 200;

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #lanes: Lanes;
  readonly #lane: Lane;
  readonly #timers: Timers;
  readonly #signal: AbortSignal;
  readonly #settle: (result: SendResult) => void;
  #isAnswered = false;
  #bodyBytes = 0;
  #callOff = () => {};

  constructor(
    lanes: Lanes,
    lane: Lane,
    timers: Timers,
    signal: AbortSignal,
    settle: (result: SendResult) => void,
  ) {
    this.#lanes = lanes;
    this.#lane = lane;
    this.#timers = timers;
    this.#signal = signal;
    this.#settle = settle;
    signal.addEventListener('abort', this.#breakOff, { once: true });
  }

  // undici wants it, though everything it hands over is at hand by then.
  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode < FINAL_STATUS_MIN) return;
    this.#isAnswered = true;
    this.#end({ kind: 'answered', statusCode });
    this.#lanes.finishing(this.#lane);
    this.#callOff = this.#timers.after(BODY_MS_MAX, () => this.#lanes.drop(this.#lane));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > BODY_BYTES_MAX) this.#lanes.drop(this.#lane);
  }

  onResponseEnd(): void {
    this.#callOff();
    this.#lanes.giveBack(this.#lane);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#callOff();
    this.#lanes.drop(this.#lane);
    if (!this.#isAnswered) this.#end(notSent(error).result);
  }

  readonly #breakOff = () => {
    this.#end(BROKEN_OFF);
    this.#lanes.drop(this.#lane);
  };

  #end(result: SendResult): void {
    this.#signal.removeEventListener('abort', this.#breakOff);
    this.#settle(result);
  }
}
