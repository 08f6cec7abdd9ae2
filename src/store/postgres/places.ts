/**
 * What deliveries and gates are found by here: the slot of the endpoint, by which nodes share the work, and a
 * digest of it, since an index cannot hold an address of any length.
 */
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { slotOf } from '#src/domain/slot.ts';
import { endpointDigest } from '#src/store/sql/endpoint-digest.ts';
import { digestBytes } from '#src/store/sql/label-rows.ts';
import type { KeyParameters } from '#src/store/sql/verbs.ts';

/** In the order of the statements' columns. */
export const keyParameters: KeyParameters = {
  label: digestBytes,
  delivery: ({ partition, target }) => {
    const endpoint = endpointKeyOf(target);
    return [slotOf(partition, endpoint), endpointDigest(endpoint)];
  },
  gate: (endpoint) => [endpointDigest(endpoint)],
};
