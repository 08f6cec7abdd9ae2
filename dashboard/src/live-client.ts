/**
 * Keeps the data of a page up to date. All watches of a page share one stream. A lost connection never removes data from
 * the page.
 *
 *   acquire ──► GET, for the first paint, which works without streams too
 *           ──► one stream for all watches, reopened when the watches change
 *   stream breaks   ──► `reconnecting`: reopened after 1, 2, 4 … 30 s, and GET every 5 s meanwhile
 *   stream refused  ──► `polling`: the same, but it is not shown as a problem
 *   page hidden     ──► everything pauses. Visible again: GET at once, and the stream is opened
 *
 * While a stream is open there is a GET now and then, because a connection can die unnoticed.
 */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiError, asApiError } from './api.ts';
import {
  type Connection,
  EventStream,
  type StreamDependencies,
  type StreamListener,
  type StreamSource,
} from './event-stream.ts';

export interface Live<T> {
  /** The newest data. Null until the first response. */
  readonly data: T | null;
  /** Why there is no data, or no newer data. */
  readonly error: ApiError | null;
  readonly state: 'loading' | 'live' | 'reconnecting' | 'stale';
}

/** The limit of the service for one stream. Further watches are polled. */
export const WATCHES_MAX = 6;
const POLL_MS = 5_000;
const SAFETY_POLL_MS = 30_000;
const RECONNECT_MS_MAX = 30_000;
/** A page mounts its components one after another. The stream is opened once for all of them. */
const OPEN_DELAY_MS = 30;

export interface LiveListener extends StreamListener {
  data(watch: string, body: unknown): void;
  refused(watch: string, status: number, code: string): void;
}

export interface LiveDependencies extends Pick<StreamDependencies, 'later' | 'isHidden' | 'random'> {
  /** `isAutomatic`: the page polls, without an action of the user. */
  get(path: string, isAutomatic: boolean): Promise<unknown>;
  open(watches: readonly string[], listener: LiveListener): StreamSource;
  onSignedOut(): void;
}

interface Watch {
  readonly view: Signal<Live<unknown>>;
  users: number;
  /** Rises with every response, so that a slow response does not replace a newer one. */
  version: number;
  isRefused: boolean;
}

export const LOADING: Live<never> = { data: null, error: null, state: 'loading' };

export class LiveClient {
  readonly #ports: LiveDependencies;
  readonly #watches = new Map<string, Watch>();
  readonly #stream: EventStream;
  #streamed: readonly string[] = [];
  #openLater: (() => void) | null = null;
  #poll: (() => void) | null = null;

  constructor(ports: LiveDependencies) {
    this.#ports = ports;
    this.#stream = new EventStream({
      ...ports,
      connect: (listener) => this.#connect(listener),
      failed: (isRefused) => {
        this.#streamed = [];
        if (!isRefused) this.#markAll('reconnecting');
        this.#pollLater(POLL_MS);
      },
      reconnectMsMax: RECONNECT_MS_MAX,
    });
  }

  get connection(): ReadonlySignal<Connection> {
    return this.#stream.connection;
  }

  acquire(path: string): { readonly view: ReadonlySignal<Live<unknown>>; readonly release: () => void } {
    const known = this.#watches.get(path);
    const watch = known ?? { view: signal<Live<unknown>>(LOADING), users: 0, version: 0, isRefused: false };
    watch.users += 1;
    if (known === undefined) {
      this.#watches.set(path, watch);
      void this.#get(path, watch, false);
      this.#changed();
    }
    return { view: watch.view, release: () => this.#release(path, watch) };
  }

  #release(path: string, watch: Watch): void {
    watch.users -= 1;
    if (watch.users > 0) return;
    this.#watches.delete(path);
    this.#changed();
  }

  /** Reloads everything on the page, after a change of the user. */
  refresh(): Promise<void> {
    return this.#getAll(false);
  }

  async #getAll(isAutomatic: boolean): Promise<void> {
    await Promise.all([...this.#watches].map(([path, watch]) => this.#get(path, watch, isAutomatic)));
  }

  /** Call it when the page was hidden or shown, or when the network is back. */
  wake(): void {
    this.#close();
    if (this.#ports.isHidden()) return;
    void this.#getAll(true);
    this.#stream.wake();
  }

  #changed(): void {
    if (this.#openLater !== null) return;
    this.#openLater = this.#ports.later(OPEN_DELAY_MS, () => {
      this.#openLater = null;
      const wanted = this.#wanted();
      const isSame =
        wanted.length === this.#streamed.length && wanted.every((path) => this.#streamed.includes(path));
      if (isSame && this.#stream.isOpen) return;
      this.#close();
      this.#stream.open();
    });
  }

  #wanted(): readonly string[] {
    return [...this.#watches]
      .flatMap(([path, { isRefused }]) => (isRefused ? [] : [path]))
      .slice(0, WATCHES_MAX);
  }

  #connect(listener: StreamListener): StreamSource | null {
    const wanted = this.#wanted();
    if (wanted.length === 0) return null;
    this.#streamed = wanted;
    this.#pollLater(this.#isAllStreamed() ? SAFETY_POLL_MS : POLL_MS);
    return this.#ports.open(wanted, {
      ...listener,
      data: (path, body) => this.#show(path, { data: body, error: null, state: 'live' }),
      refused: (path, status, code) => this.#refuse(path, status, code),
    });
  }

  #isAllStreamed(): boolean {
    return this.#streamed.length === this.#watches.size;
  }

  #close(): void {
    this.#stream.close();
    this.#streamed = [];
    this.#poll?.();
    this.#poll = null;
  }

  #pollLater(ms: number): void {
    this.#poll?.();
    this.#poll = this.#ports.later(ms, () => {
      this.#poll = null;
      void this.#pollOnce();
    });
  }

  async #pollOnce(): Promise<void> {
    await this.#getAll(true);
    if (this.#poll !== null || this.#ports.isHidden() || this.#watches.size === 0) return;
    this.#pollLater(this.#stream.isOpen && this.#isAllStreamed() ? SAFETY_POLL_MS : POLL_MS);
  }

  async #get(path: string, watch: Watch, isAutomatic: boolean): Promise<void> {
    const { version } = watch;
    try {
      const data = await this.#ports.get(path, isAutomatic);
      if (watch.version !== version) return;
      watch.isRefused = false;
      this.#show(path, { data, error: null, state: 'live' });
    } catch (cause) {
      if (watch.version !== version) return;
      const error = asApiError(cause);
      // Old data is better than none, unless the service says that the object does not exist.
      const data = error.status === 404 ? null : watch.view.peek().data;
      watch.view.value = { data, error, state: 'stale' };
    }
  }

  #show(path: string, view: Live<unknown>): void {
    const watch = this.#watches.get(path);
    if (watch === undefined) return;
    watch.version += 1;
    watch.view.value = view;
  }

  #refuse(path: string, status: number, code: string): void {
    if (status === 401) {
      this.#close();
      this.#ports.onSignedOut();
      return;
    }
    const watch = this.#watches.get(path);
    if (watch === undefined) return;
    watch.isRefused = true;
    const shown = watch.view.peek();
    // The response to a GET says more than the code.
    const error =
      shown.error?.code === code
        ? shown.error
        : new ApiError(status, code, 'You can no longer see this. Reload the page.');
    this.#show(path, { data: status === 404 ? null : shown.data, error, state: 'stale' });
  }

  #markAll(state: Live<unknown>['state']): void {
    for (const { view } of this.#watches.values()) {
      if (view.peek().state === 'live') view.value = { ...view.peek(), state };
    }
  }
}
