/**
 * One request and its answer. The caller gets the result when the head of the final answer arrives. The body
 * is then read within limits and thrown away, only so that the connection can serve again.
 */
import type { Dispatcher } from 'undici';
import type { OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Timers } from '#src/ports/system.ts';
import type { Connection, Destination } from './connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { toSendFailure } from './failures.ts';
import type { Waiter } from './origin-pool.ts';

export const BODY_BYTES_MAX = 65_536;
export const BODY_MS_MAX = 2_000;

const FINAL_STATUS_MIN = 200;

export interface ExchangeDependencies {
  readonly pool: ConnectionPool;
  readonly timers: Timers;
}

export interface ExchangeCallbacks {
  readonly onEnd: (result: SendResult) => void;
  readonly onConnected: (wasOpen: boolean) => void;
}

export class Exchange implements Waiter<Connection>, Dispatcher.DispatchHandler {
  readonly #pool: ConnectionPool;
  readonly #timers: Timers;
  readonly #destination: Destination;
  readonly isOverdue: boolean;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #callbacks: ExchangeCallbacks;
  #connection: Connection | null = null;
  #isWaiting = false;
  /** Whether the connection was open before this request needed one. */
  #wasOpen = false;
  /** Whether the caller has the result. */
  #isOver = false;
  #isAnswered = false;
  #hasBodyEnded = false;
  #bodyBytes = 0;
  #cancelBodyTimer: (() => void) | null = null;

  constructor(
    { pool, timers }: ExchangeDependencies,
    { url, customer, isOverdue }: Destination & Pick<OutboundRequest, 'isOverdue'>,
    options: Dispatcher.DispatchOptions,
    callbacks: ExchangeCallbacks,
  ) {
    this.#pool = pool;
    this.#timers = timers;
    this.#destination = { url, customer };
    this.isOverdue = isOverdue;
    this.#options = options;
    this.#callbacks = callbacks;
  }

  start(): void {
    this.#pool.acquire(this.#destination, this);
    this.#isWaiting = this.#connection === null;
  }

  connect(connection: Connection): void {
    this.#connection = connection;
    // A connection that was opened for this request has not served before.
    this.#wasOpen = connection.isConnected && (!this.#isWaiting || connection.hasServed);
    connection.dispatch(this.#options, this);
  }

  fail(error: unknown): void {
    this.#end({ kind: 'failed', failure: toSendFailure(error).failure });
  }

  /** The request is about to be written. undici may have had to open a new connection for it. */
  onRequestStart(): void {
    if (!this.#isOver) this.#callbacks.onConnected(this.#wasOpen);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode < FINAL_STATUS_MIN || this.#connection === null) return;
    this.#isAnswered = true;
    // Nearly always the body arrives with the head, and has ended before this microtask runs.
    queueMicrotask(() => this.#awaitBody());
    this.#end({ kind: 'answered', statusCode });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > BODY_BYTES_MAX) this.#discard();
  }

  onResponseEnd(): void {
    this.#endBody();
    if (this.#connection !== null) this.#pool.release(this.#connection);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#endBody();
    if (this.#isAnswered || this.#connection === null) this.#discard();
    else this.#pool.discardBroken(this.#connection);
    this.#end({ kind: 'failed', failure: toSendFailure(error).failure });
  }

  /** Does nothing after the answer: the body is still read, for the next request on the connection. */
  abort(): void {
    if (this.#isOver) return;
    this.#end({ kind: 'failed', failure: 'aborted' });
    this.#discard();
  }

  #awaitBody(): void {
    if (this.#hasBodyEnded || this.#connection === null) return;
    this.#pool.startDraining(this.#connection);
    this.#cancelBodyTimer = this.#timers.after(BODY_MS_MAX, () => this.#discard());
  }

  #endBody(): void {
    this.#hasBodyEnded = true;
    this.#cancelBodyTimer?.();
  }

  #discard(): void {
    if (this.#connection === null) this.#pool.cancel(this.#destination, this);
    else this.#pool.discard(this.#connection);
  }

  #end(result: SendResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#callbacks.onEnd(result);
  }
}
