/**
 * One question of live pages, asked again and again for all who would get the same answer. It is told to everyone when
 * there is news in it, and to whoever comes later at once as it was told last.
 *
 * Asking is work of the thread that fires: an answer that takes longer is asked for less often, but never so seldom
 * that a change would not be on the page within a second. What takes long is looked up aside from that thread.
 */
import { describeError } from '#src/control/http/errors.ts';
import type { Answer, Caller } from '#src/control/http/route.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const ASKED_EVERY_MS = 300;
/** So many times as long as it took, nothing is asked; at most for so long. */
const REST_RATIO = 20;
const REST_MS_MAX = 600;
/** A store that is away is not asked as often. */
const FAILED_REST_MS = 2_000;
/** What is not news by itself, such as the time, is told now and then. */
const TOLD_ANYWAY_MS = 10_000;
const LOGGED_AS = 'live';

export interface WatchDependencies {
  readonly timers: Timers & Stopwatch;
  readonly log: Log;
  /** What a GET of this path answers this caller; rejects as the route does. */
  readonly get: (caller: Caller, path: string) => Promise<Answer>;
}

export type WatchEvent =
  | { readonly event: 'data'; readonly body: string }
  /** It cannot be had any more; nothing follows. */
  | { readonly event: 'refused'; readonly status: number; readonly code: string };

export interface WatchListener {
  readonly caller: Caller;
  send(path: string, told: WatchEvent): void;
}

interface Last {
  readonly body: string;
  readonly news: string;
  readonly toldAt: number;
}

export class Watch {
  readonly #dependencies: WatchDependencies;
  readonly #path: string;
  readonly #onEnd: () => void;
  readonly #listeners = new Set<WatchListener>();
  #last: Last | null = null;
  readonly #task: PeriodicTask;
  #isOver = false;

  /** `onEnd`: nobody listens any more, or it was refused. */
  constructor(dependencies: WatchDependencies, path: string, onEnd: () => void) {
    this.#dependencies = dependencies;
    this.#path = path;
    this.#onEnd = onEnd;
    this.#task = new PeriodicTask(dependencies.timers, () => this.#ask());
  }

  add(listener: WatchListener): void {
    this.#listeners.add(listener);
    if (this.#last !== null) listener.send(this.#path, { event: 'data', body: this.#last.body });
    if (this.#listeners.size === 1) this.#task.runNow();
  }

  remove(listener: WatchListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end();
  }

  async #ask(): Promise<Wait> {
    const [first] = this.#listeners;
    if (first === undefined) return null;
    const { get: ask, timers, log } = this.#dependencies;
    const beganAt = timers.elapsed();
    let restMs = ASKED_EVERY_MS;
    try {
      this.#take(await ask(first.caller, this.#path));
    } catch (error) {
      const { status, code } = describeError(error, LOGGED_AS, log);
      if (status < 500) {
        this.#refuse(status, code);
        return null;
      }
      restMs = FAILED_REST_MS;
    }
    const tookMs = timers.elapsed() - beganAt;
    return Math.max(restMs, Math.min(REST_RATIO * tookMs, REST_MS_MAX));
  }

  #take({ body, comparedBody: news = body }: Answer): void {
    const now = this.#dependencies.timers.elapsed();
    const last = this.#last;
    const isNews = last?.news !== news || (last.body !== body && now - last.toldAt >= TOLD_ANYWAY_MS);
    if (!isNews) return;
    this.#last = { body, news, toldAt: now };
    for (const listener of this.#listeners) listener.send(this.#path, { event: 'data', body });
  }

  #refuse(status: number, code: string): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#end();
    for (const listener of listeners) listener.send(this.#path, { event: 'refused', status, code });
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#task.stop();
    this.#onEnd();
  }
}
