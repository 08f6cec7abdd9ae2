/**
 * `GET live`: the open pages, told of changes by server-sent events (`LiveEvent` in `http/contract.ts`).
 *
 * A page names the paths it watches. Each is asked through the same routes, with the same checks, as if the page asked
 * again and again; people with the same role and the same projects share the asking. Whose session is looked up every
 * second: when it is over, or the person may do something else than when the stream began, the stream ends.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { describeError } from '#src/control/http/errors.ts';
import type { Caller } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import { Watch, type WatchDependencies, type WatchEvent, type WatchListener } from './watch.ts';

export const WATCHES_MAX = 6;
export const STREAMS_MAX = 32;
export const STREAMS_OF_ONE_MAX = 8;
const WATCH_CHARACTERS_MAX = 2_048;
const SESSION_CHECK_MS = 800;
/** A comment now and then: what is cut off in between is noticed, on both sides. */
const HEARTBEAT_MS = 15_000;
/** A page that has so much left to read when there is more to tell is cut off; it comes back. */
const UNREAD_BYTES_MAX = 1_048_576;
const RECONNECT_MS = 1_000;
const RECONNECT_WHEN_FULL_MS = 5_000;
const OF_A_PROJECT = 'p/';
const LOGGED_AS = 'live';
const SIGNED_OUT: WatchEvent = { event: 'refused', status: 401, code: 'not_signed_in' };

export interface StreamRequest {
  readonly caller: Caller;
  /** Who it is now; rejects when the session is over. Looking must not count as using it. */
  readonly recheck: () => Promise<Caller>;
  readonly query: URLSearchParams;
  /** Those that every answer has. */
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

  /** Refuses what cannot be watched before anything is written. */
  open(opening: StreamRequest): void {
    const paths = readWatches(opening.query);
    const { caller, headers, response } = opening;
    // Gone while it was looked up who they are: that it is closed is not told a second time.
    if (response.destroyed) return;
    const isFull = this.#streams.size >= STREAMS_MAX || this.#countOf(caller) >= STREAMS_OF_ONE_MAX;
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
    const stream = new Stream(this.#dependencies, opening, paths, (ended) => this.#forget(ended));
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

  #forget(stream: Stream): void {
    this.#streams.delete(stream);
    for (const path of stream.paths) this.#watches.get(keyOf(stream.caller, path))?.remove(stream);
  }
}

/**
 * Who gets the same answers: role and projects decide what is seen of a project. What is of no project may be of one
 * person alone, such as their sessions, and is shared with nobody.
 */
function keyOf({ user, session }: Caller, path: string): string {
  const whose = path.startsWith(OF_A_PROJECT) ? null : session.hash;
  return JSON.stringify([user.role, user.projects, whose, path]);
}

function readWatches(query: URLSearchParams): readonly string[] {
  const paths = [...new Set(query.getAll('watch'))];
  const isFine =
    paths.length > 0 &&
    paths.length <= WATCHES_MAX &&
    paths.every((path) => path !== '' && path.length <= WATCH_CHARACTERS_MAX);
  if (!isFine)
    throw new Refusal('invalid_request', 'watch', `Between 1 and ${WATCHES_MAX} paths can be watched.`);
  return paths;
}

class Stream implements WatchListener {
  readonly caller: Caller;
  readonly paths: readonly string[];
  readonly #dependencies: WatchDependencies;
  readonly #response: ServerResponse;
  readonly #lookUp: () => Promise<Caller>;
  readonly #onEnd: (stream: Stream) => void;
  readonly #tasks: readonly PeriodicTask[];
  #isOver = false;

  constructor(
    dependencies: WatchDependencies,
    { caller, recheck: lookUp, response }: StreamRequest,
    paths: readonly string[],
    onEnd: (stream: Stream) => void,
  ) {
    this.caller = caller;
    this.paths = paths;
    this.#dependencies = dependencies;
    this.#response = response;
    this.#lookUp = lookUp;
    this.#onEnd = onEnd;
    response.once('close', () => this.end());
    const { timers } = dependencies;
    const heartbeat = new PeriodicTask(timers, () => this.#beat());
    const sessionCheck = new PeriodicTask(timers, () => this.#checkSession());
    this.#tasks = [heartbeat, sessionCheck];
    heartbeat.runWithin(HEARTBEAT_MS);
    sessionCheck.runWithin(SESSION_CHECK_MS);
  }

  send(path: string, told: WatchEvent): void {
    const watch = JSON.stringify(path);
    const rest =
      told.event === 'data'
        ? `"body":${told.body}`
        : `"status":${told.status},"code":${JSON.stringify(told.code)}`;
    this.#write(`event: ${told.event}\ndata: {"event":"${told.event}","watch":${watch},${rest}}\n\n`);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const task of this.#tasks) void task.stop();
    this.#onEnd(this);
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#isOver) return;
    if (this.#response.writableLength > UNREAD_BYTES_MAX) this.#response.destroy();
    else this.#response.write(text);
  }

  #beat(): number {
    this.#write(':\n\n');
    return HEARTBEAT_MS;
  }

  async #checkSession(): Promise<Wait> {
    const isSame = await this.#isSame();
    if (isSame || this.#isOver) return SESSION_CHECK_MS;
    for (const path of this.paths) this.send(path, SIGNED_OUT);
    this.end();
    return null;
  }

  async #isSame(): Promise<boolean> {
    try {
      const { user } = await this.#lookUp();
      return keyOf({ ...this.caller, user }, '') === keyOf(this.caller, '');
    } catch (error) {
      // While the store is away nothing can be told either.
      return describeError(error, LOGGED_AS, this.#dependencies.log).status >= 500;
    }
  }
}
