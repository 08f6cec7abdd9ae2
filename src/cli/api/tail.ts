/**
 * Deliveries as they happen, seen from outside: the interface has no stream, only lists by creation and single
 * objects. So, about once a second:
 *
 * 1. what was created since the last round comes from the list, newest first (with an overlap: what is created
 *    at the same moment on several nodes does not appear in exact order);
 * 2. some pages each of what waits for its first and for its next attempt and of what is paused: walks that go on
 *    where they stopped and begin anew at the end. They find what was moved, resumed or let go from the watch;
 *    and what none of them, gone once from end to end, has met does not wait any more;
 * 3. whatever in the watch is due by now is read, with its new attempts.
 *
 * Everything has a bound: the watch, the pages of a round, the looks of a round and how many run at once.
 */
import { type Attempt, type Delivery, NotFoundError, type Sched, SchedError } from '#sdk/index.ts';
import { pause } from '#src/cli/pause.ts';
import { formatInstant, type Instant, instant, parseInstant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { Timers } from '#src/ports/timers.ts';
import { isEnded, WATCHED_MAX, Watch, type Watched } from './tail-watch.ts';

const ROUND_MS = 1_000;
const ROUND_MS_AFTER_TROUBLE = 3_000;
const PAGE_ITEMS = 100;
const NEW_ITEMS_MAX = 2_000;
const OVERLAP_MS = 2_000;
const LOOKS_MAX = 200;
const LOOKS_AT_ONCE = 8;
/** Of each list, in a round. */
const WALKED_PAGES_MAX = 10;
const WALKED = ['scheduled', 'retry_scheduled', 'paused'] as const;

export type TailEvent =
  | { readonly kind: 'attempt'; readonly delivery: Delivery; readonly attempt: Attempt }
  /** `isTold`: by the last attempt, in the same breath. */
  | { readonly kind: 'end'; readonly delivery: Delivery; readonly isTold: boolean };

export interface TailOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly scheduleId: string | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: TailEvent) => void;
  /** What is no delivery but should be known. */
  readonly tell: (line: string) => void;
}

/** One list, page by page and round by round. */
interface Walk {
  /** Of the next page; null at the beginning. */
  readonly cursor: string | null;
  readonly startedMs: number;
  /** When the last one that came to the end was started. */
  readonly lastStartedMs: number;
}

export class Tail {
  readonly #sched: Sched;
  readonly #options: TailOptions;
  readonly #watch = new Watch();
  /** Seen in the list of new ones, within the overlap. */
  readonly #recent = new Map<string, number>();
  readonly #walks = new Map<string, Walk>();
  #newestMs: number | null = null;
  #isOverfull = false;

  constructor(sched: Sched, options: TailOptions) {
    this.#sched = sched;
    this.#options = options;
  }

  /** Until the signal; rejects when the service refuses. */
  async follow(): Promise<void> {
    const { signal, tell, timers } = this.#options;
    let isTold = false;
    let isStarted = false;
    while (!signal.aborted) {
      let pauseMs = ROUND_MS;
      try {
        if (isStarted) await this.#round();
        else await this.#start();
        isStarted = true;
        if (isTold) tell('The service answers again.');
        isTold = false;
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error) || !isStarted) throw error;
        if (!isTold) tell(`The service does not answer: ${error.message} Waiting for it.`);
        isTold = true;
        pauseMs = ROUND_MS_AFTER_TROUBLE;
      }
      await pause(timers, pauseMs, signal);
    }
  }

  /** What waits now; what has happened by now is not told. */
  async #start(): Promise<void> {
    const { scheduleId, signal } = this.#options;
    if (scheduleId !== undefined) await this.#sched.schedules.get(scheduleId, { signal });
    const [newest] = (await this.#list({ limit: 1 }).page()).data;
    this.#newestMs = newest === undefined ? null : createdMs(newest);
    await this.#readNew();
    let left = WATCHED_MAX;
    for (const status of ['claimed', 'retry_scheduled', 'scheduled', 'paused'] as const) {
      const waiting = await this.#list({ status, limit: PAGE_ITEMS }).toArray(left + 1);
      if (waiting.length > left) this.#tellOverfull();
      for (const delivery of waiting.slice(0, left)) {
        const underWay = delivery.status === 'claimed' ? 1 : 0;
        this.#watch.notice(delivery, delivery.attempt_count - underWay, this.#now());
      }
      left = Math.max(left - waiting.length, 0);
    }
    this.#options.tell(`Watching what waits (${this.#watch.size}) and what comes. Ctrl-C ends it.`);
  }

  async #round(): Promise<void> {
    for (const delivery of await this.#readNew()) this.#watch.notice(delivery, 0, this.#now());
    for (const status of WALKED) await this.#walk(status);
    this.#watch.lookAtUnseen(this.#walkedSinceMs(), this.#now());
    if (this.#watch.trim()) this.#tellOverfull();
    const due = this.#watch.due(this.#now(), LOOKS_MAX);
    const events: TailEvent[] = [];
    await eachOf(due, LOOKS_AT_ONCE, async (watched) => void events.push(...(await this.#look(watched))));
    for (const event of events.sort((a, b) => timeOf(a) - timeOf(b))) this.#options.emit(event);
  }

  /** Those created since the last round that have not been seen. */
  async #readNew(): Promise<readonly Delivery[]> {
    const sinceMs = this.#newestMs === null ? null : this.#newestMs - OVERLAP_MS;
    const query = sinceMs === null ? {} : { created_after: formatInstant(instant(sinceMs)) };
    const listed = await this.#list({ ...query, limit: PAGE_ITEMS }).toArray(NEW_ITEMS_MAX + 1);
    if (listed.length > NEW_ITEMS_MAX)
      this.#options.tell(`More than ${NEW_ITEMS_MAX} new deliveries at once: some are not shown.`);
    const fresh = listed.slice(0, NEW_ITEMS_MAX).filter(({ id }) => !this.#recent.has(id));
    for (const delivery of fresh) this.#recent.set(delivery.id, createdMs(delivery));
    this.#newestMs = Math.max(this.#newestMs ?? 0, ...fresh.map(createdMs)) || this.#newestMs;
    for (const [id, atMs] of this.#recent) {
      if (atMs < (this.#newestMs ?? 0) - OVERLAP_MS) this.#recent.delete(id);
    }
    return fresh;
  }

  async #walk(status: (typeof WALKED)[number]): Promise<void> {
    for (let pages = 0; pages < WALKED_PAGES_MAX; pages++) {
      if (await this.#walkPage(status)) return;
    }
  }

  /** Whether it was the last one. */
  async #walkPage(status: (typeof WALKED)[number]): Promise<boolean> {
    const { cursor = null, startedMs = 0, lastStartedMs = 0 } = this.#walks.get(status) ?? {};
    const nowMs = this.#now();
    const page = await this.#list({ status, limit: PAGE_ITEMS, ...(cursor !== null && { cursor }) }).page();
    const thisMs = cursor === null ? nowMs : startedMs;
    const isAtEnd = page.next_cursor === null;
    this.#walks.set(status, {
      cursor: page.next_cursor,
      startedMs: thisMs,
      lastStartedMs: isAtEnd ? thisMs : lastStartedMs,
    });
    for (const delivery of page.data) this.#watch.notice(delivery, delivery.attempt_count, this.#now());
    return isAtEnd;
  }

  /** Since when the walks have met all that there is. */
  #walkedSinceMs(): number {
    return Math.min(...WALKED.map((status) => this.#walks.get(status)?.lastStartedMs ?? 0));
  }

  /** What has happened to one since the last look. */
  async #look({ id, attemptsTold }: Watched): Promise<readonly TailEvent[]> {
    const { signal } = this.#options;
    const { deliveries } = this.#sched;
    try {
      const delivery = await deliveries.get(id, { signal });
      const attempts =
        delivery.attempt_count > attemptsTold
          ? await deliveries.attempts(id, { limit: PAGE_ITEMS }, { signal }).toArray(PAGE_ITEMS)
          : [];
      const fresh = newAttempts(delivery, attempts, attemptsTold);
      this.#watch.looked(delivery, fresh.at(-1)?.attempt_no ?? attemptsTold, this.#now());
      const events: TailEvent[] = fresh.map((attempt) => ({ kind: 'attempt', delivery, attempt }));
      if (isEnded(delivery)) events.push({ kind: 'end', delivery, isTold: fresh.length > 0 });
      return events;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      this.#watch.forget(id);
      return [];
    }
  }

  #list(query: Parameters<Sched['deliveries']['list']>[0]) {
    const { scheduleId, signal } = this.#options;
    return this.#sched.deliveries.list({ ...query, schedule_id: scheduleId }, { signal });
  }

  #now(): Instant {
    return this.#options.clock.now();
  }

  #tellOverfull(): void {
    if (!this.#isOverfull)
      this.#options.tell(
        `More than ${WATCHED_MAX} deliveries wait: some that are due late may be shown late.`,
      );
    this.#isOverfull = true;
  }
}

/**
 * The attempts to tell. They were read after the delivery: what it does not know of yet is told next time, when it
 * says what comes of it. So is the last attempt of one that is being sent.
 */
export function newAttempts(
  delivery: Delivery,
  attempts: readonly Attempt[],
  attemptsTold: number,
): readonly Attempt[] {
  const { status, attempt_count } = delivery;
  const known = status === 'claimed' ? attempt_count - 1 : attempt_count;
  return attempts.filter(
    ({ attempt_no, finished_at }) => attempt_no > attemptsTold && attempt_no <= known && finished_at !== null,
  );
}

/** Worth waiting for the end of. */
function isPassing(error: unknown): error is SchedError {
  return error instanceof SchedError && (error.status === null || error.status >= 500);
}

function createdMs({ created_at }: Delivery): number {
  return parseInstant(created_at) ?? 0;
}

function timeOf({ delivery, ...event }: TailEvent): number {
  const at = event.kind === 'attempt' ? event.attempt.fired_at : delivery.finalized_at;
  return parseInstant(at ?? '') ?? Number.MAX_SAFE_INTEGER;
}

/** So many at once; the first failure ends it. */
async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
