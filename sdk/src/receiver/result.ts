/** What `verify` answers: the delivery, or why it is not to be trusted, in a word and in a sentence. */

export interface Verified {
  readonly ok: true;
  /** `dlv_…`: the same for every attempt, another one for a replay. */
  readonly deliveryId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt of an occurrence and for its replays. It is not part of what is signed. */
  readonly idempotencyKey: string;
  /** When it was signed, in Unix seconds. */
  readonly timestamp: number;
  /** The bytes that were signed. */
  readonly body: Uint8Array;
}

/** For the developer. The message never holds a secret, a body or the signature that would have been right. */
interface Refused<R extends string> {
  readonly ok: false;
  readonly reason: R;
  readonly message: string;
}

/** A header that must be there, and is not, or not in its form. */
export interface HeaderRefused extends Refused<'missing_header' | 'malformed_header'> {
  readonly header: string;
}

export interface TimestampRefused extends Refused<'timestamp_too_old' | 'timestamp_in_future'> {
  /** By how much it is farther away than the tolerance allows. */
  readonly bySeconds: number;
}

/** The signature matches something else than what was given: that was tried out. */
export interface NearlyVerified
  extends Refused<
    | 'body_reserialised'
    | 'path_differs'
    | 'method_differs'
    | 'secret_padded'
    | 'secret_without_prefix'
    | 'secret_decoded'
  > {
  /** What it matches, in words. */
  readonly matched: string;
}

export interface NotMatching
  extends Refused<
    | 'timestamps_differ'
    | 'no_signature_matches'
    /** It is empty, though a body was sent. */
    | 'body_not_read'
    /** An object was given, not the bytes. */
    | 'body_parsed'
    /** Somebody else has read the stream before. */
    | 'body_consumed'
    /** Sched never sends that much. */
    | 'body_too_large'
    | 'secret_missing'
  > {}

export type NotVerified = HeaderRefused | TimestampRefused | NearlyVerified | NotMatching;
export type Reason = NotVerified['reason'];

export function refused(reason: NotMatching['reason'], message: string): NotMatching {
  return { ok: false, reason, message };
}
