/**
 * The key that breaker, retry budget, rate limit and fair queues are kept by: the endpoint profile, or origin and path
 * of the inline URL.
 *
 * A node keeps the keys of many endpoints in memory, and a customer chooses their length. A long key is therefore cut
 * and ends with the digest of the whole, which tells it from others.
 */
import { hash } from 'node:crypto';
import type { Target } from './delivery.ts';

export type EndpointKey = string & { readonly __brand: 'EndpointKey' };

export const KEY_CHARACTERS_MAX = 512;
const DIGEST_CHARACTERS = 64;

export interface Endpoint {
  readonly endpoint: EndpointKey;
  /** Scheme, host and port of the URL. */
  readonly origin: string;
}

/** Parsing the URL is most of the cost. Code that sends deliveries uses the cache (`ports/endpoint-cache.ts`). */
export function endpointOf({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): Endpoint {
  return withProfile(endpointOfUrl(url), endpointId);
}

export function endpointKeyOf(target: Pick<Target, 'endpointId' | 'url'>): EndpointKey {
  return endpointOf(target).endpoint;
}

export function endpointOfUrl(url: string): Endpoint {
  const parsed = URL.parse(url);
  const origin = parsed?.origin ?? url;
  const endpoint = parsed === null ? url : origin + parsed.pathname;
  return { endpoint: cut(endpoint) as EndpointKey, origin: cut(origin) };
}

/** The key of a profile is its id, whatever its URL. */
export function withProfile(endpoint: Endpoint, endpointId: Target['endpointId']): Endpoint {
  return endpointId === null
    ? endpoint
    : { endpoint: endpointId as string as EndpointKey, origin: endpoint.origin };
}

function cut(key: string): string {
  if (key.length <= KEY_CHARACTERS_MAX) return key;
  return `${key.slice(0, KEY_CHARACTERS_MAX - DIGEST_CHARACTERS - 1)}~${hash('sha256', key, 'hex')}`;
}
