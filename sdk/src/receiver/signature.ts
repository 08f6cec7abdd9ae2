/**
 * The signature of a delivery, as the receiver works it out again:
 *
 *     Sched-Signature: t=<timestamp>,v1=<hex>[,v1=<hex>…]
 *
 * Each `v1` is the HMAC-SHA256 of `<timestamp>.<delivery id>.<attempt>.<METHOD>.<path>.<body>` with one of the
 * secrets that sign at the time; the key is the secret's whole text in UTF-8, `whsec_` included. Parts of
 * another name are ignored: a later version of the signature may stand beside this one.
 */

/** Room for a hundred secrets. */
const HEADER_CHARACTERS_MAX = 8_192;
const TIMESTAMP_PART = /^t=([1-9][0-9]{0,14})$/;
/** Sched writes its hex in small letters: a signature has one spelling. */
const SIGNATURE_PART = /^v1=([0-9a-f]{64})$/;

export interface SignatureHeader {
  /** As it was written: this text is what is signed. */
  readonly timestamp: string;
  /** 64 hexadecimal digits each, at least one. */
  readonly signatures: readonly string[];
}

/** What is signed besides the body. All of it as text, exactly as it arrived. */
export interface Signed {
  readonly timestamp: string;
  readonly deliveryId: string;
  readonly attempt: string;
  readonly method: string;
  /** Without the query. */
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

/** Whether any of the signatures was made with any of the keys. One HMAC for each key, however many are given. */
export async function hasValidSignature(
  signatures: readonly string[],
  keys: readonly Key[],
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  let isRight = false;
  for (const key of keys) {
    const expected = toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes)));
    // No early way out: how many were looked at says nothing either.
    for (const signature of signatures) isRight = isEqualInConstantTime(signature, expected) || isRight;
  }
  return isRight;
}

/**
 * In constant time: both have 64 digits, every digit is looked at, and what differs is only collected, never
 * branched on. How long it takes does not tell how many of the first digits were right, by which a signature
 * could be guessed digit by digit.
 */
function isEqualInConstantTime(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let i = 0; i < expected.length; i++) difference |= given.charCodeAt(i) ^ expected.charCodeAt(i);
  return difference === 0;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
