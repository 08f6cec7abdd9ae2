/**
 * What a schedule sends: custom headers and body, as one piece of bytes to be sealed together. It never
 * changes after creation, so every delivery of the schedule shares it.
 */

import type { Headers } from './headers.ts';
import type { EndpointId, ScheduleId } from './id.ts';
import type { Partition } from './partition.ts';

/** At most so many characters of body. */
export const BODY_CHARACTERS_MAX = 262_144;

export interface Payload {
  readonly headers: Headers;
  readonly body: string | null;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The vault contexts: what is sealed for one place does not open in another. */
export function payloadContext(partition: Partition, id: ScheduleId): string {
  return `payload/${partition}/${id}`;
}

export function profileHeadersContext(partition: Partition, id: EndpointId): string {
  return `headers/${partition}/${id}`;
}

/** Null when there is nothing to keep. */
export function encodePayload({ headers, body }: Payload): Uint8Array | null {
  if (headers.length === 0 && body === null) return null;
  return encoder.encode(JSON.stringify({ headers, body }));
}

export function decodePayload(bytes: Uint8Array): Payload {
  return JSON.parse(decoder.decode(bytes)) as Payload;
}

export function encodeHeaders(headers: Headers): Uint8Array | null {
  return headers.length === 0 ? null : encoder.encode(JSON.stringify(headers));
}

export function decodeHeaders(bytes: Uint8Array): Headers {
  return JSON.parse(decoder.decode(bytes)) as Headers;
}
