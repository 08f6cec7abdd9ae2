/**
 * Forecasts what is due in a window: waiting deliveries, and further runs of recurring schedules projected from them.
 *
 * A recurring schedule always has exactly one delivery that waits for its next occurrence. Deliveries that are due in
 * the window are listed. Those due before it are listed too, since their schedules may run again inside. Both lists are
 * bounded and read in pages, and the projection is bounded too. Beyond these bounds the forecast is marked incomplete.
 */
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Occurrence } from '#src/domain/occurrence.ts';
import type { Partition } from '#src/domain/project.ts';
import { fastForward, nextRun, pendingRun } from '#src/domain/projection.ts';
import type { FiringSchedule } from '#src/domain/schedule.ts';
import type { DuePosition, InsightStore, UpcomingDelivery } from '#src/ports/insight-store.ts';
import type { DataDependencies } from './dependencies.ts';
import { RevalidatingCache } from './revalidating-cache.ts';
import { TimeSlicer } from './time-slicer.ts';
import type { Window } from './window.ts';

/** Listing takes about 40 µs for each on another thread. The page must appear within a moment. */
export const WAITING_MAX = 1_000;
export const PROJECTED_MAX = 20_000;
/** Rows come from another thread. Decoding them takes time of this one, so pages are small. */
const PAGE_ROWS = 500;
/** Some deliveries are always slightly overdue. A recurring schedule may have its delivery among them. */
const OVERDUE_MS = 60_000;
const WINDOW_PARTS = 24;

/** The schedule and destination of a run. A notification has no schedule. */
export interface Source {
  readonly scheduleId: ScheduleId | null;
  readonly name: string | null;
  readonly endpoint: EndpointKey;
  readonly endpointId: EndpointId | null;
  readonly url: string;
  readonly method: string;
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
  /** The projected runs have no order. */
  readonly projected: readonly ForecastRun[];
  readonly isComplete: boolean;
}

type Dependencies = Pick<DataDependencies, 'insight' | 'timers'> &
  Pick<DataDependencies['commands'], 'clock'>;

export class Forecasts {
  readonly #dependencies: Dependencies;
  readonly #cache: RevalidatingCache<Forecast>;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#cache = new RevalidatingCache(dependencies.timers);
  }

  /** `until` is exclusive. */
  get(partition: Partition, from: Instant, until: Instant): Promise<Forecast> {
    return this.#cache.get(`${partition}/${from}/${until}`, () => this.#compute(partition, from, until));
  }

  async #compute(partition: Partition, from: Instant, until: Instant): Promise<Forecast> {
    const { insight, timers, clock } = this.#dependencies;
    const slicer = new TimeSlicer(timers, partition);
    const recurring: Recurring[] = [];
    const waiting: ForecastRun[] = [];
    const take = ({ delivery, schedule }: UpcomingDelivery, isInside: boolean) => {
      const { dueAt } = delivery;
      if (dueAt === null) return;
      const next =
        schedule?.timing.kind === 'recurring' && schedule.pendingId === delivery.id ? schedule : null;
      if (next === null && !isInside) return;
      const source = sourceOf({ delivery, schedule });
      if (isInside) {
        waiting.push({ at: dueAt, source, deliveryId: delivery.id, isRetry: delivery.attemptCount > 0 });
      }
      if (next !== null) {
        recurring.push({ source, schedule: next, last: pendingRun(next, { ...delivery, dueAt }) });
      }
    };

    const soonest = instant(clock.now() - OVERDUE_MS);
    let isComplete = true;
    for (const [since, before] of [[soonest, from] as const, [from, until] as const]) {
      if (since >= before) continue;
      const isInside = since === from;
      const isAll = await eachUpcoming(insight, partition, since, before, slicer, (upcoming) =>
        take(upcoming, isInside),
      );
      isComplete &&= isAll;
    }

    const cursors: RunCursor[] = [];
    for (const each of recurring) {
      if (slicer.isUsedUp) await slicer.pause();
      cursors.push(new RunCursor(each, from));
    }
    const { projected, isAll } = await project(cursors, { from, until }, slicer);
    return { waiting, projected, isComplete: isComplete && isAll };
  }
}

/** Steps from one run of a schedule to the next. */
class RunCursor {
  readonly source: Source;
  readonly #schedule: FiringSchedule;
  /** The next run. Null after the last one. */
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

/** Projects one part of the window after the other, so that runs beyond the bound are missing only at its end. */
async function project(
  cursors: readonly RunCursor[],
  { from, until }: Window,
  slicer: TimeSlicer,
): Promise<{ readonly projected: readonly ForecastRun[]; readonly isAll: boolean }> {
  const projected: ForecastRun[] = [];
  let steps = 0;
  for (let part = 1; part <= WINDOW_PARTS; part++) {
    const before = from + ((until - from) * part) / WINDOW_PARTS;
    for (const cursor of cursors) {
      for (let run = cursor.next; run !== null && run.firesAt < before; run = cursor.next) {
        if (slicer.isUsedUp) await slicer.pause();
        if (steps >= PROJECTED_MAX) return { projected, isAll: false };
        steps += 1;
        if (run.firesAt >= from) {
          projected.push({ at: run.firesAt, source: cursor.source, deliveryId: null, isRetry: false });
        }
        cursor.step();
      }
    }
    if (slicer.isUsedUp) await slicer.pause();
  }
  return { projected, isAll: true };
}

function sourceOf({ delivery, schedule }: UpcomingDelivery): Source {
  const { target } = delivery;
  const timing = schedule?.timing;
  return {
    scheduleId: schedule?.id ?? null,
    name: schedule?.name ?? null,
    endpoint: endpointKeyOf(target),
    endpointId: target.endpointId,
    url: target.url,
    method: target.method,
    cron: timing?.kind === 'recurring' ? timing.cron : null,
    timezone: timing?.timezone ?? null,
  };
}

/**
 * Calls `act` for each waiting delivery that is due from `from` on and before `until`. Returns false if there are too
 * many.
 */
async function eachUpcoming(
  insight: Pick<InsightStore, 'listUpcoming'>,
  partition: Partition,
  from: Instant,
  until: Instant,
  slicer: TimeSlicer,
  act: (upcoming: UpcomingDelivery) => void,
): Promise<boolean> {
  let after: DuePosition = { dueAt: from, id: '' };
  for (let taken = 0; taken < WAITING_MAX; ) {
    const page = await insight.listUpcoming(partition, after, until, PAGE_ROWS);
    for (const upcoming of page) {
      if (slicer.isUsedUp) await slicer.pause();
      act(upcoming);
      taken += 1;
    }
    const last = page.at(-1)?.delivery;
    if (page.length < PAGE_ROWS || last === undefined || last.dueAt === null) return true;
    after = { dueAt: last.dueAt, id: last.id };
  }
  return false;
}
