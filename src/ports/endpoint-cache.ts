/**
 * The endpoints of recently used URLs. Many deliveries go to few URLs, and parsing a URL takes longer than everything
 * else that finds an endpoint.
 */
import type { Delivery, Target } from '#src/domain/delivery.ts';
import { type DueDelivery, type EndpointRef, toDueDelivery } from '#src/domain/due-delivery.ts';
import {
  type Endpoint,
  type EndpointKey,
  endpointOfUrl,
  KEY_CHARACTERS_MAX,
  withProfile,
} from '#src/domain/endpoint-key.ts';
import type { Partition } from '#src/domain/project.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';

export const ENDPOINTS_MAX = 1_024;

const endpoints = new RecentCache<string, Endpoint>(ENDPOINTS_MAX);
const keys = new RecentCache<string, { readonly partition: Partition; readonly key: string }>(ENDPOINTS_MAX);
const hosts = new RecentCache<string, string | null>(ENDPOINTS_MAX);

/** Does what `endpointOf` of the domain does. A long URL is not cached, because the cache must stay small. */
export function cachedEndpoint({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): Endpoint {
  if (url.length > KEY_CHARACTERS_MAX) return withProfile(endpointOfUrl(url), endpointId);
  return withProfile(endpoints.get(url) ?? learn(url), endpointId);
}

export function cachedEndpointKey(target: Pick<Target, 'endpointId' | 'url'>): EndpointKey {
  const { endpointId } = target;
  return endpointId === null ? cachedEndpoint(target).endpoint : (endpointId as string as EndpointKey);
}

/** Returns null when the delivery does not wait to be sent. */
export function dueDeliveryOf(delivery: Delivery): DueDelivery | null {
  return toDueDelivery(delivery, cachedEndpoint);
}

/** Returns the key of an endpoint in maps. The same string is returned again, because maps find it faster. */
export function endpointRefKey({ partition, endpoint }: EndpointRef): string {
  const known = keys.get(endpoint);
  if (known?.partition === partition) return known.key;
  const copy = copyOf(endpoint);
  const key = `${partition}/${copy}`;
  keys.set(copy, { partition, key });
  return key;
}

/** Returns the host and port of an origin. Null where the origin is the text of a URL that cannot be parsed. */
export function hostOfOrigin(origin: string): string | null {
  const known = hosts.get(origin);
  if (known !== undefined) return known;
  const copy = copyOf(origin);
  const host = URL.parse(copy)?.host ?? null;
  hosts.set(copy, host);
  return host;
}

function learn(url: string): Endpoint {
  const copy = copyOf(url);
  const endpoint = endpointOfUrl(copy);
  endpoints.set(copy, endpoint);
  return endpoint;
}

/** The runtime cuts a text out of a larger one without copying it, and would keep all of the larger one in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
