/**
 * Limits the hints about new notifications. The gate lets only some pass to each endpoint in a second. If many
 * deliveries end at once, nearly all of their notifications have to wait. With a hint for each, each would be loaded and
 * deferred alone. The next scan finds them together, within a second, and they are deferred in batches.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { Clock } from '#src/ports/system.ts';

/** Hints for each endpoint in a window. */
const HINTS_MAX = 5;
const WINDOW_MS = 500;
const ENDPOINTS_MAX = 1_024;

interface Window {
  readonly startedAt: number;
  hints: number;
}

export class NotificationHints {
  readonly #clock: Clock;
  readonly #queue: Pick<Hints, 'due'>;
  readonly #windows = new RecentCache<EndpointId | null, Window>(ENDPOINTS_MAX);

  constructor(clock: Clock, queue: Pick<Hints, 'due'>) {
    this.#clock = clock;
    this.#queue = queue;
  }

  /** Null: nobody is told. */
  due(notification: Delivery | null | undefined): void {
    if (notification == null) return;
    const { endpointId } = notification.target;
    const now = this.#clock.now();
    const known = this.#windows.get(endpointId);
    const isFresh = known !== undefined && Math.abs(now - known.startedAt) < WINDOW_MS;
    const window = isFresh ? known : { startedAt: now, hints: 0 };
    if (!isFresh) this.#windows.set(endpointId, window);
    if (window.hints++ < HINTS_MAX) this.#queue.due(dueDeliveryOf(notification));
  }
}
