/**
 * A stream of server-sent events that comes back by itself after 1, 2, 4 … seconds. A browser opens at most six connections
 * to one host for all its tabs, so a hidden page has no stream.
 */
import { signal } from '@preact/signals';

export type Connection = 'idle' | 'live' | 'reconnecting' | 'polling';

const RECONNECT_MS_MIN = 1_000;

export interface StreamSource {
  close(): void;
}

export interface StreamListener {
  opened(): void;
  /** `isRefused`: the response was not a stream. */
  failed(isRefused: boolean): void;
}

export interface StreamDependencies {
  /** Returns null if there is nothing to listen to. */
  connect(listener: StreamListener): StreamSource | null;
  failed?(isRefused: boolean): void;
  /** Runs an action later. Returns a function that cancels it. */
  later(ms: number, action: () => void): () => void;
  isHidden(): boolean;
  random(): number;
  readonly reconnectMsMax: number;
}

export class EventStream {
  readonly connection = signal<Connection>('idle');
  readonly #ports: StreamDependencies;
  #source: StreamSource | null = null;
  #failures = 0;
  #reopen: (() => void) | null = null;

  constructor(ports: StreamDependencies) {
    this.#ports = ports;
  }

  get isOpen(): boolean {
    return this.#source !== null;
  }

  open(): void {
    this.close();
    const ports = this.#ports;
    this.#source = ports.isHidden()
      ? null
      : ports.connect({
          opened: () => {
            this.#failures = 0;
            this.connection.value = 'live';
          },
          failed: (isRefused) => this.#failed(isRefused),
        });
    if (this.#source === null) this.connection.value = 'idle';
  }

  /** Call it when the page was hidden or shown, or when the network is back. */
  wake(): void {
    this.#failures = 0;
    this.open();
  }

  close(): void {
    this.#source?.close();
    this.#source = null;
    this.#reopen?.();
    this.#reopen = null;
  }

  #failed(isRefused: boolean): void {
    this.close();
    const ports = this.#ports;
    this.connection.value = isRefused ? 'polling' : 'reconnecting';
    const wait = Math.min(ports.reconnectMsMax, RECONNECT_MS_MIN * 2 ** this.#failures);
    this.#failures += 1;
    this.#reopen = ports.later(wait * (0.75 + ports.random() / 2), () => this.open());
    ports.failed?.(isRefused);
  }
}

/** The parts of `StreamDependencies` that the browser has. */
export const BROWSER = {
  later: (ms: number, action: () => void) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  isHidden: () => document.hidden,
  random: Math.random,
};

export function onWake(wake: () => void): void {
  document.addEventListener('visibilitychange', wake);
  addEventListener('online', wake);
}

/** Opens the stream at a URL. `handlers` get the text of each event by its name. */
export function openSource(
  url: string,
  handlers: Readonly<Record<string, (data: string, id: string) => void>>,
  listener: StreamListener,
): StreamSource {
  const source = new EventSource(url);
  source.addEventListener('open', () => listener.opened());
  for (const name of Object.keys(handlers)) {
    source.addEventListener(name, (event) => handlers[name]?.(event.data as string, event.lastEventId));
  }
  source.addEventListener('error', () => {
    const isRefused = source.readyState === EventSource.CLOSED;
    source.close();
    listener.failed(isRefused);
  });
  return source;
}
