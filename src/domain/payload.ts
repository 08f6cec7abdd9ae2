/**
 * What a schedule sends: custom headers and body, as one piece of bytes to be sealed together. It never
 * changes after creation, so every delivery of the schedule shares it.
 */

import type { Headers } from './headers.ts';

/** At most so many characters of body. */
export const BODY_CHARACTERS_MAX = 262_144;

export interface Payload {
  readonly headers: Headers;
  readonly body: string | null;
}

const decoder = new TextDecoder();

/** Null when there is nothing to keep. */
export function encodePayload({ headers, body }: Payload): Uint8Array | null {
  if (headers.length === 0 && body === null) return null;
  return Buffer.from(JSON.stringify({ headers, body }));
}

export function decodePayload(bytes: Uint8Array): Payload {
  return JSON.parse(decoder.decode(bytes)) as Payload;
}

export function encodeHeaders(headers: Headers): Uint8Array | null {
  return headers.length === 0 ? null : Buffer.from(JSON.stringify(headers));
}

export function decodeHeaders(bytes: Uint8Array): Headers {
  return JSON.parse(decoder.decode(bytes)) as Headers;
}
