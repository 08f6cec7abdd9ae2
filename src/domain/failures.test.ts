import { expect, test } from 'vitest';
import {
  answerEvidence,
  answerResult,
  FAILURE_CODES,
  FAILURES,
  failureOfStatus,
  failureResult,
  failureText,
  findFailure,
  INTERRUPTED,
} from './failures.ts';

/** Stored attempts have these texts, and the API shows them. */
const API_TEXTS = {
  http_status: 'HTTP {}',
  redirect: 'redirect (HTTP {})',
  timeout: 'timeout',
  connection_refused: 'connection refused',
  connection_reset: 'connection reset',
  connection_closed: 'connection closed before an answer',
  connection_timed_out: 'connection timed out',
  connection_failed: 'connection failed',
  unreachable: 'destination is unreachable',
  certificate_expired: 'certificate has expired',
  certificate_not_yet_valid: 'certificate is not yet valid',
  certificate_revoked: 'certificate was revoked',
  certificate_name_mismatch: 'certificate is for another name',
  certificate_untrusted: 'certificate is not trusted',
  certificate_invalid: 'certificate is not valid',
  tls_handshake_failed: 'TLS handshake failed',
  response_headers_too_large: 'headers of the answer are too large',
  malformed_response: 'malformed answer',
  request_unwritable: 'request cannot be written',
  aborted: 'broken off',
  egress_error: 'internal error',
  name_not_found: 'name does not exist',
  name_unresolved: 'name does not resolve',
  name_without_address: 'name has no address',
  name_with_too_many_addresses: 'name has too many addresses',
  name_server_silent: 'name server did not answer',
  too_many_connections: 'too many open connections',
  scheme_not_allowed: 'scheme is not allowed',
  plain_http_not_allowed: 'plain HTTP is not allowed',
  localhost_not_allowed: 'localhost is not allowed',
  address_not_allowed: 'address is not allowed',
  forbidden_header_name: 'forbidden header {}: it belongs to the connection',
  header_name_invalid: 'header {} cannot be sent: its name is not valid in HTTP',
  header_line_break: 'header {} cannot be sent: its value has a line break',
  header_control_character: 'header {} cannot be sent: its value has a control character',
  header_not_latin1: 'header {} cannot be sent: its value has a character outside Latin-1',
  forbidden_header: 'forbidden header {}',
  invalid_url: 'unreadable URL',
  interrupted: 'interrupted',
  request_unreadable: 'internal error',
  no_signing_secret: 'no signing secret',
  no_standard_secret: 'no signing secret for Standard Webhooks',
};

/** The second code is a failure of our own that looks the same from outside. */
const SHARING_A_TEXT = [['egress_error', 'request_unreadable']];

test('the texts of the API never change', () => {
  expect(Object.fromEntries(FAILURE_CODES.map((code) => [code, FAILURES[code].text]))).toEqual(API_TEXTS);
});

test('each code has a text of its own, except for those that share one on purpose', () => {
  const byText = Map.groupBy(FAILURE_CODES, (code) => FAILURES[code].text);
  expect([...byText.values()].filter((codes) => codes.length > 1)).toEqual(SHARING_A_TEXT);
});

test('a terminal failure says nothing about the destination', () => {
  for (const code of FAILURE_CODES) {
    const { outcome, evidence } = FAILURES[code];
    if (outcome === 'terminal') expect([code, evidence]).toEqual([code, 'nothing']);
  }
});

test.each(FAILURE_CODES)('the text of %s is found again, with its detail', (code) => {
  const hasDetail = FAILURES[code].text.includes('{}');
  const found = findFailure(failureText(code, hasDetail ? 'a {} b' : undefined));
  expect(found?.detail).toBe(hasDetail ? 'a {} b' : '');
  expect(FAILURES[found?.code ?? 'timeout'].text).toBe(FAILURES[code].text);
});

test.each(['', 'constructor', 'HTTP', 'Timeout', 'redirect (HTTP 301'])(
  'the text %j is not of the table',
  (text) => {
    expect(findFailure(text)).toBe(null);
  },
);

test('a detail is inserted unchanged', () => {
  expect(failureText('forbidden_header', '"$&$1"')).toBe('forbidden header "$&$1"');
});

test('a failure without an answer has no status', () => {
  expect(failureResult('invalid_url')).toEqual({
    outcome: 'terminal',
    statusCode: null,
    error: 'unreadable URL',
  });
  expect(INTERRUPTED).toEqual({ outcome: 'retryable', statusCode: null, error: 'interrupted' });
});

test.each([
  [204, { outcome: 'success', statusCode: 204 }, null, 'success'],
  [302, { outcome: 'terminal', statusCode: 302, error: 'redirect (HTTP 302)' }, 'redirect', 'nothing'],
  [503, { outcome: 'retryable', statusCode: 503, error: 'HTTP 503' }, 'http_status', 'failure'],
  [199, { outcome: 'retryable', statusCode: 199, error: 'HTTP 199' }, 'http_status', 'failure'],
] as const)(
  'an answer with %i has the right result and evidence',
  (statusCode, result, failure, evidence) => {
    expect(answerResult(statusCode)).toEqual(result);
    expect(failureOfStatus(statusCode)).toBe(failure);
    expect(answerEvidence(statusCode)).toBe(evidence);
  },
);
