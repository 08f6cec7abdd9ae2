/**
 * What breaker, budget, rate limit and fair sharing are kept by: the profile, or the inline URL's origin and path.
 *
 * A node keeps the keys of many endpoints in memory, and a customer chooses their length. A long one is cut, and the
 * digest of the whole tells it from others.
 */
import { hash } from 'node:crypto';
import type { Target } from './delivery.ts';

export type EndpointKey = string & { readonly __brand: 'EndpointKey' };

export const KEY_CHARACTERS_MAX = 512;
const DIGEST_CHARACTERS = 64;

export function endpointKeyOf(target: Pick<Target, 'endpointId' | 'url'>): EndpointKey {
  return target.endpointId === null ? whereTo(target).endpoint : endpointKeyOfProfile(target.endpointId);
}

function endpointKeyOfProfile(id: string): EndpointKey {
  return id as EndpointKey;
}

/** The endpoint, and whom it is sent to, whatever the path. */
export function whereTo({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): {
  readonly endpoint: EndpointKey;
  readonly origin: string;
} {
  const parsed = URL.parse(url);
  const origin = cut(parsed?.origin ?? url);
  if (endpointId !== null) return { endpoint: endpointKeyOfProfile(endpointId), origin };
  return { endpoint: cut(parsed === null ? url : parsed.origin + parsed.pathname) as EndpointKey, origin };
}

function cut(key: string): string {
  if (key.length <= KEY_CHARACTERS_MAX) return key;
  return `${key.slice(0, KEY_CHARACTERS_MAX - DIGEST_CHARACTERS - 1)}~${hash('sha256', key, 'hex')}`;
}
