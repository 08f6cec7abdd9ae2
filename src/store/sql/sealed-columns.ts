/**
 * Every column that holds sealed values, once: its table, the key by which its rows are found, and the place that a
 * value is bound to.
 */
import type { EndpointId, ScheduleId, SecretId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import {
  earlierProfileHeadersPlace,
  endpointSecretPlace,
  payloadPlace,
  profileHeadersPlace,
  signingSecretPlace,
} from '#src/domain/sealed-places.ts';
import type { SealedKey, SealedName } from '#src/ports/sealed-store.ts';

export interface SealedColumn {
  readonly table: string;
  /** Columns that tell a row from all others and order them, and whatever else the place needs. */
  readonly key: readonly string[];
  readonly column: string;
  readonly place: (key: SealedKey) => string;
  /** Values stored before may be bound to it. */
  readonly earlierPlace?: (key: SealedKey) => string;
}

export const SEALED_COLUMNS: Readonly<Record<SealedName, SealedColumn>> = {
  payloads: {
    table: 'payloads',
    key: ['partition', 'schedule_id'],
    column: 'sealed',
    place: ([partition, id]) => payloadPlace(partition as Partition, id as ScheduleId),
  },
  profile_headers: {
    table: 'endpoint_versions',
    key: ['partition', 'endpoint_id', 'version'],
    column: 'headers',
    place: ([partition, id, version]) =>
      profileHeadersPlace(partition as Partition, id as EndpointId, version as number),
    earlierPlace: ([partition, id]) => earlierProfileHeadersPlace(partition as Partition, id as EndpointId),
  },
  signing_secrets: {
    table: 'signing_secrets',
    key: ['id', 'partition'],
    column: 'sealed',
    place: ([id, partition]) => signingSecretPlace(partition as Partition, id as SecretId),
  },
  endpoint_secrets: {
    table: 'endpoint_secrets',
    key: ['partition', 'endpoint_id', 'id'],
    column: 'sealed',
    place: ([partition, endpoint, id]) =>
      endpointSecretPlace(partition as Partition, endpoint as EndpointId, id as SecretId),
  },
};
