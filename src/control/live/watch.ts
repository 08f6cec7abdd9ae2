/**
 * Polls one path for all live pages that get the same answer. Every page is sent the answer when it has changed. A page
 * that joins later is sent the last answer at once.
 *
 * Polling takes time of the thread that sends deliveries. So a slower answer is polled less often, but still often
 * enough that a change is on the page within a second. The store answers expensive reads on another thread.
 */
import { describeError } from '#src/control/http/errors.ts';
import type { Answer, Caller } from '#src/control/http/route.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const POLL_MS = 300;
/** The pause after a poll is this many times as long as the poll took, up to the maximum. */
const PAUSE_RATIO = 20;
const PAUSE_MS_MAX = 600;
/** An unavailable store is polled less often. */
const FAILED_PAUSE_MS = 2_000;
/** Changes that are not news by themselves, such as the present time, are sent this often. */
const REFRESH_MS = 10_000;
/** Stands for the request id in the log. */
export const REQUEST_ID = 'live';

export interface WatchDependencies {
  readonly timers: Timers & Stopwatch;
  readonly log: Log;
  /** Returns the answer to a GET of this path by this caller. Rejects as the route does. */
  readonly get: (caller: Caller, path: string) => Promise<Answer>;
}

export type WatchEvent =
  | { readonly event: 'data'; readonly body: string }
  /** The path is refused from now on. No further event follows. */
  | { readonly event: 'refused'; readonly status: number; readonly code: string };

export interface WatchListener {
  readonly caller: Caller;
  send(path: string, event: WatchEvent): void;
}

interface SentAnswer {
  readonly body: string;
  readonly comparedBody: string;
  readonly sentAt: number;
}

export class Watch {
  readonly #dependencies: WatchDependencies;
  readonly #path: string;
  readonly #onEnd: () => void;
  readonly #listeners = new Set<WatchListener>();
  #last: SentAnswer | null = null;
  readonly #task: PeriodicTask;
  #hasEnded = false;

  /** `onEnd` is called when the last listener leaves, or when the path is refused. */
  constructor(dependencies: WatchDependencies, path: string, onEnd: () => void) {
    this.#dependencies = dependencies;
    this.#path = path;
    this.#onEnd = onEnd;
    this.#task = new PeriodicTask(dependencies.timers, () => this.#poll());
  }

  add(listener: WatchListener): void {
    this.#listeners.add(listener);
    if (this.#last !== null) listener.send(this.#path, { event: 'data', body: this.#last.body });
    if (this.#listeners.size === 1) this.#task.runNow();
  }

  remove(listener: WatchListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end();
  }

  async #poll(): Promise<Wait> {
    const [first] = this.#listeners;
    if (first === undefined) return null;
    const { get, timers, log } = this.#dependencies;
    const beganAt = timers.elapsed();
    let pauseMs = POLL_MS;
    try {
      this.#sendIfChanged(await get(first.caller, this.#path));
    } catch (error) {
      const { status, code } = describeError(error, REQUEST_ID, log);
      if (status < 500) {
        this.#refuse(status, code);
        return null;
      }
      pauseMs = FAILED_PAUSE_MS;
    }
    const tookMs = timers.elapsed() - beganAt;
    return Math.max(pauseMs, Math.min(PAUSE_RATIO * tookMs, PAUSE_MS_MAX));
  }

  #sendIfChanged({ body, comparedBody = body }: Answer): void {
    const now = this.#dependencies.timers.elapsed();
    const last = this.#last;
    const hasChanged =
      last?.comparedBody !== comparedBody || (last.body !== body && now - last.sentAt >= REFRESH_MS);
    if (!hasChanged) return;
    this.#last = { body, comparedBody, sentAt: now };
    for (const listener of this.#listeners) listener.send(this.#path, { event: 'data', body });
  }

  #refuse(status: number, code: string): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#end();
    for (const listener of listeners) listener.send(this.#path, { event: 'refused', status, code });
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#task.stop();
    this.#onEnd();
  }
}
