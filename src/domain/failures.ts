/**
 * Every way an attempt can fail, as data: one row for each code. The egress and the engine name codes; the texts for
 * people are keyed by them. Code never recognises a failure by its text, except in `findFailure`, because the store
 * keeps only the text.
 */
import type { Evidence } from './breaker.ts';
import type { AttemptResult } from './delivery-lifecycle.ts';

interface FailureRow {
  /**
   * The text that the store keeps and the API shows as the `error` of an attempt. It names no address and nothing else
   * of the inside. `{}` stands for a detail. A text must never change, because stored attempts have it.
   */
  readonly text: string;
  /** A terminal failure dead-letters the delivery at once. */
  readonly outcome: 'retryable' | 'terminal';
  /** The evidence for the breaker of the endpoint. Only failures of the destination itself count against it. */
  readonly evidence: Evidence;
}

const DESTINATION_FAILED = { outcome: 'retryable', evidence: 'failure' } as const;
const DESTINATION_NOT_REACHED = { outcome: 'retryable', evidence: 'nothing' } as const;
const NOT_ALLOWED = { outcome: 'terminal', evidence: 'nothing' } as const;
/** Failures of this service. They say nothing about the destination. */
const SERVICE_FAILED = { outcome: 'retryable', evidence: 'nothing' } as const;

export const FAILURES = {
  http_status: { text: 'HTTP {}', ...DESTINATION_FAILED },
  redirect: { text: 'redirect (HTTP {})', ...NOT_ALLOWED },

  timeout: { text: 'timeout', ...DESTINATION_FAILED },
  connection_refused: { text: 'connection refused', ...DESTINATION_FAILED },
  connection_reset: { text: 'connection reset', ...DESTINATION_FAILED },
  connection_closed: { text: 'connection closed before an answer', ...DESTINATION_FAILED },
  connection_timed_out: { text: 'connection timed out', ...DESTINATION_FAILED },
  connection_failed: { text: 'connection failed', ...DESTINATION_FAILED },
  unreachable: { text: 'destination is unreachable', ...DESTINATION_FAILED },
  certificate_expired: { text: 'certificate has expired', ...DESTINATION_FAILED },
  certificate_not_yet_valid: { text: 'certificate is not yet valid', ...DESTINATION_FAILED },
  certificate_revoked: { text: 'certificate was revoked', ...DESTINATION_FAILED },
  certificate_name_mismatch: { text: 'certificate is for another name', ...DESTINATION_FAILED },
  certificate_untrusted: { text: 'certificate is not trusted', ...DESTINATION_FAILED },
  certificate_invalid: { text: 'certificate is not valid', ...DESTINATION_FAILED },
  tls_handshake_failed: { text: 'TLS handshake failed', ...DESTINATION_FAILED },
  response_headers_too_large: { text: 'headers of the answer are too large', ...DESTINATION_FAILED },
  malformed_response: { text: 'malformed answer', ...DESTINATION_FAILED },
  request_unwritable: { text: 'request cannot be written', ...DESTINATION_FAILED },
  aborted: { text: 'broken off', ...DESTINATION_FAILED },
  /** The egress threw. It promises not to, so the failure counts like one of the connection. */
  egress_error: { text: 'internal error', ...DESTINATION_FAILED },

  name_not_found: { text: 'name does not exist', ...DESTINATION_NOT_REACHED },
  name_unresolved: { text: 'name does not resolve', ...DESTINATION_NOT_REACHED },
  name_without_address: { text: 'name has no address', ...DESTINATION_NOT_REACHED },
  name_with_too_many_addresses: { text: 'name has too many addresses', ...DESTINATION_NOT_REACHED },
  name_server_silent: { text: 'name server did not answer', ...DESTINATION_NOT_REACHED },
  /** This machine has no connection to spare, which says nothing about the destination. */
  too_many_connections: { text: 'too many open connections', ...DESTINATION_NOT_REACHED },

  scheme_not_allowed: { text: 'scheme is not allowed', ...NOT_ALLOWED },
  plain_http_not_allowed: { text: 'plain HTTP is not allowed', ...NOT_ALLOWED },
  localhost_not_allowed: { text: 'localhost is not allowed', ...NOT_ALLOWED },
  address_not_allowed: { text: 'address is not allowed', ...NOT_ALLOWED },
  forbidden_header_name: { text: 'forbidden header {}: it belongs to the connection', ...NOT_ALLOWED },
  header_name_invalid: { text: 'header {} cannot be sent: its name is not valid in HTTP', ...NOT_ALLOWED },
  header_line_break: { text: 'header {} cannot be sent: its value has a line break', ...NOT_ALLOWED },
  header_control_character: {
    text: 'header {} cannot be sent: its value has a control character',
    ...NOT_ALLOWED,
  },
  header_not_latin1: {
    text: 'header {} cannot be sent: its value has a character outside Latin-1',
    ...NOT_ALLOWED,
  },
  /** Attempts that were stored before the five codes above do not say what was wrong with the header. */
  forbidden_header: { text: 'forbidden header {}', ...NOT_ALLOWED },
  invalid_url: { text: 'unreadable URL', ...NOT_ALLOWED },

  /** The process stopped or died before the attempt ended. The request may have reached the destination. */
  interrupted: { text: 'interrupted', ...SERVICE_FAILED },
  /** The headers, the body or the keys could not be read or opened. They may be readable at the next attempt. */
  request_unreadable: { text: 'internal error', ...SERVICE_FAILED },
  no_signing_secret: { text: 'no signing secret', ...SERVICE_FAILED },
  /** The endpoint profile uses Standard Webhooks, and no secret that signs has its form. */
  no_standard_secret: { text: 'no signing secret for Standard Webhooks', ...SERVICE_FAILED },
} as const satisfies Readonly<Record<string, FailureRow>>;

export type FailureCode = keyof typeof FAILURES;

export const FAILURE_CODES: readonly FailureCode[] = Object.keys(FAILURES) as FailureCode[];

const DETAIL = '{}';

export function failureText(code: FailureCode, detail = ''): string {
  return FAILURES[code].text.replace(DETAIL, () => detail);
}

type FailedResult = Exclude<AttemptResult, { readonly outcome: 'success' }>;

/** Returns the result of an attempt that failed without an answer. */
export function failureResult(code: FailureCode, detail?: string): FailedResult {
  return { outcome: FAILURES[code].outcome, statusCode: null, error: failureText(code, detail) };
}

/** Returns the result of an attempt that was answered. Only 2xx is a success, and redirects are not followed. */
export function answerResult(statusCode: number): AttemptResult {
  const code = failureOfStatus(statusCode);
  if (code === null) return { outcome: 'success', statusCode };
  return { ...failureResult(code, String(statusCode)), statusCode };
}

/** Returns the evidence of an attempt that was answered. The table has it by code, not by status. */
export function answerEvidence(statusCode: number): Evidence {
  const code = failureOfStatus(statusCode);
  return code === null ? 'success' : FAILURES[code].evidence;
}

/** Returns the failure that a status stands for, or null for a success. Statuses with the same code share its row. */
export function failureOfStatus(statusCode: number): 'redirect' | 'http_status' | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : 'http_status';
}

/** The result of an attempt whose process stopped or died before it could settle. */
export const INTERRUPTED: AttemptResult = failureResult('interrupted');

export interface FoundFailure {
  readonly code: FailureCode;
  /** The text in place of `{}`; empty where the row has none. */
  readonly detail: string;
}

const CODES_BY_TEXT: ReadonlyMap<string, FailureCode> = new Map(
  // The first one stands for all codes that share a text.
  FAILURE_CODES.toReversed().map((code) => [FAILURES[code].text, code]),
);
const TEMPLATES = FAILURE_CODES.filter((code) => FAILURES[code].text.includes(DETAIL)).map((code) => {
  const [before = '', after = ''] = FAILURES[code].text.split(DETAIL);
  return { code, before, after };
});
// A template with a longer end is more exact: an older text may be the beginning of a newer one.
TEMPLATES.sort((one, other) => other.after.length - one.after.length);

/** Finds the failure that a stored text stands for. Returns null for a text that is not of the table. */
export function findFailure(text: string): FoundFailure | null {
  const code = CODES_BY_TEXT.get(text);
  if (code !== undefined) return { code, detail: '' };
  const template = TEMPLATES.find(({ before, after }) => text.startsWith(before) && text.endsWith(after));
  if (template === undefined) return null;
  const { before, after } = template;
  return { code: template.code, detail: text.slice(before.length, text.length - after.length) };
}
