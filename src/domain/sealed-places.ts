/** The places sealed values are bound to, `<scope>/<row>`: what is sealed for one does not open in another. */
import type { EndpointId, ScheduleId, SecretId } from './id.ts';
import type { Partition } from './partition.ts';

export function payloadPlace(partition: Partition, id: ScheduleId): string {
  return `payload/${partition}/${id}`;
}

/** Of the profile, not of one version: an edit that leaves the headers alone carries them over. */
export function profileHeadersPlace(partition: Partition, id: EndpointId): string {
  return `headers/${partition}/${id}`;
}

export function signingSecretPlace(partition: Partition, id: SecretId): string {
  return `secret/${partition}/${id}`;
}
