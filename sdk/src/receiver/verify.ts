/**
 * Whether a request comes from Sched, and just now: the question every receiver has to ask first.
 *
 *     const result = await verify(request, process.env.SCHED_SIGNING_SECRET ?? '');
 *     if (!result.ok) return new Response(result.reason, { status: 401 });
 *
 * In order: the headers are there and have their form; the signature is not older or newer than the tolerance;
 * one of its `v1` parts was made with one of the secrets (during a rotation both sides may have two). When none
 * was, the usual mistakes are tried out to say which one it is (`diagnosis.ts`). That changes the reason alone:
 * nothing is ever accepted because of it. The message is for the developer; whoever sent the request should
 * be told the reason at most.
 */

import { checkTolerance, NO_SECRET, usableSecrets } from './checks.ts';
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

export interface VerifyOptions {
  /** How far the timestamp may be from this clock, either way. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The receiver's clock, in Unix milliseconds. Default: `Date.now()`. */
  readonly now?: number | undefined;
  /**
   * The path that Sched was told, where it arrives as another one. On a wildcard route give it as a fixed text:
   * path and body are signed joined by a period, and what follows a period may be moved from one to the other.
   */
  readonly path?: PathOption | undefined;
  /** Whether the usual mistakes are tried out when no signature matches. Default true. */
  readonly diagnose?: boolean | undefined;
}

const MS_PER_SECOND = 1_000;

const DELIVERY_ID = /^[A-Za-z0-9_-]{1,64}$/;
const ATTEMPT = /^[1-9][0-9]{0,8}$/;
const TIMESTAMP = /^[1-9][0-9]{0,14}$/;
const IDEMPOTENCY_KEY = /^[\u0020-\u007e]{1,512}$/;

/** What a delivery says about itself, before it is known to be true. */
interface Claim {
  readonly signature: SignatureHeader;
  /** As text: that is what is signed. */
  readonly timestamp: string;
  readonly deliveryId: string;
  readonly attempt: string;
  readonly idempotencyKey: string;
}

export async function verify(
  request: ReceivedRequest | Request,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Verified | NotVerified> {
  const toleranceSeconds = checkTolerance(options.toleranceSeconds);
  const secrets = usableSecrets(secret);
  if (secrets.length === 0) return refused('secret_missing', NO_SECRET);
  const arrival = await normalizeRequest(request, options.path);
  if ('ok' in arrival) return arrival;
  const claim = readClaim(arrival);
  if ('ok' in claim) return claim;
  if (claim.timestamp !== claim.signature.timestamp) {
    return refused('timestamps_differ', 'Sched-Timestamp and the t of Sched-Signature are not the same.');
  }
  const timestamp = Number(claim.timestamp);
  const away = checkTimestamp(timestamp, options.now ?? Date.now(), toleranceSeconds);
  if (away !== null) return away;

  const { signature, deliveryId, attempt, idempotencyKey } = claim;
  const { method, path, body } = arrival;
  const signed = { timestamp: claim.timestamp, deliveryId, attempt, method, path };
  const keys = await Promise.all(secrets.map(importKey));
  if (await hasValidSignature(signature.signatures, keys, signedBytes(signed, body))) {
    return { ok: true, deliveryId, attempt: Number(attempt), idempotencyKey, timestamp, body };
  }
  if (options.diagnose === false) {
    return refused('no_signature_matches', 'No signature matches this request.');
  }
  return diagnose({ arrival, signed, signatures: signature.signatures, secrets, keys });
}

function readClaim({ header }: NormalizedRequest): Claim | HeaderRefused {
  const text = header('Sched-Signature');
  if (text === null) return missing('Sched-Signature');
  const signature = parseSignatureHeader(text);
  if (signature === null) return malformed('Sched-Signature', 't=<seconds>,v1=<64 digits of small hex>');
  const timestamp = header('Sched-Timestamp');
  if (timestamp === null) return missing('Sched-Timestamp');
  if (!TIMESTAMP.test(timestamp)) return malformed('Sched-Timestamp', 'Unix seconds');
  const deliveryId = header('Sched-Delivery-Id');
  if (deliveryId === null) return missing('Sched-Delivery-Id');
  if (!DELIVERY_ID.test(deliveryId)) return malformed('Sched-Delivery-Id', 'dlv_…');
  const attempt = header('Sched-Attempt');
  if (attempt === null) return missing('Sched-Attempt');
  if (!ATTEMPT.test(attempt)) return malformed('Sched-Attempt', 'a number from 1');
  const idempotencyKey = header('Idempotency-Key');
  if (idempotencyKey === null) return missing('Idempotency-Key');
  if (!IDEMPOTENCY_KEY.test(idempotencyKey)) return malformed('Idempotency-Key', 'printable ASCII');
  return { signature, timestamp, deliveryId, attempt, idempotencyKey };
}

function missing(header: string): HeaderRefused {
  const message = `The header ${header} is missing: the request is not from Sched, or a proxy took it away.`;
  return { ok: false, reason: 'missing_header', header, message };
}

function malformed(header: string, form: string): HeaderRefused {
  const message = `The header ${header} does not have its form: ${form}.`;
  return { ok: false, reason: 'malformed_header', header, message };
}

function checkTimestamp(timestamp: number, now: number, toleranceSeconds: number): TimestampRefused | null {
  const age = now / MS_PER_SECOND - timestamp;
  if (Math.abs(age) <= toleranceSeconds) return null;
  const bySeconds = Math.ceil(Math.abs(age) - toleranceSeconds);
  const reason = age > 0 ? 'timestamp_too_old' : 'timestamp_in_future';
  const clocks = `signed at ${formatTime(timestamp * MS_PER_SECOND)}, and this clock says ${formatTime(now)}`;
  const message =
    `The timestamp is ${age > 0 ? 'too old' : 'in the future'} by ${bySeconds} s: ${clocks}; ` +
    `${toleranceSeconds} s are allowed. Either the request is a repeated old one, or a clock is wrong.`;
  return { ok: false, reason, bySeconds, message };
}

/** What no calendar holds is shown as a number. */
function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}
