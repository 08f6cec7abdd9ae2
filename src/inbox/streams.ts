/**
 * The pages that are open, told of changes by server-sent events.
 *
 * The id of an event names the life of the service and the number of the change. A page that comes back gets what
 * changed after the last event it has seen; one that has seen another life, or nothing, gets everything. Each
 * event says how a thing is now, not what happened to it: to hear of it twice does no harm.
 */
import type { ServerResponse } from 'node:http';
import type { Timers } from '#src/ports/timers.ts';

const STREAMS_MAX = 32;
/** A comment now and then: what is cut off in between is noticed, on both sides. */
const HEARTBEAT_MS = 15_000;
/** A page that does not keep up is cut off; it comes back and is told what it missed. */
const UNREAD_BYTES_MAX = 4 * 1_048_576;
const RECONNECT_MS = 1_000;
const RECONNECT_WHEN_FULL_MS = 5_000;

export interface StreamEvent {
  readonly name: 'hello' | 'arrival' | 'answer' | 'cleared' | 'full';
  readonly change: number;
  readonly data: unknown;
}

export class Streams {
  readonly #life: string;
  readonly #timers: Timers;
  readonly #open = new Set<ServerResponse>();
  #stopHeartbeat: (() => void) | null = null;

  constructor(life: string, timers: Timers) {
    this.#life = life;
    this.#timers = timers;
  }

  /** The number of the last change that whoever sends this id has seen; 0 when that is none of this life. */
  seenBy(lastEventId: string | null): number {
    const [life, change = ''] = (lastEventId ?? '').split('-');
    return life === this.#life && /^\d{1,15}$/.test(change) ? Number(change) : 0;
  }

  /** `events`: what brings the page up to date. */
  open(
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    events: readonly StreamEvent[],
  ): void {
    response.on('error', () => {});
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    if (this.#open.size >= STREAMS_MAX) {
      response.end(`retry: ${RECONNECT_WHEN_FULL_MS}\nevent: full\ndata: ${STREAMS_MAX}\n\n`);
      return;
    }
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#open.add(response);
    response.once('close', () => this.#forget(response));
    for (const event of events) this.#write(response, this.#textOf(event));
    this.#stopHeartbeat ??= this.#beat();
  }

  send(event: StreamEvent): void {
    if (this.#open.size === 0) return;
    const text = this.#textOf(event);
    for (const response of this.#open) this.#write(response, text);
  }

  end(): void {
    for (const response of this.#open) {
      this.#forget(response);
      response.end();
    }
  }

  #textOf({ name, change, data }: StreamEvent): string {
    return `id: ${this.#life}-${change}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #write(response: ServerResponse, text: string): void {
    response.write(text);
    if (response.writableLength > UNREAD_BYTES_MAX) response.destroy();
  }

  #forget(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size > 0) return;
    this.#stopHeartbeat?.();
    this.#stopHeartbeat = null;
  }

  #beat(): () => void {
    return this.#timers.after(HEARTBEAT_MS, () => {
      for (const response of this.#open) this.#write(response, ':\n\n');
      this.#stopHeartbeat = this.#open.size > 0 ? this.#beat() : null;
    });
  }
}
