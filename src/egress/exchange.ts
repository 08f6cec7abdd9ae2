/**
 * One request and its answer. The caller gets the result when the head of the final answer arrives. The body
 * is then read within limits and thrown away, only so that the connection can serve again. Its first bytes are
 * kept if the caller asked for them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Timers } from '#src/ports/system.ts';
import type { Connection, Destination } from './connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { ExcerptReader } from './excerpt-reader.ts';
import { toSendFailure } from './failures.ts';
import type { Waiter } from './origin-pool.ts';

export const BODY_BYTES_MAX = 65_536;
export const BODY_MS_MAX = 2_000;

const FINAL_STATUS_MIN = 200;
const SUCCESS_STATUS_MAX = 299;

export interface ExchangeDependencies {
  readonly pool: ConnectionPool;
  readonly timers: Timers;
}

export interface ExchangeCallbacks {
  readonly onEnd: (result: SendResult) => void;
  readonly onConnected: (wasOpen: boolean) => void;
}

export type ExchangeRequest = Destination & Pick<OutboundRequest, 'isOverdue' | 'excerptBytesMax'>;

export class Exchange implements Waiter<Connection>, Dispatcher.DispatchHandler {
  readonly #pool: ConnectionPool;
  readonly #timers: Timers;
  readonly #destination: Destination;
  readonly isOverdue: boolean;
  readonly #excerptBytesMax: number;
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
  #excerpt: ExcerptReader | null = null;
  #cancelBodyTimer: (() => void) | null = null;

  constructor(
    { pool, timers }: ExchangeDependencies,
    { url, customer, isOverdue, excerptBytesMax }: ExchangeRequest,
    options: Dispatcher.DispatchOptions,
    callbacks: ExchangeCallbacks,
  ) {
    this.#pool = pool;
    this.#timers = timers;
    this.#destination = { url, customer };
    this.isOverdue = isOverdue;
    this.#excerptBytesMax = excerptBytesMax;
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

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < FINAL_STATUS_MIN || this.#connection === null) return;
    this.#isAnswered = true;
    // Nearly always the body arrives with the head, and has ended before this microtask runs.
    queueMicrotask(() => this.#awaitBody());
    const isKept =
      this.#excerptBytesMax > 0 && statusCode > SUCCESS_STATUS_MAX && this.#connection.mayKeepAnswers;
    if (isKept) this.#excerpt = new ExcerptReader(this.#excerptBytesMax, headers['content-type']);
    if (this.#excerpt === null) this.#end({ kind: 'answered', statusCode });
    else this.#end({ kind: 'answered', statusCode, excerpt: this.#excerpt.excerpt });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    this.#excerpt?.add(chunk);
    if (this.#bodyBytes > BODY_BYTES_MAX) this.#discard();
  }

  onResponseEnd(): void {
    this.#endBody(true);
    if (this.#connection !== null) this.#pool.release(this.#connection);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#endBody(false);
    if (this.#isAnswered || this.#connection === null) this.#discard();
    else this.#pool.discardBroken(this.#connection);
    this.#end({ kind: 'failed', failure: toSendFailure(error).failure });
  }

  /** After the answer the body is still read, for the next request on the connection. */
  abort(): void {
    this.#excerpt?.end(false);
    if (this.#isOver) return;
    this.#end({ kind: 'failed', failure: 'aborted' });
    this.#discard();
  }

  #awaitBody(): void {
    if (this.#hasBodyEnded || this.#connection === null) return;
    this.#pool.startDraining(this.#connection);
    this.#cancelBodyTimer = this.#timers.after(BODY_MS_MAX, () => this.#discard());
  }

  #endBody(isWhole: boolean): void {
    this.#hasBodyEnded = true;
    this.#excerpt?.end(isWhole);
    this.#cancelBodyTimer?.();
  }

  #discard(): void {
    this.#excerpt?.end(false);
    if (this.#connection === null) this.#pool.cancel(this.#destination, this);
    else this.#pool.discard(this.#connection);
  }

  #end(result: SendResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#callbacks.onEnd(result);
  }
}
