/**
 * Open pages that receive changes as server-sent events. The number of pages is limited, and so are the bytes that a page
 * has not read. A page that is refused or disconnected comes back by itself, and gets what it missed.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Timers } from '#src/ports/system.ts';

export const STREAMS_MAX = 32;
export const STREAMS_PER_OWNER_MAX = 8;
/** A comment is sent this often, so that both sides notice a broken connection. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ':\n\n';
/** A page with more unread bytes is disconnected before the next event. */
const UNREAD_BYTES_MAX = 1_048_576;
const RECONNECT_MS = 1_000;
const RECONNECT_WHEN_FULL_MS = 5_000;

export interface StreamEvent {
  readonly name: string;
  /** JSON in one line. */
  readonly data: string;
  /** The browser sends the id of the last event when it reconnects. */
  readonly id?: string;
}

export interface StreamOptions {
  /** The headers that every answer has. */
  readonly headers: OutgoingHttpHeaders;
  /** Streams of one owner have a limit of their own. */
  readonly owner?: string;
  /** These events bring the page up to date. */
  readonly first?: readonly StreamEvent[];
}

export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #heartbeat: PeriodicTask;

  constructor(timers: Timers) {
    this.#heartbeat = new PeriodicTask(timers, () => {
      for (const stream of this.#open) stream.write(HEARTBEAT);
      return HEARTBEAT_MS;
    });
  }

  /** Returns null if the client has left already, or if too many streams are open. The page is told so. */
  open(response: ServerResponse, { headers, owner, first = [] }: StreamOptions): EventStream | null {
    // No `close` event will follow.
    if (response.destroyed) return null;
    response.on('error', () => {});
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    if (this.#isFullFor(owner)) {
      const full = { name: 'full', data: String(this.#open.size) };
      response.end(`retry: ${RECONNECT_WHEN_FULL_MS}\n${textOf(full)}`);
      return null;
    }
    const stream = new EventStream(response, owner);
    this.#open.add(stream);
    stream.onEnd(() => {
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#heartbeat.cancel();
    });
    // One write, so that the events that a page begins with never count as unread.
    stream.write(`retry: ${RECONNECT_MS}\n\n${first.map(textOf).join('')}`);
    this.#heartbeat.runWithin(HEARTBEAT_MS);
    return stream;
  }

  /** Sends an event to all pages. */
  send(event: StreamEvent): void {
    if (this.#open.size === 0) return;
    const text = textOf(event);
    for (const stream of this.#open) stream.write(text);
  }

  end(): void {
    for (const stream of this.#open) stream.end();
  }

  #isFullFor(owner: string | undefined): boolean {
    if (this.#open.size >= STREAMS_MAX) return true;
    if (owner === undefined) return false;
    return [...this.#open].filter((stream) => stream.owner === owner).length >= STREAMS_PER_OWNER_MAX;
  }
}

export class EventStream {
  readonly owner: string | undefined;
  readonly #response: ServerResponse;
  readonly #onEnd: (() => void)[] = [];
  #hasEnded = false;

  constructor(response: ServerResponse, owner: string | undefined) {
    this.#response = response;
    this.owner = owner;
    response.once('close', () => this.end());
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The action runs once, when either side has ended the stream. */
  onEnd(action: () => void): void {
    this.#onEnd.push(action);
  }

  send(event: StreamEvent): void {
    this.write(textOf(event));
  }

  write(text: string): void {
    if (this.#hasEnded) return;
    if (this.#response.writableLength > UNREAD_BYTES_MAX) this.#response.destroy();
    else this.#response.write(text);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const act of this.#onEnd) act();
    this.#response.end();
  }
}

function textOf({ id, name, data }: StreamEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
}
