/**
 * The rate limit, the retry budget and the breaker policy with which a node decides about a delivery. A customer may
 * change them after the node has read the schedule and the profile. So what a node reads has to be in force at some time since the read
 * began, and holds until the node reads again.
 *
 * Notifications have a rate limit of their own, which no customer can change.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Delivery } from '#src/domain/delivery.ts';
import type {
  BreakerPolicy,
  EndpointProfile,
  FiringProfile,
  RetryBudget,
} from '#src/domain/endpoint-profile.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Checker, InstanceFacts } from './checkers/checker.ts';
import type { Observer } from './observer.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Limits {
  /** The rate limit; null without one. */
  readonly perSecond: number | null;
  /** Deliveries to an endpoint with the same limiter share its rate. */
  readonly limiter: string;
  readonly budget: RetryBudget;
  /** Null: the default. */
  readonly breaker: BreakerPolicy | null;
}

interface FormerValue {
  readonly value: unknown;
  readonly untilMs: number;
}

/** What each endpoint gets of notifications. */
const NOTIFICATIONS = { perSecond: 50, limiter: 'notifications' };

const DEFAULT_BUDGET: RetryBudget = { rate: 10, burst: 100 };

export class LimitsModel implements Checker {
  readonly name = 'limits model';
  readonly #time: Pick<VirtualTime, 'elapsedMs'>;
  readonly #observer: Pick<Observer, 'scheduleOf' | 'profileOf'>;
  /** Values that were in force before, by the id of the schedule, or by the id of the profile and the field. */
  readonly #former = new Map<string, FormerValue[]>();
  readonly #read = new Map<string, Limits>();

  constructor(time: Pick<VirtualTime, 'elapsedMs'>, observer: Pick<Observer, 'scheduleOf' | 'profileOf'>) {
    this.#time = time;
    this.#observer = observer;
  }

  of(delivery: Delivery, by: InstanceFacts): Limits {
    return this.#read.get(readingOf(delivery, by)) ?? this.#present(delivery);
  }

  schedule(before: Schedule | null, after: Schedule | null): void {
    if (before !== null) this.#change(before.id, perSecondOf(before), perSecondOf(after));
  }

  profile(before: EndpointProfile | null, after: EndpointProfile): void {
    if (before === null) return;
    this.#change(`${before.id}/budget`, budgetOf(before), budgetOf(after));
    this.#change(`${before.id}/breaker`, before.breakerPolicy, after.breakerPolicy);
  }

  loaded(loaded: readonly LoadedDelivery[], sinceMs: number, by: InstanceFacts): void {
    for (const { delivery, schedule, endpointProfile } of loaded) {
      const { scheduleId, target } = delivery;
      const present = this.#present(delivery);
      const read = limitsOf(delivery, schedule, endpointProfile);
      const { endpointId } = target;
      const isTrue =
        this.#wasInForce(scheduleId, present.perSecond, read.perSecond, sinceMs) &&
        this.#wasInForce(`${endpointId}/budget`, present.budget, read.budget, sinceMs) &&
        this.#wasInForce(`${endpointId}/breaker`, present.breaker, read.breaker, sinceMs);
      if (isTrue) this.#read.set(readingOf(delivery, by), read);
      else this.#read.delete(readingOf(delivery, by));
    }
  }

  #present(delivery: Delivery): Limits {
    return limitsOf(delivery, this.#observer.scheduleOf(delivery), this.#observer.profileOf(delivery));
  }

  #change(id: string, before: unknown, after: unknown): void {
    if (isDeepStrictEqual(before, after)) return;
    const former = this.#former.get(id) ?? [];
    this.#former.set(id, [...former, { value: before, untilMs: this.#time.elapsedMs }]);
  }

  #wasInForce(id: string | null, present: unknown, read: unknown, sinceMs: number): boolean {
    if (isDeepStrictEqual(present, read)) return true;
    const former = this.#former.get(id ?? '') ?? [];
    return former.some(({ value, untilMs }) => untilMs >= sinceMs && isDeepStrictEqual(value, read));
  }
}

function readingOf({ id }: Delivery, { node }: InstanceFacts): string {
  return `${node}/${id}`;
}

function limitsOf(
  { notificationOf }: Delivery,
  schedule: Pick<Schedule, 'rateLimit'> | null,
  profile: FiringProfile | null | undefined,
): Limits {
  const perSecond = perSecondOf(schedule);
  const rate = notificationOf === null ? { perSecond, limiter: `${perSecond}` } : NOTIFICATIONS;
  return { ...rate, budget: budgetOf(profile), breaker: profile?.breakerPolicy ?? null };
}

function perSecondOf(schedule: Pick<Schedule, 'rateLimit'> | null | undefined): number | null {
  return schedule?.rateLimit?.perSecond || null;
}

function budgetOf(profile: FiringProfile | null | undefined): RetryBudget {
  return profile?.retryBudget ?? DEFAULT_BUDGET;
}
