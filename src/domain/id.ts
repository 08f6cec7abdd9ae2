/**
 * An id is a prefix of its kind and 26 characters of lower-case Crockford base32: 10 for the creation instant in
 * milliseconds, and 16 random ones. The order of texts is therefore the order of creation. Every list of the service is
 * ordered by (created_at, id), and an index on the id alone gives exactly that order.
 */
import { type Instant, instant } from './instant.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Ids are written in pairs of characters, ten bits each. */
const PAIRS = Array.from({ length: 1_024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);
const PAIR_MAX = PAIRS.length - 1;
const TIME_PAIRS = 5;
const RANDOM_PAIRS = 8;
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
export type UserId = string & { readonly __brand: 'UserId' };
export type InvitationId = string & { readonly __brand: 'InvitationId' };
export type AuditId = string & { readonly __brand: 'AuditId' };
export type JobId = string & { readonly __brand: 'JobId' };
export type AlertChannelId = string & { readonly __brand: 'AlertChannelId' };
export type AlertConditionId = string & { readonly __brand: 'AlertConditionId' };
export type AlertIncidentId = string & { readonly __brand: 'AlertIncidentId' };

interface IdKinds {
  readonly sch: ScheduleId;
  readonly dlv: DeliveryId;
  readonly ep: EndpointId;
  readonly att: AttemptId;
  readonly req: RequestId;
  readonly prj: ProjectId;
  readonly key: KeyId;
  readonly sec: SecretId;
  readonly usr: UserId;
  readonly inv: InvitationId;
  readonly aud: AuditId;
  readonly job: JobId;
  readonly chn: AlertChannelId;
  readonly alc: AlertConditionId;
  readonly inc: AlertIncidentId;
}
export type IdKind = keyof IdKinds;

const TAIL_FORM = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const TAIL = new RegExp(`^${TAIL_FORM}$`);

/** Returns the regular expression of the ids of a kind, for documentation. */
export function idPattern(kind: IdKind): string {
  return `^${kind}_${TAIL_FORM}$`;
}

/** Returns the id, or null when the text does not have the form of this kind. */
export function parseId<K extends IdKind>(kind: K, text: string): IdKinds[K] | null {
  if (!text.startsWith(`${kind}_`) || !TAIL.test(text.slice(kind.length + 1))) return null;
  return text as IdKinds[K];
}

/**
 * Creates ids in strictly increasing order. Within one millisecond the random part counts up, so that objects are
 * listed in the order in which they were created.
 */
export class IdMint {
  readonly #random: (bytes: number) => Uint8Array;
  #lastMs = -1;
  /** The random part, one element for each pair of characters. */
  #tail = new Uint16Array(RANDOM_PAIRS);
  /** The last id without its kind and its last pair. Only that pair changes within a millisecond. */
  #stem = '';

  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random;
  }

  mint<K extends IdKind>(kind: K, now: Instant): IdKinds[K] {
    const ms = Math.min(Math.max(now, 0), TIME_MAX_MS);
    if (ms !== this.#lastMs || !this.#countUp()) {
      this.#lastMs = ms;
      this.#tail = freshTail(this.#random(ID_RANDOM_BYTES));
      this.#stem = stemOf(ms, this.#tail);
    }
    return `${kind}_${this.#stem}${PAIRS[this.#tail[RANDOM_PAIRS - 1] ?? 0]}` as IdKinds[K];
  }

  /** Returns false when the random part would overflow. */
  #countUp(): boolean {
    let at = RANDOM_PAIRS - 1;
    while (this.#tail[at] === PAIR_MAX) at--;
    if (at < 0) return false;
    this.#tail[at] = (this.#tail[at] ?? 0) + 1;
    if (at < RANDOM_PAIRS - 1) {
      this.#tail.fill(0, at + 1);
      this.#stem = stemOf(this.#lastMs, this.#tail);
    }
    return true;
  }
}

/** Returns the smallest id of this kind that an object created at `at` could have. */
export function firstIdAt(kind: IdKind, at: Instant): string {
  return `${kind}_${encodeTime(Math.min(Math.max(at, 0), TIME_MAX_MS))}${'0'.repeat(2 * RANDOM_PAIRS)}`;
}

/** Returns the instant in an id, at which the object was created. */
export function creationOf(id: string): Instant {
  const time = id.slice(id.indexOf('_') + 1).slice(0, 2 * TIME_PAIRS);
  return instant(
    Array.from(time).reduce((ms, character) => ms * ALPHABET.length + ALPHABET.indexOf(character), 0),
  );
}

function encodeTime(ms: number): string {
  let text = '';
  let rest = ms;
  for (let i = 0; i < TIME_PAIRS; i++) {
    text = `${PAIRS[rest % PAIRS.length]}${text}`;
    rest = Math.floor(rest / PAIRS.length);
  }
  return text;
}

function freshTail(bytes: Uint8Array): Uint16Array<ArrayBuffer> {
  const tail = new Uint16Array(RANDOM_PAIRS);
  let bits = 0;
  let held = 0;
  let next = 0;
  for (let i = 0; i < RANDOM_PAIRS; i++) {
    while (held < 10) {
      bits = ((bits << 8) | (bytes[next++] ?? 0)) & 0x3ffff;
      held += 8;
    }
    held -= 10;
    tail[i] = (bits >> held) & PAIR_MAX;
  }
  return tail;
}

function stemOf(ms: number, tail: Uint16Array): string {
  let text = encodeTime(ms);
  for (let i = 0; i < RANDOM_PAIRS - 1; i++) text += PAIRS[tail[i] ?? 0];
  return text;
}
