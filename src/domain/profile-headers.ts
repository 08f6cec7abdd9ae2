/** Decrypts the headers of a version of an endpoint profile. Older headers are not bound to a version. */
import type { EndpointId } from './id.ts';
import type { Partition } from './project.ts';
import { legacyProfileHeadersContext, profileHeadersContext } from './sealing-contexts.ts';

export interface ProfileVersion {
  readonly partition: Partition;
  readonly id: EndpointId;
  readonly version: number;
}

interface Opener {
  open(context: string, sealed: Uint8Array): Uint8Array;
}

export function openProfileHeaders(
  vault: Opener,
  { partition, id, version }: ProfileVersion,
  sealed: Uint8Array,
): Uint8Array {
  try {
    return vault.open(profileHeadersContext(partition, id, version), sealed);
  } catch (error) {
    try {
      return vault.open(legacyProfileHeadersContext(partition, id), sealed);
    } catch {
      throw error;
    }
  }
}
