/**
 * Identifiers: a kind prefix and 26 characters of lower-case Crockford base32, 10 for the creation
 * instant in milliseconds and 16 random. Text order is therefore creation order: every list of the
 * service is ordered by (created_at, id), and an index on the id alone gives exactly that order.
 */
import type { Instant } from './instant.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
const TIME_MAX_MS = 2 ** 48 - 1;
export const ID_RANDOM_BYTES = 10;

export type ScheduleId = string & { readonly __brand: 'ScheduleId' };
export type DeliveryId = string & { readonly __brand: 'DeliveryId' };
export type EndpointId = string & { readonly __brand: 'EndpointId' };
export type AttemptId = string & { readonly __brand: 'AttemptId' };
export type RequestId = string & { readonly __brand: 'RequestId' };
export type ProjectId = string & { readonly __brand: 'ProjectId' };
export type KeyId = string & { readonly __brand: 'KeyId' };
export type SecretId = string & { readonly __brand: 'SecretId' };

interface IdKinds {
  readonly sch: ScheduleId;
  readonly dlv: DeliveryId;
  readonly ep: EndpointId;
  readonly att: AttemptId;
  readonly req: RequestId;
  readonly prj: ProjectId;
  readonly key: KeyId;
  readonly sec: SecretId;
}
export type IdKind = keyof IdKinds;

const TAIL = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The id when `text` has the form of one of this kind, else null. */
export function parseId<K extends IdKind>(kind: K, text: string): IdKinds[K] | null {
  if (!text.startsWith(`${kind}_`) || !TAIL.test(text.slice(kind.length + 1))) return null;
  return text as IdKinds[K];
}

/**
 * Mints ids in strictly rising order even within one millisecond (the random part counts up), so that
 * two objects created one after the other are listed in that order.
 */
export class IdMint {
  readonly #random: (bytes: number) => Uint8Array;
  #lastMs = -1;
  #lastTail = new Uint8Array(RANDOM_CHARACTERS);

  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random;
  }

  mint<K extends IdKind>(kind: K, now: Instant): IdKinds[K] {
    const ms = Math.min(Math.max(now, 0), TIME_MAX_MS);
    if (ms !== this.#lastMs || !increment(this.#lastTail)) {
      this.#lastMs = ms;
      this.#lastTail = freshTail(this.#random(ID_RANDOM_BYTES));
    }
    return `${kind}_${encodeTime(ms)}${encodeTail(this.#lastTail)}` as IdKinds[K];
  }
}

/** The smallest id text of this kind that an object created at `at` could have. */
export function firstIdAt(kind: IdKind, at: Instant): string {
  return `${kind}_${encodeTime(Math.min(Math.max(at, 0), TIME_MAX_MS))}${'0'.repeat(RANDOM_CHARACTERS)}`;
}

function encodeTime(ms: number): string {
  let text = '';
  let rest = ms;
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function freshTail(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const tail = new Uint8Array(RANDOM_CHARACTERS);
  let bits = 0;
  let held = 0;
  let next = 0;
  for (let i = 0; i < RANDOM_CHARACTERS; i++) {
    if (held < 5) {
      bits = ((bits << 8) | (bytes[next++] ?? 0)) & 0xffff;
      held += 8;
    }
    held -= 5;
    tail[i] = (bits >> held) & 31;
  }
  return tail;
}

/** Counts the tail up by one; false when it would overflow. */
function increment(tail: Uint8Array): boolean {
  for (let i = tail.length - 1; i >= 0; i--) {
    const digit = tail[i] ?? 0;
    if (digit < 31) {
      tail[i] = digit + 1;
      tail.fill(0, i + 1);
      return true;
    }
  }
  return false;
}

function encodeTail(tail: Uint8Array): string {
  let text = '';
  for (const digit of tail) text += ALPHABET.charAt(digit);
  return text;
}
