/** What breaker, budget, rate limit and fair sharing are kept by: the profile, or the inline URL's origin and path. */
import type { Target } from './delivery.ts';

export type EndpointKey = string & { readonly __brand: 'EndpointKey' };

export function endpointKeyOf({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): EndpointKey {
  if (endpointId !== null) return endpointId as string as EndpointKey;
  const parsed = URL.parse(url);
  return (parsed === null ? url : parsed.origin + parsed.pathname) as EndpointKey;
}

export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
