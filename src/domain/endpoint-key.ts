/**
 * What breaker, budget, rate limit and fair sharing are kept by: the profile, or the inline URL's origin and path.
 *
 * A node keeps the keys of many endpoints in memory, and a customer chooses their length. A long one is cut, and the
 * digest of the whole tells it from others.
 */
import { hash } from 'node:crypto';
import type { Target } from './delivery.ts';
import { LatelyKnown } from './lately-known.ts';

export type EndpointKey = string & { readonly __brand: 'EndpointKey' };

export const KEY_CHARACTERS_MAX = 512;
const DIGEST_CHARACTERS = 64;

export function endpointKeyOf(target: Pick<Target, 'endpointId' | 'url'>): EndpointKey {
  return target.endpointId === null ? whereTo(target).endpoint : endpointKeyOfProfile(target.endpointId);
}

function endpointKeyOfProfile(id: string): EndpointKey {
  return id as EndpointKey;
}

interface Where {
  readonly endpoint: EndpointKey;
  readonly origin: string;
}

/** Many deliveries go to few URLs, and to parse one takes longer than all the rest of this. */
const known = new LatelyKnown<Where>();

/** The endpoint, and whom it is sent to, whatever the path. */
export function whereTo({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): Where {
  const isLong = url.length > KEY_CHARACTERS_MAX;
  const where = isLong ? whereOf(url) : (known.get(url) ?? known.learn(url, whereOf));
  return endpointId === null ? where : { endpoint: endpointKeyOfProfile(endpointId), origin: where.origin };
}

function whereOf(url: string): Where {
  const parsed = URL.parse(url);
  const origin = parsed?.origin ?? url;
  const endpoint = parsed === null ? url : origin + parsed.pathname;
  return { endpoint: cut(endpoint) as EndpointKey, origin: cut(origin) };
}

function cut(key: string): string {
  if (key.length <= KEY_CHARACTERS_MAX) return key;
  return `${key.slice(0, KEY_CHARACTERS_MAX - DIGEST_CHARACTERS - 1)}~${hash('sha256', key, 'hex')}`;
}
