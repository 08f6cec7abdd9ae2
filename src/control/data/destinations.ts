/**
 * `GET destinations` lists endpoint profiles with their breakers and the counts of the last day. The first page also
 * has the inline destinations that were used lately. `POST destinations/close-breaker` asks the node that owns the gate
 * to close its breaker.
 */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '#src/api/cursor.ts';
import { presentProfile } from '#src/api/present.ts';
import { requireFound } from '#src/commands/command.ts';
import type { Destination } from '#src/control/http/data-contract.ts';
import { choice, cursor, parsed } from '#src/control/http/fields.ts';
import { orNull } from '#src/control/http/present.ts';
import { DONE, json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { URL_CHARACTERS_MAX } from '#src/domain/destination.ts';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { parseId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { HOUR_MS, NO_STATS, type Stats } from '#src/domain/stats.ts';
import { type BreakerStatus, listBreakers } from './breakers.ts';
import type { DataDependencies } from './dependencies.ts';
import { presentCounts } from './present.ts';
import { DAY_MS } from './window.ts';

const PROFILES_SHOWN_MAX = 50;
const INLINE_SHOWN_MAX = 200;

export function destinationRoutes(dependencies: DataDependencies): readonly ProjectRoute[] {
  return [listRoute(dependencies), closeRoute(dependencies)];
}

function listRoute({ commands: { store, clock }, insight }: DataDependencies): ProjectRoute {
  return projectRoute('GET destinations', {
    needs: 'viewer',
    query: z.object({ cursor, include_archived: choice(['true', 'false']) }),
    handle: async ({ query: { cursor, include_archived }, partition, mode }) => {
      const now = clock.now();
      // Stats of endpoints are kept by the hour.
      const since = instant(Math.floor((now - DAY_MS) / HOUR_MS) * HOUR_MS);
      const list = { partition, name: 'destinations' };
      const before = cursor === null ? null : decodeCursor(list, cursor, (id) => parseId('ep', id));
      const [{ items: shown, hasMore }, breakers] = await Promise.all([
        store.listProfiles(partition, include_archived === 'true', { before, limit: PROFILES_SHOWN_MAX }),
        listBreakers(insight, partition, now),
      ]);
      const inline = before === null ? await inlineEndpoints(insight, partition, since, breakers) : [];
      const keys = [...shown.map(keyOf), ...inline];
      const active = await insight.readEndpointStats(partition, keys, since);
      const stats = new Map(active.map(({ endpoint, stats }) => [endpoint, stats]));
      const present = (endpoint: EndpointKey, profile: EndpointProfile | null) => ({
        endpoint,
        profile: profile && presentProfile(profile, mode),
        url: profile?.url ?? endpoint,
        ...presentState(breakers.get(endpoint), stats.get(endpoint)),
      });
      const last = shown.at(-1);
      return json({
        data: [
          ...shown.map((profile) => present(keyOf(profile), profile)),
          ...inline.map((endpoint) => present(endpoint, null)),
        ],
        next_cursor: hasMore && last !== undefined ? encodeCursor(list, last.id) : null,
      });
    },
  });
}

function keyOf({ id, url }: EndpointProfile): EndpointKey {
  return endpointKeyOf({ endpointId: id, url });
}

/** Lists inline destinations that have a gate or were used lately. Those with an open breaker come first. */
async function inlineEndpoints(
  insight: DataDependencies['insight'],
  partition: Partition,
  since: Instant,
  breakers: ReadonlyMap<EndpointKey, BreakerStatus>,
): Promise<readonly EndpointKey[]> {
  const active = await insight.listActiveEndpoints(partition, since, INLINE_SHOWN_MAX);
  const open = [...breakers.values()].filter(({ state }) => state !== 'closed');
  const all = new Set([...open.map(({ endpoint }) => endpoint), ...active, ...breakers.keys()]);
  return [...all].filter((endpoint) => parseId('ep', endpoint) === null).slice(0, INLINE_SHOWN_MAX);
}

function presentState(
  breaker: BreakerStatus | undefined,
  stats: Stats | undefined,
): Pick<Destination<unknown>, 'breaker' | 'last_24h'> {
  return {
    breaker: {
      state: breaker?.state ?? 'closed',
      failures: breaker?.failures ?? 0,
      open_until: orNull(breaker?.openUntil ?? null),
    },
    last_24h: presentCounts(stats ?? NO_STATS),
  };
}

function closeRoute({ commands: { store, clock }, insight }: DataDependencies): ProjectRoute {
  return projectRoute('POST destinations/close-breaker', {
    needs: 'operator',
    body: z.strictObject({
      endpoint: parsed(
        parseEndpoint,
        (name) => `${name} must be the id of an endpoint profile, or the origin and path of a destination.`,
      ),
    }),
    audited: { action: 'endpoint.close_breaker', subject: ({ body }) => body.endpoint },
    handle: async ({ body: { endpoint }, partition }) => {
      const id = parseId('ep', endpoint);
      if (id !== null) requireFound(await store.findProfile(partition, id));
      await insight.addBreakerReset({ partition, endpoint, at: clock.now() });
      return json(DONE);
    },
  });
}

/** Parses the id of an endpoint profile, or the origin and path of an inline destination. */
function parseEndpoint(text: string): EndpointKey | null {
  if (text.length > URL_CHARACTERS_MAX) return null;
  const isProfile = parseId('ep', text) !== null;
  const isInline = URL.canParse(text) && endpointKeyOf({ endpointId: null, url: text }) === text;
  return isProfile || isInline ? (text as EndpointKey) : null;
}
