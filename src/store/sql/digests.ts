/** Digests that stand in for long values in index keys. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type LabelDigest, labelDigest, labelDigests } from '#src/domain/labels.ts';
import { ENDPOINTS_MAX } from '#src/ports/endpoint-cache.ts';
import type { ScheduleFilter } from '#src/ports/lists.ts';

const ENDPOINT_DIGEST_CHARACTERS = 32;

/** Sorts after every digest of an endpoint: those are hexadecimal digits. */
export const PAST_EVERY_ENDPOINT_DIGEST = 'g';

/** Stands in for the endpoint key, because an index cannot hold a URL of any length. */
export function endpointDigest(endpoint: EndpointKey): string {
  return hash('sha256', endpoint, 'hex').slice(0, ENDPOINT_DIGEST_CHARACTERS);
}

const knownDigests = new LRUCache<EndpointKey, string>({ max: ENDPOINTS_MAX });

/** Many deliveries go to few endpoints, and a look-up takes a tenth of the time of the digest. */
export function cachedEndpointDigest(endpoint: EndpointKey): string {
  const known = knownDigests.get(endpoint);
  if (known !== undefined) return known;
  const digest = endpointDigest(endpoint);
  knownDigests.set(endpoint, digest);
  return digest;
}

/** The digest of a label in the form that its rows store. */
export function labelBytes(name: string, value: string): Uint8Array {
  return digestBytes(labelDigest(name, value));
}

export function digestBytes(digest: LabelDigest): Uint8Array {
  return Buffer.from(digest, 'hex');
}

/** The distinct digests that a schedule must have. */
export function digestsIn({
  labels,
  name = null,
}: Pick<ScheduleFilter, 'labels' | 'name'>): readonly LabelDigest[] {
  return [...new Set(labelDigests(labels, name))];
}
