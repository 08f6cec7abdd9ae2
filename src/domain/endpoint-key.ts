/** What breaker, budget, rate limit and fair sharing are kept by: the profile, or the inline URL's origin and path. */
import type { Target } from './delivery.ts';

export type EndpointKey = string & { readonly __brand: 'EndpointKey' };

export function endpointKeyOf({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): EndpointKey {
  if (endpointId !== null) return endpointId as string as EndpointKey;
  const parsed = URL.parse(url);
  return (parsed === null ? url : parsed.origin + parsed.pathname) as EndpointKey;
}

/** The endpoint, and whom it is sent to, whatever the path. */
export function whereTo({ endpointId, url }: Pick<Target, 'endpointId' | 'url'>): {
  readonly endpoint: EndpointKey;
  readonly origin: string;
} {
  const parsed = URL.parse(url);
  const origin = parsed?.origin ?? url;
  if (endpointId !== null) return { endpoint: endpointId as string as EndpointKey, origin };
  return { endpoint: (parsed === null ? url : origin + parsed.pathname) as EndpointKey, origin };
}
