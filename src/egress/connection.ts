/**
 * One undici client: one connection at a time, for one request at a time. The server may close an idle
 * connection. Then undici opens a new one through the connector, which checks the destination again.
 *
 * An unused connection is kept until shortly before the time that the server names (`Keep-Alive:
 * timeout=…`). If the server names none, it is kept for 4 seconds, because many such servers close after 5.
 * A longer time would mostly work. But schedules run at round intervals and servers close after round
 * intervals, so a request every 5, 30 or 60 seconds would meet a closing connection again and again. Little
 * is lost: connections for expected requests are opened ahead of time.
 */
import type { buildConnector, Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import type { Partition } from '#src/domain/project.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import type { ConnectLimiter, ConnectPermit } from './connect-limiter.ts';
import type { Connector, OpenedSocket } from './connector.ts';
import { SendFailure, toSendFailure } from './failures.ts';
import { InformationalFilter } from './informational.ts';

/** Idle time of a connection whose server names none. */
const IDLE_MS = 4_000;
/** The longest idle time that a server may ask for. */
const IDLE_MS_MAX = 30_000;
/** We close this long before the server does, so that its close does not meet a request. */
const IDLE_MARGIN_MS = 1_000;
const HEADERS_BYTES_MAX = 16_384;

/** The caller sets the deadline of each request. */
const NO_TIMEOUT = 0;

/** Created once: creating an error costs more than the rest of destroying a connection. */
const DESTROYED = new SendFailure('aborted');

/** Ends the request that only opens the connection and is never written. */
const OPENED = new Error('The connection is open.');
const NO_ANSWER = { onResponseStart() {}, onResponseData() {}, onResponseEnd() {} };

export type Destination = Pick<OutboundRequest, 'url' | 'customer'>;

/** Connections are shared by requests of the same customer to the same origin. */
export function connectionKeyOf({ url, customer }: Destination): string {
  return `${customer} ${url.origin}`;
}

export interface ConnectionDependencies {
  readonly connector: Connector;
  readonly limiter: ConnectLimiter;
  /** Whether the beginnings of answers from addresses that are not public may be kept. */
  readonly keepsPrivateAnswers: boolean;
}

export class Connection {
  /** The customer and the origin: see `connectionKeyOf`. */
  readonly key: string;
  readonly customer: Partition;
  readonly #url: URL;
  readonly #dependencies: ConnectionDependencies;
  readonly #client: Client;
  readonly #destroyed = new AbortController();
  #filter: InformationalFilter | undefined;
  #permit: ConnectPermit | null = null;
  #isConnected = false;
  #hasServed = false;
  #isPublic = false;

  constructor(
    destination: Destination,
    dependencies: ConnectionDependencies,
    onDisconnect: (connection: Connection) => void,
  ) {
    const { url, customer } = destination;
    this.key = connectionKeyOf(destination);
    this.#url = new URL(url.origin);
    this.customer = customer;
    this.#dependencies = dependencies;
    this.#client = new Client(url.origin, {
      allowH2: false,
      pipelining: 1,
      headersTimeout: NO_TIMEOUT,
      bodyTimeout: NO_TIMEOUT,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
      maxHeaderSize: HEADERS_BYTES_MAX,
      connect: (_options, callback) => void this.#connect(callback),
    });
    this.#client.on('connect', () => {
      this.#isConnected = true;
    });
    this.#client.on('disconnect', () => {
      this.#isConnected = false;
      onDisconnect(this);
    });
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /**
   * Whether the beginning of an answer may be shown to people. An address that only the operator's list permits belongs
   * to a private network, which customers must not be able to read.
   */
  get mayKeepAnswers(): boolean {
    return this.#isPublic || this.#dependencies.keepsPrivateAnswers;
  }

  /** Whether a request was dispatched on it before. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /**
   * undici connects only for a request. This request is cancelled just before it is written, which leaves the
   * connection open and managed by undici. Calls back once, with the error or null.
   */
  open(onEnd: (error: Error | null) => void): void {
    this.#client.dispatch(
      { method: 'GET', path: '/' },
      {
        ...NO_ANSWER,
        onRequestStart: () => {
          throw OPENED;
        },
        onResponseError: (_controller, error) => onEnd(error === OPENED ? null : error),
      },
    );
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#hasServed = true;
    this.#filter?.expectAnswer();
    this.#client.dispatch(options, handler);
  }

  /** It is open, or opens slowly: the next connection to this host need not wait for it. */
  releasePermit(): void {
    this.#permit?.releaseEarly();
  }

  async destroy(): Promise<void> {
    this.#destroyed.abort(DESTROYED);
    await this.#client.destroy(DESTROYED);
  }

  async #connect(callback: buildConnector.Callback): Promise<void> {
    const { connector, limiter } = this.#dependencies;
    const { signal } = this.#destroyed;
    const permit = limiter.acquire(this.customer, this.#url.origin);
    this.#permit = permit;
    signal.addEventListener('abort', permit.release);
    let opened: OpenedSocket;
    try {
      await permit.granted;
      opened = await connector.open(this.#url, signal, () => limiter.awaitHandshake(this.customer));
    } catch (error) {
      return callback(toSendFailure(error), null);
    } finally {
      signal.removeEventListener('abort', permit.release);
      permit.release();
    }
    const { socket, isPublic } = opened;
    if (socket.destroyed) return callback(new SendFailure('connection_reset'), null);
    this.#isPublic = isPublic;
    this.#filter = InformationalFilter.install(socket);
    callback(null, socket);
  }
}
