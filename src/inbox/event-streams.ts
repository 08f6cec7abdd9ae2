/**
 * The open inbox pages, which receive changes as server-sent events.
 *
 * The id of an event names the run of the service and the version of the change. A page that reconnects gets
 * what changed after the last event it has seen. A page that has seen another run, or nothing, gets
 * everything. Each event carries the present state and not the change, so receiving it twice does no harm.
 */
import type { ServerResponse } from 'node:http';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Timers } from '#src/ports/system.ts';

const STREAMS_MAX = 32;
/** A comment is sent at this interval, so that both sides notice a lost connection. */
const HEARTBEAT_MS = 15_000;
/** A page that does not keep up is disconnected. It reconnects and gets what it missed. */
const UNREAD_BYTES_MAX = 4 * 1_048_576;
const RECONNECT_MS = 1_000;
const RECONNECT_WHEN_FULL_MS = 5_000;

export interface StreamEvent {
  readonly name: 'hello' | 'arrival' | 'answer' | 'cleared' | 'full';
  readonly version: number;
  readonly data: unknown;
}

export class EventStreams {
  readonly #runId: string;
  readonly #open = new Set<ServerResponse>();
  readonly #heartbeat: PeriodicTask;

  constructor(runId: string, timers: Timers) {
    this.#runId = runId;
    this.#heartbeat = new PeriodicTask(timers, () => {
      for (const response of this.#open) this.#write(response, ':\n\n');
      return this.#open.size > 0 ? HEARTBEAT_MS : null;
    });
  }

  /** Returns the version that a page with this last event id has seen, or 0 if it is of another run. */
  seenVersion(lastEventId: string | null): number {
    const [runId, version = ''] = (lastEventId ?? '').split('-');
    return runId === this.#runId && /^\d{1,15}$/.test(version) ? Number(version) : 0;
  }

  /** `events` bring the page up to date. */
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
    response.once('close', () => this.#remove(response));
    for (const event of events) this.#write(response, this.#textOf(event));
    this.#heartbeat.runWithin(HEARTBEAT_MS);
  }

  send(event: StreamEvent): void {
    if (this.#open.size === 0) return;
    const text = this.#textOf(event);
    for (const response of this.#open) this.#write(response, text);
  }

  close(): void {
    for (const response of this.#open) {
      this.#remove(response);
      response.end();
    }
  }

  #textOf({ name, version, data }: StreamEvent): string {
    return `id: ${this.#runId}-${version}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #write(response: ServerResponse, text: string): void {
    response.write(text);
    if (response.writableLength > UNREAD_BYTES_MAX) response.destroy();
  }

  #remove(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size === 0) this.#heartbeat.cancel();
  }
}
