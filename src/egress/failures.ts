/** Turns the errors of Node and undici into failures of the table (`domain/failures.ts`). */
import errors from 'undici/lib/core/errors.js';
import { FAILURES, type FailureCode } from '#src/domain/failures.ts';

/** Ends a request before its answer. */
export class SendFailure extends Error {
  readonly failure: FailureCode;

  constructor(failure: FailureCode, cause?: unknown) {
    super(FAILURES[failure].text, { cause });
    this.name = 'SendFailure';
    this.failure = failure;
  }
}

const FAILURE_BY_ERROR_CODE: Readonly<Record<string, FailureCode>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ETIMEDOUT: 'connection_timed_out',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EMFILE: 'too_many_connections',
  ENFILE: 'too_many_connections',
  ENOBUFS: 'too_many_connections',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
  CERT_REVOKED: 'certificate_revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name_mismatch',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_untrusted',
  CERT_UNTRUSTED: 'certificate_untrusted',
  CERT_CHAIN_TOO_LONG: 'certificate_untrusted',
  INVALID_CA: 'certificate_untrusted',
  CERT_SIGNATURE_FAILURE: 'certificate_invalid',
  INVALID_PURPOSE: 'certificate_invalid',
  CERT_REJECTED: 'certificate_invalid',
  HOSTNAME_MISMATCH: 'certificate_name_mismatch',
  EPROTO: 'tls_handshake_failed',
  UND_ERR_SOCKET: 'connection_closed',
  UND_ERR_HEADERS_OVERFLOW: 'response_headers_too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'malformed_response',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_INVALID_ARG: 'request_unwritable',
  UND_ERR_NOT_SUPPORTED: 'request_unwritable',
  ERR_ASSERTION: 'malformed_response',
};

const FAILURE_BY_PREFIX: readonly (readonly [prefix: string, failure: FailureCode])[] = [
  ['ERR_SSL_', 'tls_handshake_failed'],
  ['ERR_TLS_', 'tls_handshake_failed'],
  ['ERR_OSSL_', 'tls_handshake_failed'],
];

/** undici closes the connection with these messages when it cannot parse the answer. They have no code of their own. */
const MALFORMED_MESSAGES: ReadonlySet<string> = new Set(['bad response', 'bad upgrade']);

export function toSendFailure(error: unknown): SendFailure {
  return error instanceof SendFailure ? error : new SendFailure(failureOf(error), error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function failureOf(error: unknown): FailureCode {
  if (!(error instanceof Error)) return 'connection_failed';
  if (error instanceof errors.HTTPParserError || MALFORMED_MESSAGES.has(error.message))
    return 'malformed_response';
  const code = codeOf(error);
  const byPrefix = FAILURE_BY_PREFIX.find(([prefix]) => code.startsWith(prefix));
  return FAILURE_BY_ERROR_CODE[code] ?? byPrefix?.[1] ?? 'connection_failed';
}
