/** The result of `verify`: the delivery, or the reason why it is refused, as a code and a sentence. */

/** The request comes from Sched. */
export interface Verified {
  readonly ok: true;
  /** `dlv_…`. It is the same for every attempt, and different for a replay. */
  readonly deliveryId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt of a delivery and for its replays. It is not signed. */
  readonly idempotencyKey: string;
  /** The time of the signature, in Unix seconds. */
  readonly timestamp: number;
  /** The raw bytes that were signed. */
  readonly body: Uint8Array;
}

/** The message is for the developer. It never contains a secret, a body or the right signature. */
interface Refused<R extends string> {
  readonly ok: false;
  readonly reason: R;
  readonly message: string;
}

/** A required header is missing or malformed. */
export interface HeaderRefused extends Refused<'missing_header' | 'malformed_header'> {
  readonly header: string;
}

/** The timestamp differs from the clock by more than the tolerance. */
export interface TimestampRefused extends Refused<'timestamp_too_old' | 'timestamp_in_future'> {
  /** The difference beyond the tolerance, in seconds. */
  readonly bySeconds: number;
}

/** The signature does not match the request as given, but matches it after undoing a common mistake. */
export interface NearlyVerified
  extends Refused<
    | 'body_reserialised'
    | 'path_differs'
    | 'method_differs'
    | 'secret_padded'
    | 'secret_without_prefix'
    | 'secret_decoded'
  > {
  /** Describes what the signature matches. */
  readonly matched: string;
}

/** The request is refused for another reason. */
export interface NotMatching
  extends Refused<
    | 'timestamps_differ'
    | 'no_signature_matches'
    /** The body is empty, although a body was sent. */
    | 'body_not_read'
    /** The body is a parsed value, not the raw bytes. */
    | 'body_parsed'
    /** The stream of the body was read before. */
    | 'body_consumed'
    /** The body is longer than any body of Sched. */
    | 'body_too_large'
    | 'secret_missing'
  > {}

export type NotVerified = HeaderRefused | TimestampRefused | NearlyVerified | NotMatching;
export type Reason = NotVerified['reason'];

export function refused(reason: NotMatching['reason'], message: string): NotMatching {
  return { ok: false, reason, message };
}
