/**
 * One undici client: one connection at a time, for one request at a time. A connection that was closed while
 * it waited, before anything was written on it, is made anew by undici; through the connector, where the
 * destination is judged as ever.
 *
 * How long an unused connection is kept: where the server says (`Keep-Alive: timeout=…`), until a moment
 * before that. Where it does not, 4 seconds, because a good part of the servers that say nothing give up
 * after 5. Longer would mostly work, but schedules come at round intervals and servers give up after round
 * ones: a request every 5, 30 or 60 seconds would meet the end of its connection again and again. Connections
 * are opened ahead of the requests that are known to come, so there is little to win by keeping them.
 */
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import type { Partition } from '#src/domain/partition.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import type { Connector } from './connector.ts';
import { failed, notSent } from './failures.ts';
import { InformationalFilter } from './informational.ts';
import type { OpeningTurn, OpeningTurns } from './opening-turns.ts';

/** How long a connection waits where the server does not say. */
const IDLE_MS = 4_000;
/** The longest that a server may ask for. */
const IDLE_MS_MAX = 30_000;
/** A connection is given up this long before the server would: its end must not meet a request. */
const IDLE_MARGIN_MS = 1_000;
const HEADERS_BYTES_MAX = 16_384;

/** Time-outs come from the caller. */
const NO_TIMEOUT = 0;

/** Made once: an error costs more than the rest of ending a lane. */
const ENDED = failed('broken off');

/** Ends the request that is never written. */
const OPENED = new Error('The connection is open.');
const NO_ANSWER = { onResponseStart() {}, onResponseData() {}, onResponseEnd() {} };

export type Destination = Pick<OutboundRequest, 'url' | 'customer'>;

/** The customer and the origin. */
export function connectionKeyOf({ url, customer }: Destination): string {
  return `${customer} ${url.origin}`;
}

export interface LaneDependencies {
  readonly connector: Connector;
  readonly turns: OpeningTurns;
}

export class Lane {
  /** Whom it is for and where it goes: see `connectionKeyOf`. */
  readonly place: string;
  readonly customer: Partition;
  readonly #url: URL;
  readonly #dependencies: LaneDependencies;
  readonly #client: Client;
  readonly #ended = new AbortController();
  #filter: InformationalFilter | undefined;
  #turn: OpeningTurn | null = null;
  #isConnected = false;
  #hasServed = false;

  constructor(destination: Destination, dependencies: LaneDependencies, onDisconnect: (lane: Lane) => void) {
    const { url, customer } = destination;
    this.place = connectionKeyOf(destination);
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

  /** Whether a request was given to it before. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /**
   * undici connects for a request only. This one is taken back at the moment it would be written, which
   * leaves the connection open and looked after. Calls back once, with what went wrong if anything did.
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

  /** It is open or late: the next one to this host need not wait for it. */
  beLate(): void {
    this.#turn?.beLate();
  }

  async destroy(): Promise<void> {
    this.#ended.abort(ENDED);
    await this.#client.destroy(ENDED);
  }

  async #connect(callback: buildConnector.Callback): Promise<void> {
    const { connector, turns } = this.#dependencies;
    const { signal } = this.#ended;
    const turn = turns.ask(this.customer, this.#url.origin);
    this.#turn = turn;
    signal.addEventListener('abort', turn.end);
    let socket: Socket;
    try {
      await turn.begun;
      socket = await connector.open(this.#url, signal, () => turns.handshake(this.customer));
    } catch (error) {
      return callback(notSent(error), null);
    } finally {
      signal.removeEventListener('abort', turn.end);
      turn.end();
    }
    if (socket.destroyed) return callback(failed('connection reset'), null);
    this.#filter = InformationalFilter.install(socket);
    callback(null, socket);
  }
}
