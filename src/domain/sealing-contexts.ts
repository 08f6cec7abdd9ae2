/**
 * The contexts of encrypted values, in the form `<scope>/<row>`. A value that was sealed for one context does not open
 * in another.
 */
import type { AlertChannelId, DeliveryId, EndpointId, ScheduleId, SecretId } from './id.ts';
import type { Partition } from './project.ts';

/** The first version has the context that payloads had before they had versions. */
export function payloadContext(partition: Partition, id: ScheduleId, version: number): string {
  return `payload/${partition}/${id}${version === 1 ? '' : `@${version}`}`;
}

/** The context has the delivery and the number of the attempt. */
export function responseContext(partition: Partition, id: DeliveryId, attemptNo: number): string {
  return `response/${partition}/${id}.${attemptNo}`;
}

/** The context has the version, so that the headers of one version do not open beside the URL of another. */
export function profileHeadersContext(partition: Partition, id: EndpointId, version: number): string {
  return `headers/${partition}/${id}@${version}`;
}

/** The context has the profile, so that a secret of one profile does not open as that of another. */
export function endpointSecretContext(partition: Partition, endpoint: EndpointId, id: SecretId): string {
  return `endpoint-secret/${partition}/${endpoint}.${id}`;
}

export function signingSecretContext(partition: Partition, id: SecretId): string {
  return `secret/${partition}/${id}`;
}

/** The URL of a channel. */
export function alertUrlContext(partition: Partition, id: AlertChannelId): string {
  return `alert-url/${partition}/${id}`;
}
