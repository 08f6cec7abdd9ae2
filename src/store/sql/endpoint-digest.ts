/** Of an endpoint, for an index: that cannot hold an address of any length. */
import { hash } from 'node:crypto';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';

const DIGEST_CHARACTERS = 32;

export function endpointDigest(endpoint: EndpointKey): string {
  return hash('sha256', endpoint, 'hex').slice(0, DIGEST_CHARACTERS);
}
