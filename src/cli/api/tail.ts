/**
 * Follows deliveries as they happen. The API has no stream. It has lists ordered by creation, and single objects.
 * One round, about once a second, therefore does this:
 *
 * 1. Read the deliveries created since the last round, newest first. The reads overlap, because deliveries that
 *    several nodes create at the same moment do not appear in exact order.
 * 2. Scan some pages of each list: deliveries that wait for their first attempt, those that wait for a retry, and
 *    paused ones. A scan continues where it stopped and starts again at the end. Scans find deliveries that were
 *    rescheduled, resumed, or dropped from the watch. A delivery that no complete scan has met no longer waits.
 * 3. Check each watched delivery that is due by now, and read its new attempts.
 *
 * Everything has a bound: the watch, the pages and checks of a round, and the checks that run at once.
 */
import { type Attempt, type Delivery, NotFoundError, type Sched, SchedError } from '#sdk/index.ts';
import { formatInstant, type Instant, instant, parseInstant } from '#src/domain/instant.ts';
import { type Clock, pause, type Timers } from '#src/ports/system.ts';
import { isEnded, WATCHED_MAX, Watch, type Watched } from './tail-watch.ts';

const ROUND_MS = 1_000;
const ROUND_MS_AFTER_FAILURE = 3_000;
const PAGE_ITEMS = 100;
const NEW_ITEMS_MAX = 2_000;
const OVERLAP_MS = 2_000;
const CHECKS_MAX = 200;
const CONCURRENT_CHECKS = 8;
/** Pages of each list that one round scans. */
const SCANNED_PAGES_MAX = 10;
const SCANNED_STATUSES = ['scheduled', 'retry_scheduled', 'paused'] as const;
type ScannedStatus = (typeof SCANNED_STATUSES)[number];

export type TailEvent =
  | { readonly kind: 'attempt'; readonly delivery: Delivery; readonly attempt: Attempt }
  /** `isReported` is true when the event of the last attempt already showed this end. */
  | { readonly kind: 'end'; readonly delivery: Delivery; readonly isReported: boolean };

export interface TailOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly scheduleId: string | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: TailEvent) => void;
  /** Receives lines for the user that are not deliveries. */
  readonly notify: (line: string) => void;
}

/** The progress of a scan through one list, over several rounds. */
interface Scan {
  /** The cursor of the next page, or null at the start of the list. */
  readonly cursor: string | null;
  readonly startedMs: number;
  /** The start time of the last scan that reached the end of the list. */
  readonly lastStartedMs: number;
}

export class Tail {
  readonly #sched: Sched;
  readonly #options: TailOptions;
  readonly #watch = new Watch();
  /** Deliveries from the list of new ones that are still within the overlap, with their creation times. */
  readonly #recent = new Map<string, number>();
  readonly #scans = new Map<ScannedStatus, Scan>();
  #newestMs: number | null = null;
  #isOverfull = false;

  constructor(sched: Sched, options: TailOptions) {
    this.#sched = sched;
    this.#options = options;
  }

  /** Runs until the signal is aborted. Rejects when the service refuses a request. */
  async follow(): Promise<void> {
    const { signal, notify, timers } = this.#options;
    let isUnreachable = false;
    let isStarted = false;
    while (!signal.aborted) {
      let pauseMs = ROUND_MS;
      try {
        if (isStarted) await this.#round();
        else await this.#start();
        isStarted = true;
        if (isUnreachable) notify('The service answers again.');
        isUnreachable = false;
      } catch (error) {
        if (signal.aborted) return;
        if (!isTransient(error) || !isStarted) throw error;
        if (!isUnreachable) notify(`The service does not answer: ${error.message} Waiting for it.`);
        isUnreachable = true;
        pauseMs = ROUND_MS_AFTER_FAILURE;
      }
      await pause(timers, pauseMs, signal);
    }
  }

  /** Fills the watch with the deliveries that wait now. Events from before this moment are not reported. */
  async #start(): Promise<void> {
    const { scheduleId, signal } = this.#options;
    if (scheduleId !== undefined) await this.#sched.schedules.get(scheduleId, { signal });
    const [newest] = (await this.#list({ limit: 1 }).page()).data;
    this.#newestMs = newest === undefined ? null : createdMs(newest);
    await this.#readNew();
    let left = WATCHED_MAX;
    for (const status of ['claimed', 'retry_scheduled', 'scheduled', 'paused'] as const) {
      const waiting = await this.#list({ status, limit: PAGE_ITEMS }).toArray(left + 1);
      if (waiting.length > left) this.#notifyOverfull();
      for (const delivery of waiting.slice(0, left)) {
        const inFlight = delivery.status === 'claimed' ? 1 : 0;
        this.#watch.observe(delivery, delivery.attempt_count - inFlight, this.#now());
      }
      left = Math.max(left - waiting.length, 0);
    }
    const { size } = this.#watch;
    const waiting = size === 1 ? '1 waiting delivery' : `${size} waiting deliveries`;
    this.#options.notify(`Watching ${waiting} and new ones. Stop with Ctrl-C.`);
  }

  async #round(): Promise<void> {
    for (const delivery of await this.#readNew()) this.#watch.observe(delivery, 0, this.#now());
    for (const status of SCANNED_STATUSES) await this.#scan(status);
    this.#watch.checkUnseen(this.#scannedSinceMs(), this.#now());
    if (this.#watch.trim()) this.#notifyOverfull();
    const due = this.#watch.due(this.#now(), CHECKS_MAX);
    const events: TailEvent[] = [];
    await forEachConcurrently(due, CONCURRENT_CHECKS, async (watched) => {
      events.push(...(await this.#check(watched)));
    });
    for (const event of events.sort((a, b) => timeOf(a) - timeOf(b))) this.#options.emit(event);
  }

  /** Reads the deliveries created since the last round that were not seen before. */
  async #readNew(): Promise<readonly Delivery[]> {
    const sinceMs = this.#newestMs === null ? null : this.#newestMs - OVERLAP_MS;
    const query = sinceMs === null ? {} : { created_after: formatInstant(instant(sinceMs)) };
    const listed = await this.#list({ ...query, limit: PAGE_ITEMS }).toArray(NEW_ITEMS_MAX + 1);
    if (listed.length > NEW_ITEMS_MAX)
      this.#options.notify(`More than ${NEW_ITEMS_MAX} deliveries were created at once. Some are not shown.`);
    const fresh = listed.slice(0, NEW_ITEMS_MAX).filter(({ id }) => !this.#recent.has(id));
    for (const delivery of fresh) this.#recent.set(delivery.id, createdMs(delivery));
    this.#newestMs = Math.max(this.#newestMs ?? 0, ...fresh.map(createdMs)) || this.#newestMs;
    for (const [id, atMs] of this.#recent) {
      if (atMs < (this.#newestMs ?? 0) - OVERLAP_MS) this.#recent.delete(id);
    }
    return fresh;
  }

  async #scan(status: ScannedStatus): Promise<void> {
    for (let pages = 0; pages < SCANNED_PAGES_MAX; pages++) {
      if (await this.#scanPage(status)) return;
    }
  }

  /** Resolves with true after the last page of the list. */
  async #scanPage(status: ScannedStatus): Promise<boolean> {
    const { cursor = null, startedMs = 0, lastStartedMs = 0 } = this.#scans.get(status) ?? {};
    const nowMs = this.#now();
    const page = await this.#list({ status, limit: PAGE_ITEMS, ...(cursor !== null && { cursor }) }).page();
    const thisMs = cursor === null ? nowMs : startedMs;
    const isAtEnd = page.next_cursor === null;
    this.#scans.set(status, {
      cursor: page.next_cursor,
      startedMs: thisMs,
      lastStartedMs: isAtEnd ? thisMs : lastStartedMs,
    });
    for (const delivery of page.data) this.#watch.observe(delivery, delivery.attempt_count, this.#now());
    return isAtEnd;
  }

  /** Every delivery that waits was seen by a scan since this time. */
  #scannedSinceMs(): number {
    return Math.min(...SCANNED_STATUSES.map((status) => this.#scans.get(status)?.lastStartedMs ?? 0));
  }

  /** Reads one delivery and returns what happened to it since the last check. */
  async #check({ id, attemptsReported }: Watched): Promise<readonly TailEvent[]> {
    const { signal } = this.#options;
    const { deliveries } = this.#sched;
    try {
      const delivery = await deliveries.get(id, { signal });
      const attempts =
        delivery.attempt_count > attemptsReported
          ? await deliveries.attempts(id, { limit: PAGE_ITEMS }, { signal }).toArray(PAGE_ITEMS)
          : [];
      const fresh = selectNewAttempts(delivery, attempts, attemptsReported);
      this.#watch.recordCheck(delivery, fresh.at(-1)?.attempt_no ?? attemptsReported, this.#now());
      const events: TailEvent[] = fresh.map((attempt) => ({ kind: 'attempt', delivery, attempt }));
      if (isEnded(delivery)) events.push({ kind: 'end', delivery, isReported: fresh.length > 0 });
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

  #notifyOverfull(): void {
    if (!this.#isOverfull)
      this.#options.notify(
        `More than ${WATCHED_MAX} deliveries wait. Those that are due last may be shown late.`,
      );
    this.#isOverfull = true;
  }
}

/**
 * Selects the attempts to report. They were read after the delivery. An attempt that the delivery does not count
 * yet is reported by the next check, because only a newer delivery says what follows it. The same holds for the
 * last attempt of a delivery that is being sent.
 */
export function selectNewAttempts(
  delivery: Delivery,
  attempts: readonly Attempt[],
  attemptsReported: number,
): readonly Attempt[] {
  const { status, attempt_count } = delivery;
  const known = status === 'claimed' ? attempt_count - 1 : attempt_count;
  return attempts.filter(
    ({ attempt_no, finished_at }) =>
      attempt_no > attemptsReported && attempt_no <= known && finished_at !== null,
  );
}

/** The service did not answer, or failed: it may recover, so the command waits. */
function isTransient(error: unknown): error is SchedError {
  return error instanceof SchedError && (error.status === null || error.status >= 500);
}

function createdMs({ created_at }: Delivery): number {
  return parseInstant(created_at) ?? 0;
}

function timeOf({ delivery, ...event }: TailEvent): number {
  const at = event.kind === 'attempt' ? event.attempt.fired_at : delivery.finalized_at;
  return parseInstant(at ?? '') ?? Number.MAX_SAFE_INTEGER;
}

/** Rejects with the first failure. */
async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}
