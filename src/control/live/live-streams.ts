/**
 * `GET live` sends changes to open pages as server-sent events (`LiveEvent` in `http/contract.ts`).
 *
 * A page names the paths it watches. Each path is polled through the same routes and checks as if the page requested it
 * again and again. Users with the same role and the same projects share one watch. The session of each stream is
 * checked about every second. The stream ends when the session ends or the user's rights change.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { describeError } from '#src/control/http/errors.ts';
import type { Caller } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import { Watch, type WatchDependencies, type WatchEvent, type WatchListener } from './watch.ts';

export const WATCHES_MAX = 6;
export const STREAMS_MAX = 32;
export const STREAMS_PER_USER_MAX = 8;
const WATCH_CHARACTERS_MAX = 2_048;
const SESSION_CHECK_MS = 800;
/** A comment is sent this often, so that both sides notice a broken connection. */
const HEARTBEAT_MS = 15_000;
/** A page with more unread bytes is disconnected before the next event. It reconnects by itself. */
const UNREAD_BYTES_MAX = 1_048_576;
const RECONNECT_MS = 1_000;
const RECONNECT_WHEN_FULL_MS = 5_000;
const PROJECT_PREFIX = 'p/';
/** Stands for the request id in the log. */
const REQUEST_ID = 'live';
const SIGNED_OUT: WatchEvent = { event: 'refused', status: 401, code: 'not_signed_in' };

export interface StreamRequest {
  readonly caller: Caller;
  /** Reads the session again, and rejects when it has ended. This must not count as use of the session. */
  readonly recheck: () => Promise<Caller>;
  readonly query: URLSearchParams;
  /** The headers that every answer has. */
  readonly headers: OutgoingHttpHeaders;
  readonly response: ServerResponse;
}

export class LiveStreams {
  readonly #dependencies: WatchDependencies;
  readonly #watches = new Map<string, Watch>();
  readonly #streams = new Set<Stream>();

  constructor(dependencies: WatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** Refuses an invalid request before anything is written. */
  open(request: StreamRequest): void {
    const paths = readWatches(request.query);
    const { caller, headers, response } = request;
    // The client disconnected while its session was read. No further `close` event will follow.
    if (response.destroyed) return;
    const isFull = this.#streams.size >= STREAMS_MAX || this.#countOf(caller) >= STREAMS_PER_USER_MAX;
    response.on('error', () => {});
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${isFull ? RECONNECT_WHEN_FULL_MS : RECONNECT_MS}\n\n`);
    if (isFull) {
      response.end();
      return;
    }
    const stream = new Stream(this.#dependencies, request, paths, (ended) => this.#remove(ended));
    this.#streams.add(stream);
    for (const path of paths) this.#watchOf(caller, path).add(stream);
  }

  end(): void {
    for (const stream of this.#streams) stream.end();
  }

  #countOf({ user }: Caller): number {
    return [...this.#streams].filter(({ caller }) => caller.user.id === user.id).length;
  }

  #watchOf(caller: Caller, path: string): Watch {
    const key = keyOf(caller, path);
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const watch = new Watch(this.#dependencies, path, () => this.#watches.delete(key));
    this.#watches.set(key, watch);
    return watch;
  }

  #remove(stream: Stream): void {
    this.#streams.delete(stream);
    for (const path of stream.paths) this.#watches.get(keyOf(stream.caller, path))?.remove(stream);
  }
}

/**
 * Callers with the same key get the same answers, since the role and the projects decide what is visible. A path
 * outside a project may belong to one user, such as their sessions, so its watch is not shared.
 */
function keyOf({ user, session }: Caller, path: string): string {
  const whose = path.startsWith(PROJECT_PREFIX) ? null : session.hash;
  return JSON.stringify([user.role, user.projects, whose, path]);
}

function readWatches(query: URLSearchParams): readonly string[] {
  const paths = [...new Set(query.getAll('watch'))];
  const isValid =
    paths.length > 0 &&
    paths.length <= WATCHES_MAX &&
    paths.every((path) => path !== '' && path.length <= WATCH_CHARACTERS_MAX);
  if (!isValid) throw new Refusal('invalid_request', 'watch', `watch must name 1 to ${WATCHES_MAX} paths.`);
  return paths;
}

class Stream implements WatchListener {
  readonly caller: Caller;
  readonly paths: readonly string[];
  readonly #dependencies: WatchDependencies;
  readonly #response: ServerResponse;
  readonly #recheck: () => Promise<Caller>;
  readonly #onEnd: (stream: Stream) => void;
  readonly #tasks: readonly PeriodicTask[];
  #hasEnded = false;

  constructor(
    dependencies: WatchDependencies,
    { caller, recheck, response }: StreamRequest,
    paths: readonly string[],
    onEnd: (stream: Stream) => void,
  ) {
    this.caller = caller;
    this.paths = paths;
    this.#dependencies = dependencies;
    this.#response = response;
    this.#recheck = recheck;
    this.#onEnd = onEnd;
    response.once('close', () => this.end());
    const { timers } = dependencies;
    const heartbeat = new PeriodicTask(timers, () => this.#sendHeartbeat());
    const sessionCheck = new PeriodicTask(timers, () => this.#checkSession());
    this.#tasks = [heartbeat, sessionCheck];
    heartbeat.runWithin(HEARTBEAT_MS);
    sessionCheck.runWithin(SESSION_CHECK_MS);
  }

  send(path: string, event: WatchEvent): void {
    const watch = JSON.stringify(path);
    const rest =
      event.event === 'data'
        ? `"body":${event.body}`
        : `"status":${event.status},"code":${JSON.stringify(event.code)}`;
    this.#write(`event: ${event.event}\ndata: {"event":"${event.event}","watch":${watch},${rest}}\n\n`);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const task of this.#tasks) void task.stop();
    this.#onEnd(this);
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#hasEnded) return;
    if (this.#response.writableLength > UNREAD_BYTES_MAX) this.#response.destroy();
    else this.#response.write(text);
  }

  #sendHeartbeat(): number {
    this.#write(':\n\n');
    return HEARTBEAT_MS;
  }

  async #checkSession(): Promise<Wait> {
    const hasSameRights = await this.#hasSameRights();
    if (hasSameRights || this.#hasEnded) return SESSION_CHECK_MS;
    for (const path of this.paths) this.send(path, SIGNED_OUT);
    this.end();
    return null;
  }

  async #hasSameRights(): Promise<boolean> {
    try {
      const { user } = await this.#recheck();
      return keyOf({ ...this.caller, user }, '') === keyOf(this.caller, '');
    } catch (error) {
      // While the store is unavailable the watches send nothing either, so the stream may stay open.
      return describeError(error, REQUEST_ID, this.#dependencies.log).status >= 500;
    }
  }
}
