/**
 * Checks that a request comes from Sched and is recent. Every receiver must check this first.
 *
 *     const result = await verify(request, process.env.SCHED_SIGNING_SECRET ?? '');
 *     if (!result.ok) return new Response(result.reason, { status: 401 });
 *
 * The checks, in order: the headers exist and are well-formed, the timestamp is within the tolerance, and one of the
 * `v1` parts was made with one of the secrets. During a rotation, both sides may have two secrets.
 *
 * If no part matches, `diagnosis.ts` tries out common mistakes to find the reason. That only changes the reason: no
 * request is accepted because of it. The message is for the developer. Do not send more than the reason to the sender.
 */

import { checkOptions, checkRequest, checkTolerance, NO_SECRET, usableSecrets } from './checks.ts';
import { diagnose } from './diagnosis.ts';
import {
  type NormalizedRequest,
  normalizeRequest,
  type PathOption,
  type ReceivedRequest,
} from './normalized-request.ts';
import {
  type HeaderRefused,
  type NotVerified,
  refused,
  type TimestampRefused,
  type Verified,
} from './result.ts';
import {
  hasValidSignature,
  importKey,
  parseSignatureHeader,
  type SignatureHeader,
  signedBytes,
} from './signature.ts';

export { SECRETS_MAX } from './checks.ts';
export type { PathOption, ReceivedHeaders, ReceivedRequest } from './normalized-request.ts';
export type {
  HeaderRefused,
  NearlyVerified,
  NotMatching,
  NotVerified,
  Reason,
  TimestampRefused,
  Verified,
} from './result.ts';

/** The options of `verify`. */
export interface VerifyOptions {
  /** The allowed difference between the timestamp and this clock, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The current time, in Unix milliseconds. Default: `Date.now()`. */
  readonly now?: number | undefined;
  /**
   * The path that Sched signed, if it arrives as another one. On a wildcard route, give a fixed text. The signature
   * joins path and body with a period, so an attacker could move text after a period from one to the other.
   */
  readonly path?: PathOption | undefined;
  /** Whether to try out common mistakes if no signature matches. Default: true. */
  readonly diagnose?: boolean | undefined;
}

const MS_PER_SECOND = 1_000;

const OLD = 'Either an old request was sent again, or a clock is wrong.';
const AHEAD = "The sender's clock and this clock differ. Synchronise both with NTP.";

const DELIVERY_ID = /^[A-Za-z0-9_-]{1,64}$/;
const ATTEMPT = /^[1-9][0-9]{0,8}$/;
const TIMESTAMP = /^[1-9][0-9]{0,14}$/;
const IDEMPOTENCY_KEY = /^[\u0020-\u007e]{1,512}$/;

/** The values that a request claims, before they are verified. */
interface Claim {
  readonly signature: SignatureHeader;
  /** The text as it arrived, because the text is signed. */
  readonly timestamp: string;
  readonly deliveryId: string;
  readonly attempt: string;
  readonly idempotencyKey: string;
}

/** Verifies a request with one or more signing secrets. */
export async function verify(
  request: ReceivedRequest | Request,
  secret: string | readonly string[],
  options?: VerifyOptions,
): Promise<Verified | NotVerified> {
  checkRequest(request);
  const {
    path: signedPath,
    now = Date.now(),
    diagnose: isDiagnosed = true,
    ...rest
  } = checkOptions('verify', options);
  const toleranceSeconds = checkTolerance(rest.toleranceSeconds);
  const secrets = usableSecrets(secret);
  if (secrets.length === 0) return refused('secret_missing', NO_SECRET);
  const received = await normalizeRequest(request, signedPath);
  if ('ok' in received) return received;
  const claim = readClaim(received);
  if ('ok' in claim) return claim;
  if (claim.timestamp !== claim.signature.timestamp) {
    return refused('timestamps_differ', 'Sched-Timestamp differs from the t of Sched-Signature.');
  }
  const timestamp = Number(claim.timestamp);
  const refusedTime = checkTimestamp(timestamp, now, toleranceSeconds);
  if (refusedTime !== null) return refusedTime;

  const { signature, deliveryId, attempt, idempotencyKey } = claim;
  const { method, path, body } = received;
  const signed = { timestamp: claim.timestamp, deliveryId, attempt, method, path };
  const keys = await Promise.all(secrets.map(importKey));
  if (await hasValidSignature(signature.signatures, keys, signedBytes(signed, body))) {
    return { ok: true, deliveryId, attempt: Number(attempt), idempotencyKey, timestamp, body };
  }
  if (!isDiagnosed) {
    return refused('no_signature_matches', 'No signature matches this request.');
  }
  return diagnose({ request: received, signed, signatures: signature.signatures, secrets, keys });
}

function readClaim({ header }: NormalizedRequest): Claim | HeaderRefused {
  const text = header('Sched-Signature');
  if (text === null) return missing('Sched-Signature');
  const signature = parseSignatureHeader(text);
  if (signature === null)
    return malformed('Sched-Signature', 't=<seconds>,v1=<64 lower-case hexadecimal digits>');
  const timestamp = header('Sched-Timestamp');
  if (timestamp === null) return missing('Sched-Timestamp');
  if (!TIMESTAMP.test(timestamp)) return malformed('Sched-Timestamp', 'Unix seconds');
  const deliveryId = header('Sched-Delivery-Id');
  if (deliveryId === null) return missing('Sched-Delivery-Id');
  if (!DELIVERY_ID.test(deliveryId)) return malformed('Sched-Delivery-Id', 'dlv_…');
  const attempt = header('Sched-Attempt');
  if (attempt === null) return missing('Sched-Attempt');
  if (!ATTEMPT.test(attempt)) return malformed('Sched-Attempt', 'a whole number of at least 1');
  const idempotencyKey = header('Idempotency-Key');
  if (idempotencyKey === null) return missing('Idempotency-Key');
  if (!IDEMPOTENCY_KEY.test(idempotencyKey)) return malformed('Idempotency-Key', 'printable ASCII');
  return { signature, timestamp, deliveryId, attempt, idempotencyKey };
}

function missing(header: string): HeaderRefused {
  const message = `The header ${header} is missing. The request is not from Sched, or a proxy removed the header.`;
  return { ok: false, reason: 'missing_header', header, message };
}

function malformed(header: string, form: string): HeaderRefused {
  const message = `The header ${header} is malformed. Its form is: ${form}.`;
  return { ok: false, reason: 'malformed_header', header, message };
}

function checkTimestamp(timestamp: number, now: number, toleranceSeconds: number): TimestampRefused | null {
  const age = now / MS_PER_SECOND - timestamp;
  if (Math.abs(age) <= toleranceSeconds) return null;
  const bySeconds = Math.ceil(Math.abs(age) - toleranceSeconds);
  const reason = age > 0 ? 'timestamp_too_old' : 'timestamp_in_future';
  const clocks = `It is ${formatTime(timestamp * MS_PER_SECOND)}, and this clock shows ${formatTime(now)}`;
  const message =
    `The timestamp is ${age > 0 ? 'too old' : 'in the future'} by ${bySeconds} s. ${clocks}. ` +
    `A difference of ${toleranceSeconds} s is allowed. ${age > 0 ? OLD : AHEAD}`;
  return { ok: false, reason, bySeconds, message };
}

/** A time outside the range of dates is shown as a number. */
function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}
