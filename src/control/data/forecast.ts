/**
 * What is due in a window: deliveries that wait, and further runs of recurring schedules worked out from them.
 *
 * A schedule that recurs always has exactly one delivery that waits for its next occurrence. What is due in the
 * window is listed, and so is what is due before it, for a schedule may run again inside. Both lists are bounded and
 * read a page at a time, and so is the work of projecting: beyond the bounds the forecast says that it is not complete.
 */
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Occurrence } from '#src/domain/occurrence.ts';
import type { Partition } from '#src/domain/project.ts';
import { fastForward, nextRun, pendingRun } from '#src/domain/projection.ts';
import type { FiringSchedule } from '#src/domain/schedule.ts';
import type { InsightStore, UpcomingDelivery } from '#src/ports/insight-store.ts';
import type { DataDependencies } from './dependencies.ts';
import { RevalidatingCache } from './revalidating-cache.ts';
import { TimeSlicer } from './time-slicer.ts';
import type { Window } from './window.ts';

/** Listing them takes some 40 µs each, aside from this thread: what is on a page must be there in a moment. */
export const WAITING_MAX = 1_000;
export const PROJECTED_MAX = 20_000;
/** Rows come from another thread, and taking them in is work of this one. */
const PAGE_ROWS = 500;
/** A little is overdue at any time; a schedule that runs again has its delivery there. */
const OVERDUE_MS = 60_000;
const WINDOW_PARTS = 24;

/** Where runs come from: one of them waits, others may follow it. */
export interface Source {
  readonly scheduleId: ScheduleId;
  readonly endpoint: EndpointKey;
  readonly endpointId: EndpointId | null;
  readonly url: string;
  readonly cron: string | null;
  readonly timezone: string | null;
}

export interface ForecastRun {
  readonly at: Instant;
  readonly source: Source;
  /** Null for a run that has no delivery yet. */
  readonly deliveryId: DeliveryId | null;
  readonly isRetry: boolean;
}

interface Recurring {
  readonly source: Source;
  readonly schedule: FiringSchedule;
  readonly last: Occurrence;
}

export interface Forecast {
  readonly waiting: readonly ForecastRun[];
  /** In no order. */
  readonly projected: readonly ForecastRun[];
  readonly isComplete: boolean;
}

type Dependencies = Pick<DataDependencies, 'insight' | 'timers'> &
  Pick<DataDependencies['commands'], 'clock'>;

export class Forecasts {
  readonly #dependencies: Dependencies;
  readonly #shared: RevalidatingCache<Forecast>;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#shared = new RevalidatingCache(dependencies.timers);
  }

  /** `until` is exclusive. */
  of(partition: Partition, from: Instant, until: Instant): Promise<Forecast> {
    return this.#shared.get(`${partition}/${from}/${until}`, () => this.#work(partition, from, until));
  }

  async #work(partition: Partition, from: Instant, until: Instant): Promise<Forecast> {
    const { insight, timers, clock } = this.#dependencies;
    const slices = new TimeSlicer(timers, partition);
    const recurring: Recurring[] = [];
    const waiting: ForecastRun[] = [];
    const take = ({ delivery, schedule }: UpcomingDelivery, isInside: boolean) => {
      const { dueAt } = delivery;
      if (dueAt === null) return;
      const isNext = schedule.timing.kind === 'recurring' && schedule.pendingId === delivery.id;
      if (!isNext && !isInside) return;
      const source = sourceOf({ delivery, schedule });
      if (isInside) {
        waiting.push({ at: dueAt, source, deliveryId: delivery.id, isRetry: delivery.attemptCount > 0 });
      }
      if (isNext) recurring.push({ source, schedule, last: pendingRun(schedule, { ...delivery, dueAt }) });
    };

    const soonest = instant(clock.now() - OVERDUE_MS);
    let isComplete = true;
    for (const [since, before] of [[soonest, from] as const, [from, until] as const]) {
      if (since >= before) continue;
      const isInside = since === from;
      const isAll = await eachUpcoming(insight, partition, since, before, slices, (upcoming) =>
        take(upcoming, isInside),
      );
      isComplete &&= isAll;
    }

    const walks: RunCursor[] = [];
    for (const one of recurring) {
      if (slices.isUsedUp) await slices.pause();
      walks.push(new RunCursor(one, from));
    }
    const { projected, isAll } = await project(walks, { from, until }, slices);
    return { waiting, projected, isComplete: isComplete && isAll };
  }
}

/** From one run of a schedule to the next. */
class RunCursor {
  readonly source: Source;
  readonly #schedule: FiringSchedule;
  /** The one that was not taken yet; null where there is none. */
  next: Occurrence | null;

  constructor({ source, schedule, last }: Recurring, from: Instant) {
    this.source = source;
    this.#schedule = schedule;
    this.next = nextRun(schedule, fastForward(schedule, last, from));
  }

  step(): void {
    this.next = this.next && nextRun(this.#schedule, this.next);
  }
}

/** Part by part of the window, so that what does not fit any more lies at its end. */
async function project(
  walks: readonly RunCursor[],
  { from, until }: Window,
  slices: TimeSlicer,
): Promise<{ readonly projected: readonly ForecastRun[]; readonly isAll: boolean }> {
  const projected: ForecastRun[] = [];
  let steps = 0;
  for (let part = 1; part <= WINDOW_PARTS; part++) {
    const before = from + ((until - from) * part) / WINDOW_PARTS;
    for (const walk of walks) {
      for (let run = walk.next; run !== null && run.firesAt < before; run = walk.next) {
        if (slices.isUsedUp) await slices.pause();
        if (steps >= PROJECTED_MAX) return { projected, isAll: false };
        steps += 1;
        if (run.firesAt >= from) {
          projected.push({ at: run.firesAt, source: walk.source, deliveryId: null, isRetry: false });
        }
        walk.step();
      }
    }
    if (slices.isUsedUp) await slices.pause();
  }
  return { projected, isAll: true };
}

function sourceOf({ delivery, schedule }: UpcomingDelivery): Source {
  const { target } = delivery;
  const { timing } = schedule;
  return {
    scheduleId: schedule.id,
    endpoint: endpointKeyOf(target),
    endpointId: target.endpointId,
    url: target.url,
    cron: timing.kind === 'recurring' ? timing.cron : null,
    timezone: timing.timezone,
  };
}

/**
 * Each waiting delivery that is due from `from` on and before `until`; false when there were too many. The next page
 * begins at the instant the last one ended with: what was there already is left out.
 */
async function eachUpcoming(
  insight: Pick<InsightStore, 'listUpcoming'>,
  partition: Partition,
  from: Instant,
  until: Instant,
  slices: TimeSlicer,
  act: (upcoming: UpcomingDelivery) => void,
): Promise<boolean> {
  let seen = new Set<DeliveryId>();
  let since = from;
  let rows = PAGE_ROWS;
  for (let taken = 0; taken < WAITING_MAX; ) {
    const page = await insight.listUpcoming(partition, since, until, rows);
    const last = page.at(-1)?.delivery.dueAt ?? null;
    for (const upcoming of page) {
      if (seen.has(upcoming.delivery.id)) continue;
      if (slices.isUsedUp) await slices.pause();
      act(upcoming);
      taken += 1;
    }
    if (page.length < rows || last === null) return true;
    // With more at one instant than fit on a page, a larger one gets past it.
    rows = last === since ? Math.min(rows * 2, WAITING_MAX + 1) : PAGE_ROWS;
    if (last !== since) seen = new Set();
    for (const { delivery } of page) if (delivery.dueAt === last) seen.add(delivery.id);
    since = last;
  }
  return false;
}
