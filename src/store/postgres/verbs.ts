/**
 * The verbs of the PostgreSQL store. Here deliveries and gates have two more columns than in SQLite. The slot of the
 * endpoint tells which node sends the delivery. A digest of the endpoint key stands in for it in indexes.
 */

import { slotOf } from '#src/domain/slot.ts';
import { cachedEndpointKey } from '#src/ports/endpoint-cache.ts';
import { cachedEndpointDigest, digestBytes } from '#src/store/sql/digests.ts';
import { type KeyParameters, makeVerbs } from '#src/store/sql/verbs.ts';

/** Values in the order of the columns that the statements name. */
export const keyParameters: KeyParameters = {
  label: digestBytes,
  delivery: ({ partition, target }) => {
    const endpoint = cachedEndpointKey(target);
    return [slotOf(partition, endpoint), cachedEndpointDigest(endpoint)];
  },
  gate: (endpoint) => [cachedEndpointDigest(endpoint)],
};

export const verbs = makeVerbs(keyParameters);
