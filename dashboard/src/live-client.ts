/**
 * Keeps what a page shows up to date. All watches of a page share one stream; what is shown is never taken away
 * because the connection is.
 *
 *   acquire ──► GET, for the first paint, which works without streams as well
 *           ──► one stream for all that is watched, opened anew when that changes
 *   stream breaks   ──► `reconnecting`: opened again after 1, 2, 4 … 30 s; asked by GET every 5 s meanwhile
 *   stream refused  ──► `polling`: the same, but nobody needs to be told
 *   page hidden     ──► everything rests; seen again: asked at once, stream opened
 *
 * While a stream is open it is still asked by GET now and then: a connection can die without either end noticing.
 */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiError, asApiError } from './api.ts';

export interface Live<T> {
  /** The newest there is; null until the first answer. */
  readonly data: T | null;
  /** Why there is none, or none that is newer. */
  readonly error: ApiError | null;
  readonly state: 'loading' | 'live' | 'reconnecting' | 'stale';
}

export type Connection = 'idle' | 'live' | 'reconnecting' | 'polling';

/** What the service allows for one stream; further watches are asked by GET. */
export const WATCHES_MAX = 6;
const POLL_MS = 5_000;
const SAFETY_POLL_MS = 30_000;
const RECONNECT_MS_MIN = 1_000;
const RECONNECT_MS_MAX = 30_000;
/** A page mounts its parts one after another: they are gathered into one stream. */
const OPEN_DELAY_MS = 30;

export interface LiveSource {
  close(): void;
}

export interface LiveListener {
  opened(): void;
  data(watch: string, body: unknown): void;
  refused(watch: string, status: number, code: string): void;
  /** `isRefused`: the answer was no stream. */
  failed(isRefused: boolean): void;
}

export interface LiveDependencies {
  /** `isAutomatic`: nobody did anything, the page asks again by itself. */
  get(path: string, isAutomatic: boolean): Promise<unknown>;
  open(watches: readonly string[], listener: LiveListener): LiveSource;
  /** Returns how to call it off. */
  later(ms: number, action: () => void): () => void;
  isHidden(): boolean;
  onSignedOut(): void;
  random(): number;
}

interface Watch {
  readonly view: Signal<Live<unknown>>;
  users: number;
  /** Rises with every answer, so that a slow one does not replace a newer one. */
  version: number;
  isRefused: boolean;
}

export const LOADING: Live<never> = { data: null, error: null, state: 'loading' };

export class LiveClient {
  readonly connection = signal<Connection>('idle');
  readonly #ports: LiveDependencies;
  readonly #watches = new Map<string, Watch>();
  #source: LiveSource | null = null;
  #streamed: readonly string[] = [];
  #failures = 0;
  #gather: (() => void) | null = null;
  #reopen: (() => void) | null = null;
  #poll: (() => void) | null = null;

  constructor(ports: LiveDependencies) {
    this.#ports = ports;
  }

  acquire(path: string): { readonly view: ReadonlySignal<Live<unknown>>; readonly release: () => void } {
    const known = this.#watches.get(path);
    const watch = known ?? { view: signal<Live<unknown>>(LOADING), users: 0, version: 0, isRefused: false };
    watch.users += 1;
    if (known === undefined) {
      this.#watches.set(path, watch);
      void this.#ask(path, watch, false);
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

  /** After a change of one's own: ask for everything that is shown, now. */
  refresh(): Promise<void> {
    return this.#askAll(false);
  }

  async #askAll(isAutomatic: boolean): Promise<void> {
    await Promise.all([...this.#watches].map(([path, watch]) => this.#ask(path, watch, isAutomatic)));
  }

  /** The page was hidden, or is seen again, or the network is back. */
  wake(): void {
    this.#close();
    if (this.#ports.isHidden()) return;
    this.#failures = 0;
    void this.#askAll(true);
    this.#open();
  }

  #changed(): void {
    if (this.#gather !== null) return;
    this.#gather = this.#ports.later(OPEN_DELAY_MS, () => {
      this.#gather = null;
      const wanted = this.#wanted();
      const isSame =
        wanted.length === this.#streamed.length && wanted.every((path) => this.#streamed.includes(path));
      if (isSame && this.#source !== null) return;
      this.#close();
      this.#open();
    });
  }

  #wanted(): readonly string[] {
    return [...this.#watches]
      .flatMap(([path, { isRefused }]) => (isRefused ? [] : [path]))
      .slice(0, WATCHES_MAX);
  }

  #open(): void {
    const wanted = this.#wanted();
    if (this.#ports.isHidden() || wanted.length === 0) {
      this.connection.value = 'idle';
      return;
    }
    this.#streamed = wanted;
    this.#source = this.#ports.open(wanted, {
      opened: () => {
        this.#failures = 0;
        this.connection.value = 'live';
      },
      data: (path, body) => this.#show(path, { data: body, error: null, state: 'live' }),
      refused: (path, status, code) => this.#refuse(path, status, code),
      failed: (isRefused) => this.#failed(isRefused),
    });
    this.#pollLater(this.#isAllStreamed() ? SAFETY_POLL_MS : POLL_MS);
  }

  #isAllStreamed(): boolean {
    return this.#streamed.length === this.#watches.size;
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
    this.#streamed = [];
    for (const callOff of [this.#reopen, this.#poll]) callOff?.();
    this.#reopen = null;
    this.#poll = null;
  }

  #failed(isRefused: boolean): void {
    this.#close();
    this.connection.value = isRefused ? 'polling' : 'reconnecting';
    if (!isRefused) this.#markAll('reconnecting');
    const wait = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** this.#failures);
    this.#failures += 1;
    this.#reopen = this.#ports.later(wait * (0.75 + this.#ports.random() / 2), () => this.#open());
    this.#pollLater(POLL_MS);
  }

  #pollLater(ms: number): void {
    this.#poll?.();
    this.#poll = this.#ports.later(ms, () => {
      this.#poll = null;
      void this.#pollOnce();
    });
  }

  async #pollOnce(): Promise<void> {
    await this.#askAll(true);
    if (this.#poll !== null || this.#ports.isHidden() || this.#watches.size === 0) return;
    this.#pollLater(this.#source !== null && this.#isAllStreamed() ? SAFETY_POLL_MS : POLL_MS);
  }

  async #ask(path: string, watch: Watch, isAutomatic: boolean): Promise<void> {
    const { version } = watch;
    try {
      const data = await this.#ports.get(path, isAutomatic);
      if (watch.version !== version) return;
      watch.isRefused = false;
      this.#show(path, { data, error: null, state: 'live' });
    } catch (cause) {
      if (watch.version !== version) return;
      const error = asApiError(cause);
      // What was shown before is better than nothing, unless the service says that there is nothing.
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
    // The answer to a plain request says more than its code.
    const error =
      shown.error?.code === code
        ? shown.error
        : new ApiError(status, code, 'This can no longer be seen here.');
    this.#show(path, { data: status === 404 ? null : shown.data, error, state: 'stale' });
  }

  #markAll(state: Live<unknown>['state']): void {
    for (const { view } of this.#watches.values()) {
      if (view.peek().state === 'live') view.value = { ...view.peek(), state };
    }
  }
}
