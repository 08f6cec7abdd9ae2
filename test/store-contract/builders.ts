/** Builds domain objects as the API and the engine do: valid, each with its own id, in order of creation. */
import { CLOSED } from '#src/domain/breaker.ts';
import {
  type Attempt,
  attemptInFlight,
  type Claim,
  type Delivery,
  type DeliveryStatus,
  type InFlightDelivery,
} from '#src/domain/delivery.ts';
import * as deliveryLife from '#src/domain/delivery-lifecycle.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { DEFAULT_RETRY_BUDGET, type EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { IdMint, type ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import type { FiringSchedule, Schedule, Timing } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import type {
  ClaimWrite,
  EndWrite,
  LoadedDelivery,
  Receipt,
  SavedGate,
  ScheduleAddition,
  SettleWrite,
} from '#src/ports/store.ts';

export const START = instant(Date.UTC(2026, 10, 15, 8));
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const HOURLY: Timing = { kind: 'recurring', cron: '0 * * * *', timezone: 'UTC' };

export const SUCCESS: deliveryLife.AttemptResult = { outcome: 'success', statusCode: 204 };
export const FAILURE: deliveryLife.AttemptResult = {
  outcome: 'retryable',
  statusCode: 503,
  error: 'HTTP 503',
};
export const REDIRECT: deliveryLife.AttemptResult = {
  outcome: 'terminal',
  statusCode: 302,
  error: 'redirect (HTTP 302)',
};

/** The same bytes in every run. They are good enough for ids that only have to differ. */
export function seededBytes(seed: number): (count: number) => Uint8Array {
  let state = seed;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}

export interface Made {
  readonly schedule: Schedule;
  readonly pending: Delivery;
}

export class Builders {
  readonly partition: Partition;
  readonly ids: IdMint;
  #now = START;
  #receipts = 0;

  constructor(partition: Partition, ids: IdMint = new IdMint(seededBytes(1))) {
    this.partition = partition;
    this.ids = ids;
  }

  get now(): Instant {
    return this.#now;
  }

  /** Moves the clock forward for all objects that are built later. */
  tick(ms = 1): Instant {
    this.#now = instant(this.#now + ms);
    return this.#now;
  }

  oneShot(inMs: number = HOUR_MS): Timing {
    return { kind: 'one_shot', fireAt: instant(this.#now + inMs), timezone: null };
  }

  /** A delivery has a claim while it is claimed, and no other can be stored. */
  claimIn(status: DeliveryStatus): Claim | null {
    const now = this.#now;
    if (status !== 'claimed') return null;
    return { node: 'node-1', attemptId: this.ids.mint('att', now), dueAt: now, firedAt: now };
  }

  /** A schedule with its first delivery. The default is an inline one-shot in an hour. */
  schedule(given: Partial<life.NewSchedule> = {}): Made {
    const made = life.create(
      {
        partition: this.partition,
        id: this.ids.mint('sch', this.#now),
        deliveryId: this.ids.mint('dlv', this.#now),
        name: null,
        timing: this.oneShot(),
        destination: { kind: 'inline', url: 'https://example.com/hook', method: 'POST' },
        profile: null,
        headerNames: [],
        payloadBytes: 0,
        jitter: null,
        ttl: null,
        idempotencyKey: null,
        retryPolicy: null,
        rateLimit: null,
        notify: null,
        metadata: [],
        ...given,
      },
      this.#now,
    );
    if (made === null) throw new Error('The schedule would never fire.');
    return made;
  }

  /** A schedule that delivers through an endpoint profile. */
  scheduleOn(profile: EndpointProfile, given: Partial<life.NewSchedule> = {}): ScheduleAddition {
    const made = this.schedule({
      destination: { kind: 'profile', endpointId: profile.id },
      profile,
      ...given,
    });
    return { ...made, payload: null, profile, receipt: null };
  }

  profile(given: Partial<EndpointProfile> = {}): EndpointProfile {
    return {
      partition: this.partition,
      id: this.ids.mint('ep', this.#now),
      name: null,
      version: 1,
      url: 'https://example.com/profile',
      method: 'PUT',
      headerNames: [],
      timeout: null,
      retryPolicy: DEFAULT_RETRY_POLICY,
      retryBudget: null,
      rateLimit: null,
      breakerPolicy: null,
      responseExcerpt: null,
      notify: null,
      standardWebhooks: false,
      metadata: [],
      archived: false,
      createdAt: this.#now,
      updatedAt: this.#now,
      revision: 1,
      ...given,
    };
  }

  receipt(given: Partial<Receipt> = {}): Receipt {
    this.#receipts += 1;
    return {
      key: `key-${this.#receipts}`,
      fingerprint: `fingerprint-${this.#receipts}`,
      status: 201,
      body: '{"object":"schedule"}',
      createdAt: this.#now,
      expiresAt: instant(this.#now + DAY_MS),
      ...given,
    };
  }

  /** Claims a delivery for the node `node`. */
  claim(
    delivery: Delivery,
    { schedule, profile }: Pick<LoadedDelivery, 'schedule' | 'profile'>,
    node = 'node-1',
  ): ClaimWrite & { readonly attempt: Attempt } {
    const ids = { attempt: this.ids.mint('att', this.#now), delivery: this.ids.mint('dlv', this.#now) };
    const claimed = life.claim(delivery, { schedule, profile }, node, ids, this.#now);
    return { ...claimed, attempt: attemptInFlight(claimed.delivery) };
  }

  /** Ends an attempt, and completes the schedule if this was its last delivery. */
  settle(
    { delivery }: { readonly delivery: InFlightDelivery },
    schedule: FiringSchedule | null,
    result: deliveryLife.AttemptResult,
  ): SettleWrite {
    const settled = deliveryLife.settle(delivery, result, schedule, this.#now);
    return {
      ...settled,
      decidedUnder: schedule?.state ?? null,
      completed: life.completedBy(schedule, settled.delivery, this.#now),
      response: null,
    };
  }

  /** Ends a waiting delivery without an attempt, and completes or advances its schedule. */
  endUnsent(
    delivery: Delivery,
    { schedule, profile }: Pick<LoadedDelivery, 'schedule' | 'profile'>,
    why: 'expired' | 'exhausted' = 'expired',
  ): EndWrite {
    const ended = deliveryLife.endUnsent(delivery, why, this.#now);
    return {
      delivery: ended,
      completed: life.completedBy(schedule, ended, this.#now),
      advanced: life.advance(schedule, profile, delivery, this.ids.mint('dlv', this.#now), this.#now),
    };
  }

  /** The saved state of an endpoint's gate: one failure, and one token taken. */
  gate(endpoint: EndpointKey, given: Partial<SavedGate> = {}): SavedGate {
    return {
      partition: this.partition,
      endpoint,
      gate: {
        breaker: { ...CLOSED, failures: 1 },
        budget: { terms: DEFAULT_RETRY_BUDGET, tokens: 98.5, at: this.#now },
        rateLimiters: {},
      },
      savedAt: this.#now,
      ...given,
    };
  }

  replay(original: Delivery): Delivery {
    return deliveryLife.replay(original, this.ids.mint('dlv', this.#now), this.#now);
  }
}

/** The schedule of a delivery that is no notification. */
export function scheduleIdOf({ scheduleId }: Pick<Delivery, 'scheduleId'>): ScheduleId {
  if (scheduleId === null) throw new Error('A notification has no schedule.');
  return scheduleId;
}
