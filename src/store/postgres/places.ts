/**
 * What deliveries and gates are found by here: the slot of the endpoint, by which nodes share the work, and a
 * digest of it, since an index cannot hold an address of any length.
 */
import { hash } from 'node:crypto';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { slotOf } from '#src/domain/slot.ts';
import { labelDigest } from '#src/store/sql/rows.ts';
import type { Places } from '#src/store/sql/verbs.ts';

const DIGEST_CHARACTERS = 32;

/** In the order of the statements' columns. */
export const places: Places = {
  label: labelDigest,
  delivery: ({ partition, target }) => {
    const endpoint = endpointKeyOf(target);
    return [slotOf(partition, endpoint), digestOf(endpoint)];
  },
  gate: (endpoint) => [digestOf(endpoint)],
};

function digestOf(endpoint: EndpointKey): string {
  return hash('sha256', endpoint, 'hex').slice(0, DIGEST_CHARACTERS);
}
