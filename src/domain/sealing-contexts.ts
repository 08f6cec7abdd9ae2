/** The places sealed values are bound to, `<scope>/<row>`: what is sealed for one does not open in another. */
import type { EndpointId, ScheduleId, SecretId } from './id.ts';
import type { Partition } from './project.ts';

export function payloadContext(partition: Partition, id: ScheduleId): string {
  return `payload/${partition}/${id}`;
}

/** The place names the version: the headers of one do not open beside the URL of another. */
export function profileHeadersContext(partition: Partition, id: EndpointId, version: number): string {
  return `${legacyProfileHeadersContext(partition, id)}@${version}`;
}

/** The place of headers that were stored before they were bound to a version. Nothing is sealed for it any more. */
export function legacyProfileHeadersContext(partition: Partition, id: EndpointId): string {
  return `headers/${partition}/${id}`;
}

/** The place names the profile too: a secret of one profile does not open as that of another. */
export function endpointSecretContext(partition: Partition, endpoint: EndpointId, id: SecretId): string {
  return `endpoint-secret/${partition}/${endpoint}.${id}`;
}

export function signingSecretContext(partition: Partition, id: SecretId): string {
  return `secret/${partition}/${id}`;
}
