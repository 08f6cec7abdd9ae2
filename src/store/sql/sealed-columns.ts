/**
 * Lists every column that holds sealed values: its table, the key of its rows, and the context that a value is bound
 * to.
 */
import type { AlertChannelId, DeliveryId, EndpointId, ScheduleId, SecretId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  alertUrlContext,
  endpointSecretContext,
  payloadContext,
  profileHeadersContext,
  responseContext,
  signingSecretContext,
} from '#src/domain/sealing-contexts.ts';
import type { SealedColumnName, SealedKey } from '#src/ports/vault.ts';

export interface SealedColumn {
  readonly table: string;
  /** Columns that identify a row and define the order of rows, and others that the context needs. */
  readonly key: readonly string[];
  readonly column: string;
  readonly context: (key: SealedKey) => string;
}

export const SEALED_COLUMNS: Readonly<Record<SealedColumnName, SealedColumn>> = {
  payloads: {
    table: 'payloads',
    key: ['partition', 'schedule_id', 'version'],
    column: 'sealed',
    context: ([partition, id, version]) =>
      payloadContext(partition as Partition, id as ScheduleId, version as number),
  },
  earlier_payloads: {
    table: 'earlier_payloads',
    key: ['partition', 'schedule_id', 'version'],
    column: 'sealed',
    context: ([partition, id, version]) =>
      payloadContext(partition as Partition, id as ScheduleId, version as number),
  },
  attempt_responses: {
    table: 'attempt_responses',
    key: ['partition', 'delivery_id', 'attempt_no'],
    column: 'sealed',
    context: ([partition, id, attemptNo]) =>
      responseContext(partition as Partition, id as DeliveryId, attemptNo as number),
  },
  profile_headers: {
    table: 'endpoint_profile_versions',
    key: ['partition', 'endpoint_id', 'version'],
    column: 'sealed_headers',
    context: ([partition, id, version]) =>
      profileHeadersContext(partition as Partition, id as EndpointId, version as number),
  },
  signing_secrets: {
    table: 'signing_secrets',
    key: ['id', 'partition'],
    column: 'sealed',
    context: ([id, partition]) => signingSecretContext(partition as Partition, id as SecretId),
  },
  endpoint_secrets: {
    table: 'endpoint_secrets',
    key: ['partition', 'endpoint_id', 'id'],
    column: 'sealed',
    context: ([partition, endpoint, id]) =>
      endpointSecretContext(partition as Partition, endpoint as EndpointId, id as SecretId),
  },
  alert_urls: {
    table: 'alert_channels',
    key: ['partition', 'id'],
    column: 'sealed_url',
    context: ([partition, id]) => alertUrlContext(partition as Partition, id as AlertChannelId),
  },
};
