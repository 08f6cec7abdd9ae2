/**
 * Why a request was not answered, in words that may be shown to the customer: short, always the same for the
 * same cause, and without addresses, names or anything else of the inside.
 */
import { errors } from 'undici';
import type { SendResult } from '#src/ports/egress.ts';

export type Unanswered = Exclude<SendResult, { readonly kind: 'answered' }>;

/** What ends a request before its answer, carrying what is to be told about it. */
export class NotSent extends Error {
  readonly result: Unanswered;

  constructor(result: Unanswered, options?: ErrorOptions) {
    super(result.why, options);
    this.name = 'NotSent';
    this.result = result;
  }
}

export function forbidden(why: string): NotSent {
  return new NotSent({ kind: 'forbidden', why });
}

export function unresolved(why: string, cause?: unknown): NotSent {
  return new NotSent({ kind: 'unresolved', why }, { cause });
}

export function failed(why: string, cause?: unknown): NotSent {
  return new NotSent({ kind: 'failed', why }, { cause });
}

export const BROKEN_OFF: Unanswered = { kind: 'failed', why: 'broken off' };

const NOT_TRUSTED = 'certificate is not trusted';
const UNREACHABLE = 'destination is unreachable';
const MALFORMED = 'malformed answer';

const WHY_BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ECONNABORTED: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  ENETDOWN: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not yet valid',
  CERT_REVOKED: 'certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  CERT_UNTRUSTED: NOT_TRUSTED,
  CERT_CHAIN_TOO_LONG: NOT_TRUSTED,
  INVALID_CA: NOT_TRUSTED,
  CERT_SIGNATURE_FAILURE: 'certificate is not valid',
  INVALID_PURPOSE: 'certificate is not valid',
  CERT_REJECTED: 'certificate is not valid',
  HOSTNAME_MISMATCH: 'certificate is for another name',
  EPROTO: 'TLS handshake failed',
  UND_ERR_SOCKET: 'connection closed before an answer',
  UND_ERR_HEADERS_OVERFLOW: 'headers of the answer are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: MALFORMED,
  UND_ERR_DESTROYED: 'broken off',
  UND_ERR_INVALID_ARG: 'request cannot be written',
  UND_ERR_NOT_SUPPORTED: 'request cannot be written',
  ERR_ASSERTION: MALFORMED,
};

const WHY_BY_PREFIX: readonly (readonly [prefix: string, why: string])[] = [
  ['ERR_SSL_', 'TLS handshake failed'],
  ['ERR_TLS_', 'TLS handshake failed'],
  ['ERR_OSSL_', 'TLS handshake failed'],
];

/** undici closes the connection with these when it does not like what came. */
const MALFORMED_MESSAGES: ReadonlySet<string> = new Set(['bad response', 'bad upgrade']);

/** This machine has no connection to spare: that says nothing about the destination. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS']);

export function notSent(error: unknown): NotSent {
  if (error instanceof NotSent) return error;
  return EXHAUSTED.has(codeOf(error))
    ? unresolved('too many open connections', error)
    : failed(whyOf(error), error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return 'connection failed';
  if (error instanceof errors.HTTPParserError || MALFORMED_MESSAGES.has(error.message)) return MALFORMED;
  const code = codeOf(error);
  const byPrefix = WHY_BY_PREFIX.find(([prefix]) => code.startsWith(prefix));
  return WHY_BY_CODE[code] ?? byPrefix?.[1] ?? 'connection failed';
}
