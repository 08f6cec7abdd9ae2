/**
 * The rate limit with which a node decides about a delivery. A PUT may change it after the node has read the schedule.
 * So what a node reads has to be a limit that the schedule had since the read began, and holds until it reads again.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Checker, InstanceFacts } from './checkers/checker.ts';
import type { Observer } from './observer.ts';
import type { VirtualTime } from './virtual-time.ts';

interface FormerLimit {
  readonly perSecond: number | null;
  readonly untilMs: number;
}

export class RateLimitModel implements Checker {
  readonly name = 'rate limit model';
  readonly #time: Pick<VirtualTime, 'elapsedMs'>;
  readonly #observer: Pick<Observer, 'schedules'>;
  readonly #former = new Map<ScheduleId, FormerLimit[]>();
  readonly #read = new Map<string, number | null>();

  constructor(time: Pick<VirtualTime, 'elapsedMs'>, observer: Pick<Observer, 'schedules'>) {
    this.#time = time;
    this.#observer = observer;
  }

  /** Null without a limit. */
  of({ id, scheduleId }: Pick<Delivery, 'id' | 'scheduleId'>, by: InstanceFacts): number | null {
    const read = this.#read.get(readingOf(id, by));
    return read === undefined ? limitOf(this.#observer.schedules.get(scheduleId)) : read;
  }

  schedule(before: Schedule | null, after: Schedule | null): void {
    if (before === null || limitOf(before) === limitOf(after)) return;
    const former = this.#former.get(before.id) ?? [];
    former.push({ perSecond: limitOf(before), untilMs: this.#time.elapsedMs });
    this.#former.set(before.id, former);
  }

  loaded(loaded: readonly LoadedDelivery[], sinceMs: number, by: InstanceFacts): void {
    for (const { delivery, schedule } of loaded) {
      const perSecond = limitOf(schedule);
      const reading = readingOf(delivery.id, by);
      if (this.#wasIn(delivery.scheduleId, perSecond, sinceMs)) this.#read.set(reading, perSecond);
      else this.#read.delete(reading);
    }
  }

  #wasIn(id: ScheduleId, perSecond: number | null, sinceMs: number): boolean {
    if (limitOf(this.#observer.schedules.get(id)) === perSecond) return true;
    const former = this.#former.get(id) ?? [];
    return former.some((limit) => limit.perSecond === perSecond && limit.untilMs >= sinceMs);
  }
}

function readingOf(id: Delivery['id'], { node }: InstanceFacts): string {
  return `${node}/${id}`;
}

function limitOf(schedule: Pick<Schedule, 'rateLimit'> | null | undefined): number | null {
  return schedule?.rateLimit?.perSecond || null;
}
