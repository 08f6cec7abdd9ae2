/**
 * Limits the hints about new notifications. The gate lets only some pass to each endpoint in a second. If many
 * deliveries end at once, nearly all of their notifications have to wait. With a hint for each, each would be loaded and
 * deferred alone. The next scan finds them together, and they are deferred in batches.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { NOTIFICATIONS_PER_SECOND } from '#src/domain/notification.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { Stopwatch } from '#src/ports/system.ts';

const MS_PER_NOTIFICATION = 1_000 / NOTIFICATIONS_PER_SECOND;
/** A notification that would wait longer than this is left to the scan. */
const AHEAD_MS_MAX = 200;
/** Those behind it are left to the scan too, for this time. */
const LEFT_TO_SCAN_MS = 1_000;
const ENDPOINTS_MAX = 1_024;

/** Estimates when the gate lets the next notification pass. */
interface Pace {
  freeAt: number;
  leftToScanUntil: number;
}

export class NotificationHints {
  readonly #stopwatch: Stopwatch;
  readonly #queue: Pick<Hints, 'due'>;
  readonly #paces = new RecentCache<EndpointId | null, Pace>(ENDPOINTS_MAX);

  constructor(stopwatch: Stopwatch, queue: Pick<Hints, 'due'>) {
    this.#stopwatch = stopwatch;
    this.#queue = queue;
  }

  /** Null: nobody is told. */
  due(notification: Delivery | null | undefined): void {
    if (notification != null && this.#isNext(notification.target.endpointId))
      this.#queue.due(dueDeliveryOf(notification));
  }

  #isNext(endpoint: EndpointId | null): boolean {
    const now = this.#stopwatch.elapsed();
    const pace = this.#paces.get(endpoint) ?? { freeAt: now, leftToScanUntil: now };
    this.#paces.set(endpoint, pace);
    if (now < pace.leftToScanUntil) return false;
    const freeAt = Math.max(pace.freeAt, now);
    if (freeAt - now > AHEAD_MS_MAX) {
      pace.leftToScanUntil = now + LEFT_TO_SCAN_MS;
      return false;
    }
    pace.freeAt = freeAt + MS_PER_NOTIFICATION;
    return true;
  }
}
