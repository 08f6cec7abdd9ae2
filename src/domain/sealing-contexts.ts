/**
 * The contexts of encrypted values, in the form `<scope>/<row>`. A value that was sealed for one context does not open
 * in another.
 */
import type { EndpointId, ScheduleId, SecretId } from './id.ts';
import type { Partition } from './project.ts';

export function payloadContext(partition: Partition, id: ScheduleId): string {
  return `payload/${partition}/${id}`;
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
