/**
 * What a schedule sends: custom headers and body, as one piece of bytes to be sealed together. It never
 * changes after creation, so every delivery of the schedule shares it.
 *
 * The piece begins with a byte of flags and the length of the headers (four bytes, the highest first), then come the
 * headers as JSON, then the body as it is sent. So an attempt reads no text of the body's length: it takes the bytes.
 */

import type { Headers } from './headers.ts';
import { isJsonText } from './json.ts';

const decoder = new TextDecoder();

/** At most so many characters of body. */
export const BODY_CHARACTERS_MAX = 262_144;

export interface Payload {
  readonly headers: Headers;
  /** As it is sent; null where there is none. */
  readonly body: Uint8Array | null;
  /** Whether the body is JSON. It is read as JSON once, when the schedule is created. */
  readonly isJson: boolean;
}

export const NO_PAYLOAD: Payload = { headers: [], body: null, isJson: false };

/** Payloads that were stored before this form are JSON: an object of headers and body. */
const BEGINS_OLD_FORM = '{'.charCodeAt(0);
const HAS_BODY = 1;
const IS_JSON = 2;
const LENGTH_AT = 1;
const HEADERS_AT = 5;

/** Null when there is nothing to keep. */
export function encodePayload(headers: Headers, body: string | null, isJson: boolean): Uint8Array | null {
  if (headers.length === 0 && body === null) return null;
  const headerText = JSON.stringify(headers);
  const headerBytes = Buffer.byteLength(headerText);
  const bytes = Buffer.allocUnsafe(HEADERS_AT + headerBytes + Buffer.byteLength(body ?? ''));
  bytes[0] = (body === null ? 0 : HAS_BODY) | (isJson ? IS_JSON : 0);
  bytes.writeUInt32BE(headerBytes, LENGTH_AT);
  bytes.write(headerText, HEADERS_AT);
  if (body !== null) bytes.write(body, HEADERS_AT + headerBytes);
  return bytes;
}

/** The body is a part of the bytes that were given, not a copy. */
export function decodePayload(given: Uint8Array): Payload {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  const flags = bytes.readUInt8(0);
  if (flags === BEGINS_OLD_FORM) return decodeOldForm(bytes);
  const bodyAt = HEADERS_AT + bytes.readUInt32BE(LENGTH_AT);
  return {
    headers: decodeHeaders(bytes.subarray(HEADERS_AT, bodyAt)),
    body: (flags & HAS_BODY) === 0 ? null : bytes.subarray(bodyAt),
    isJson: (flags & IS_JSON) !== 0,
  };
}

function decodeOldForm(bytes: Buffer): Payload {
  const { headers, body } = JSON.parse(decoder.decode(bytes)) as {
    readonly headers: Headers;
    readonly body: string | null;
  };
  return {
    headers,
    body: body === null ? null : Buffer.from(body),
    isJson: body !== null && isJsonText(body),
  };
}

export function encodeHeaders(headers: Headers): Uint8Array | null {
  return headers.length === 0 ? null : Buffer.from(JSON.stringify(headers));
}

export function decodeHeaders(bytes: Uint8Array): Headers {
  return JSON.parse(decoder.decode(bytes)) as Headers;
}
