/**
 * A flood tests whether one customer can delay another. The hostile customer has many deliveries due at one
 * instant, all to endpoints that hang. They have large bodies, or an endpoint each. The quiet customer has a
 * few small deliveries in the same seconds, to an endpoint that answers.
 */
import type { NewSchedule } from '#src/commands/schedules.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import { bodyAndLabels } from './input-generator.ts';
import { HANGING_HOST, PROMPT_HOST } from './network.ts';

interface FloodSchedule {
  readonly isHostile: boolean;
  readonly label: string;
  readonly schedule: NewSchedule;
}

interface Flood {
  readonly deliveries: number;
  readonly endpoints: number;
  readonly bodyBytes: number;
}

/** A delivery that is known this long before it is due is in memory at its instant. */
const AHEAD_MS: readonly [number, number] = [5_000, 15_000];
/** The quiet customer's deliveries are spread over the time in which the others hang. */
const QUIET_DELIVERIES = 8;
const QUIET_WITHIN_MS = 4_000;

/** All bodies of a flood together have a few megabytes, so that its seed takes no longer than others. */
const FLOODS: readonly (readonly [number, Flood])[] = [
  [2, { deliveries: 8, endpoints: 2, bodyBytes: 786_432 }],
  [3, { deliveries: 48, endpoints: 6, bodyBytes: 100_000 }],
  [3, { deliveries: 120, endpoints: 120, bodyBytes: 300 }],
  [2, { deliveries: 300, endpoints: 300, bodyBytes: 0 }],
  [2, { deliveries: 200, endpoints: 4, bodyBytes: 5_000 }],
];

export function floodOf(prng: Prng, now: Instant, nextLabel: () => string): readonly FloodSchedule[] {
  const fireAt = instant(now + prng.between(...AHEAD_MS));
  const { deliveries, endpoints, bodyBytes } = prng.weighted(FLOODS);
  const orders: FloodSchedule[] = [];
  for (let at = 0; at < deliveries; at++) {
    const label = nextLabel();
    const url = `https://${HANGING_HOST}/${at % endpoints}`;
    orders.push({ isHostile: true, label, schedule: onceAt(fireAt, url, label, bodyBytes) });
  }
  for (let at = 0; at < QUIET_DELIVERIES; at++) {
    const label = nextLabel();
    const quietAt = instant(fireAt + prng.int(QUIET_WITHIN_MS));
    orders.push({ isHostile: false, label, schedule: onceAt(quietAt, `https://${PROMPT_HOST}/`, label, 20) });
  }
  return orders;
}

function onceAt(fireAt: Instant, url: string, label: string, bodyBytes: number): NewSchedule {
  return {
    name: null,
    timing: { kind: 'one_shot', fireAt, timezone: null },
    destination: { kind: 'inline', url, method: 'POST' },
    headers: [],
    jitter: null,
    ttl: null,
    idempotencyKey: null,
    retryPolicy: {
      maxAttempts: 1,
      strategy: 'exponential',
      base: '1s',
      factor: 2,
      max: '10s',
      jitter: false,
    },
    rateLimit: null,
    notify: null,
    ...bodyAndLabels(label, bodyBytes),
  };
}
