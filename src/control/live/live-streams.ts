/**
 * `GET live` sends changes to open pages as server-sent events (`LiveEvent` in `http/contract.ts`).
 *
 * A page names the paths it watches. Each path is polled through the same routes and checks as if the page requested it
 * again and again. Users with the same role and the same projects share one watch. The session of each stream is
 * checked about every second. The stream ends when the session ends or the user's rights change.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { z } from 'zod';
import { describeError } from '#src/control/http/errors.ts';
import { readInput } from '#src/control/http/fields.ts';
import type { Caller } from '#src/control/http/route.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import { type EventStream, EventStreams } from '#src/web/event-streams.ts';
import { REQUEST_ID, Watch, type WatchDependencies, type WatchEvent, type WatchListener } from './watch.ts';

export const WATCHES_MAX = 6;
const WATCH_CHARACTERS_MAX = 2_048;
const MUST_NAME_PATHS = `watch must name 1 to ${WATCHES_MAX} paths.`;
const WATCHES = z.object({
  watch: z
    .array(z.string().min(1, MUST_NAME_PATHS).max(WATCH_CHARACTERS_MAX, MUST_NAME_PATHS))
    .min(1, MUST_NAME_PATHS)
    .max(WATCHES_MAX, MUST_NAME_PATHS),
});
const SESSION_CHECK_MS = 800;
const PROJECT_PREFIX = 'p/';
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
  readonly #streams: EventStreams;

  constructor(dependencies: WatchDependencies) {
    this.#dependencies = dependencies;
    this.#streams = new EventStreams(dependencies.timers);
  }

  /** Refuses an invalid request before anything is written. */
  open(request: StreamRequest): void {
    const paths = readWatches(request.query);
    const { caller, headers, response } = request;
    const opened = this.#streams.open(response, { headers, owner: caller.user.id });
    if (opened === null) return;
    const stream = new LiveStream(this.#dependencies, request, paths, opened);
    opened.onEnd(() => {
      for (const path of paths) this.#watches.get(keyOf(caller, path))?.remove(stream);
    });
    for (const path of paths) this.#watchOf(caller, path).add(stream);
  }

  end(): void {
    this.#streams.end();
  }

  #watchOf(caller: Caller, path: string): Watch {
    const key = keyOf(caller, path);
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const watch = new Watch(this.#dependencies, path, () => this.#watches.delete(key));
    this.#watches.set(key, watch);
    return watch;
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
  return readInput(WATCHES, { watch: [...new Set(query.getAll('watch'))] }).watch;
}

class LiveStream implements WatchListener {
  readonly caller: Caller;
  readonly #paths: readonly string[];
  readonly #dependencies: WatchDependencies;
  readonly #stream: EventStream;
  readonly #recheck: () => Promise<Caller>;

  constructor(
    dependencies: WatchDependencies,
    { caller, recheck }: StreamRequest,
    paths: readonly string[],
    stream: EventStream,
  ) {
    this.caller = caller;
    this.#paths = paths;
    this.#dependencies = dependencies;
    this.#stream = stream;
    this.#recheck = recheck;
    const sessionCheck = new PeriodicTask(dependencies.timers, () => this.#checkSession());
    sessionCheck.runWithin(SESSION_CHECK_MS);
    stream.onEnd(() => void sessionCheck.stop());
  }

  send(path: string, event: WatchEvent): void {
    const watch = JSON.stringify(path);
    const rest =
      event.event === 'data'
        ? `"body":${event.body}`
        : `"status":${event.status},"code":${JSON.stringify(event.code)}`;
    this.#stream.send({ name: event.event, data: `{"event":"${event.event}","watch":${watch},${rest}}` });
  }

  async #checkSession(): Promise<Wait> {
    const hasSameRights = await this.#hasSameRights();
    if (hasSameRights || this.#stream.hasEnded) return SESSION_CHECK_MS;
    for (const path of this.#paths) this.send(path, SIGNED_OUT);
    this.#stream.end();
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
