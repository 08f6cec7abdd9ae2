/**
 * Reads what the conditions of a partition are about: the stats of the last minutes, and breakers that are not closed.
 * Minutes that are over hardly ever change. They are kept, and only the last ones are read each time. From time to time
 * all are read again, because a node that was cut off from the store may have saved late.
 */
import type { AlertCondition } from '#src/domain/alert.ts';
import {
  type AlertIncident,
  firstMinute,
  type Observed,
  type ObservedMinute,
  windowMinutesOf,
} from '#src/domain/alert-incident.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Instant, instant, MS_PER_DAY } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';
import { MINUTE_MS } from '#src/domain/stats.ts';
import type { AlertsDependencies } from './dependencies.ts';

/** Minutes before the last look that are read again. */
const RECENT_MINUTES = 3;
const READ_ALL_EVERY_MS = 5 * MINUTE_MS;
const PARTITIONS_KEPT_MAX = 1_000;
/** Breakers that are listed. Those of open incidents are looked up if there may be more. */
const BREAKERS_MAX = 200;

/**
 * A breaker that nothing probes stays half-open. After this time its endpoint counts as unused: it is longer than the
 * longest window of a breaker.
 */
const UNUSED_AFTER_MS = 2 * MS_PER_DAY;
const BREAKER_WINDOW_MS_MAX = MS_PER_DAY;

interface KnownMinutes {
  /** The first minute that was read. */
  readonly from: Instant;
  readonly readAt: Instant;
  readonly allReadAt: Instant;
  /** Minutes in which something was counted that a condition is about. */
  readonly minutes: readonly ObservedMinute[];
}

export class AlertObserver {
  readonly #insight: AlertsDependencies['insight'];
  readonly #known = new RecentCache<Partition, KnownMinutes>(PARTITIONS_KEPT_MAX);

  constructor({ insight }: Pick<AlertsDependencies, 'insight'>) {
    this.#insight = insight;
  }

  async observe(
    partition: Partition,
    conditions: readonly AlertCondition[],
    open: readonly AlertIncident[],
    now: Instant,
  ): Promise<Observed> {
    const windowMinutes = Math.max(0, ...conditions.map(windowMinutesOf));
    const isAboutBreakers = conditions.some(({ kind }) => kind === 'breaker_opened');
    return {
      minutes: windowMinutes === 0 ? [] : await this.#minutes(partition, windowMinutes, now),
      openEndpoints: isAboutBreakers ? await this.#openEndpoints(partition, open, now) : [],
    };
  }

  async #minutes(
    partition: Partition,
    windowMinutes: number,
    now: Instant,
  ): Promise<readonly ObservedMinute[]> {
    const from = firstMinute(windowMinutes, now);
    const known = this.#knownOf(partition, from, now);
    const since = known === null ? from : instant(Math.max(from, firstMinute(RECENT_MINUTES, known.readAt)));
    const points = await this.#insight.readStats(partition, MINUTE_MS, since, instant(now + MINUTE_MS));
    const minutes = [
      ...(known?.minutes ?? []).filter(({ at }) => at >= from && at < since),
      ...points.flatMap(({ at, stats: { deadLettered, expired, downtimeSkips } }) =>
        deadLettered + expired + downtimeSkips > 0
          ? [{ at, stats: { deadLettered, expired, downtimeSkips } }]
          : [],
      ),
    ];
    this.#known.set(partition, { from, readAt: now, allReadAt: known?.allReadAt ?? now, minutes });
    return minutes;
  }

  #knownOf(partition: Partition, from: Instant, now: Instant): KnownMinutes | null {
    const known = this.#known.get(partition);
    if (known === undefined || known.from > from || known.readAt > now) return null;
    return now - known.allReadAt < READ_ALL_EVERY_MS ? known : null;
  }

  async #openEndpoints(
    partition: Partition,
    open: readonly AlertIncident[],
    now: Instant,
  ): Promise<readonly EndpointKey[]> {
    const changedAfter = instant(Math.max(now - UNUSED_AFTER_MS, 0));
    const listed = await this.#insight.listOpenBreakers(partition, changedAfter, BREAKERS_MAX);
    if (listed.length < BREAKERS_MAX) return listed;
    const endpoints = new Set(listed);
    for (const { endpoint } of open) {
      if (endpoint === null || endpoints.has(endpoint)) continue;
      const openUntil = await this.#openUntil(partition, endpoint);
      if (openUntil !== null && openUntil > changedAfter) endpoints.add(endpoint);
    }
    return [...endpoints];
  }

  /** Whether the breaker of an endpoint that was dropped as unused is still not closed. */
  async isLeftOpen(partition: Partition, endpoint: EndpointKey, now: Instant): Promise<boolean> {
    const openUntil = await this.#openUntil(partition, endpoint);
    return openUntil !== null && openUntil < now - UNUSED_AFTER_MS + BREAKER_WINDOW_MS_MAX;
  }

  /** The end of the last window of a breaker that is not closed. */
  async #openUntil(partition: Partition, endpoint: EndpointKey): Promise<Instant | null> {
    const gate = await this.#insight.findGate(partition, endpoint);
    return gate?.breaker.openUntil ?? null;
  }
}
