/**
 * The payload of a schedule: custom headers and body, encrypted as one piece. It never changes after creation, so all
 * deliveries of the schedule share it.
 *
 * The encoding begins with a byte of flags and the length of the headers (four bytes, big endian). Then come the
 * headers as JSON, and the body as it is sent. An attempt therefore takes the bytes of the body without parsing it.
 */

import type { Headers } from './headers.ts';
import { isJsonText } from './json.ts';

const decoder = new TextDecoder();

/** The maximum length of a body. */
export const BODY_CHARACTERS_MAX = 262_144;

export interface Payload {
  readonly headers: Headers;
  /** The bytes that are sent; null when there is no body. */
  readonly body: Uint8Array | null;
  /** True when the body is JSON. It is checked once, when the schedule is created. */
  readonly isJson: boolean;
}

export const NO_PAYLOAD: Payload = { headers: [], body: null, isJson: false };

/** Older payloads are stored as a JSON object of headers and body. */
const BEGINS_OLD_FORM = '{'.charCodeAt(0);
const HAS_BODY = 1;
const IS_JSON = 2;
const LENGTH_AT = 1;
const HEADERS_AT = 5;

/** Returns null when there is nothing to store. */
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

/** Decodes without copying: the body is a view of the given bytes. */
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
