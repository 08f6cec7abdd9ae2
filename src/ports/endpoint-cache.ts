/**
 * The endpoints of recently used URLs. Many deliveries go to few URLs, and parsing a URL takes longer than everything
 * else that finds an endpoint.
 */
import { LRUCache } from 'lru-cache';
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

export const ENDPOINTS_MAX = 1_024;

const endpoints = new LRUCache<string, Endpoint>({ max: ENDPOINTS_MAX });
const keys = new LRUCache<string, { readonly partition: Partition; readonly key: string }>({
  max: ENDPOINTS_MAX,
});

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
