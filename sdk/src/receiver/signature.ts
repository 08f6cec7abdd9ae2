/**
 * Computes the signature of a delivery again, for comparison:
 *
 *     Sched-Signature: t=<timestamp>,v1=<hex>[,v1=<hex>…]
 *
 * Each `v1` is the HMAC-SHA256 of `<timestamp>.<delivery id>.<attempt>.<METHOD>.<path>.<body>` with one of the secrets
 * that sign at that time. The key is the whole text of the secret in UTF-8, including `whsec_`. Parts with other names
 * are ignored, because a later version of the signature may be sent beside this one.
 */

/** Enough for the signatures of a hundred secrets. */
const HEADER_CHARACTERS_MAX = 8_192;
const TIMESTAMP_PART = /^t=([1-9][0-9]{0,14})$/;
/** Sched writes hexadecimal digits in lower case, so a signature has only one form. */
const SIGNATURE_PART = /^v1=([0-9a-f]{64})$/;

export interface SignatureHeader {
  /** The text as it arrived, because the text is signed. */
  readonly timestamp: string;
  /** At least one signature, each with 64 hexadecimal digits. */
  readonly signatures: readonly string[];
}

/** The signed values except the body, as the exact texts that arrived. */
export interface Signed {
  readonly timestamp: string;
  readonly deliveryId: string;
  readonly attempt: string;
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
}

export type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const encoder = new TextEncoder();

export function parseSignatureHeader(text: string): SignatureHeader | null {
  if (text.length > HEADER_CHARACTERS_MAX) return null;
  const [first = '', ...others] = text.split(',');
  const timestamp = TIMESTAMP_PART.exec(first)?.[1];
  const signatures = others.flatMap((part) => SIGNATURE_PART.exec(part)?.[1] ?? []);
  return timestamp === undefined || signatures.length === 0 ? null : { timestamp, signatures };
}

export function importKey(secret: string | Uint8Array): Promise<Key> {
  const bytes = typeof secret === 'string' ? encoder.encode(secret) : new Uint8Array(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

export function signedBytes(signed: Signed, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const { timestamp, deliveryId, attempt, method, path } = signed;
  const head = encoder.encode(`${timestamp}.${deliveryId}.${attempt}.${method}.${path}.`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/** Whether any signature was made with any key. The number of HMACs depends only on the number of keys. */
export async function hasValidSignature(
  signatures: readonly string[],
  keys: readonly Key[],
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  let isValid = false;
  for (const key of keys) {
    const expected = toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes)));
    // There is no early exit, so that the time does not reveal which signature matched.
    for (const signature of signatures) isValid = isEqualInConstantTime(signature, expected) || isValid;
  }
  return isValid;
}

/**
 * Compares two signatures of 64 digits in constant time. Every digit is compared, and differences are collected without
 * a branch. The time therefore does not reveal how many digits were right. Otherwise a signature could be guessed digit
 * by digit.
 */
function isEqualInConstantTime(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let i = 0; i < expected.length; i++) difference |= given.charCodeAt(i) ^ expected.charCodeAt(i);
  return difference === 0;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
