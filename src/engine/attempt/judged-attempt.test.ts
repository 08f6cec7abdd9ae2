import { describe, expect, test } from 'vitest';
import type { Evidence } from '#src/domain/breaker.ts';
import type { AttemptOutcome } from '#src/domain/delivery.ts';
import type { FailureCode } from '#src/domain/failures.ts';
import type { SendResult } from '#src/ports/egress.ts';
import { judgeSent, judgeUnsent } from './judged-attempt.ts';

function answered(statusCode: number): SendResult {
  return { kind: 'answered', statusCode };
}

function failed(failure: FailureCode): SendResult {
  return { kind: 'failed', failure };
}

describe('an attempt that was sent', () => {
  test.for<readonly [string, SendResult, AttemptOutcome, number | null, string | null, Evidence]>([
    ['200', answered(200), 'success', 200, null, 'success'],
    ['204', answered(204), 'success', 204, null, 'success'],
    ['299', answered(299), 'success', 299, null, 'success'],
    ['300', answered(300), 'terminal', 300, 'redirect (HTTP 300)', 'nothing'],
    ['301', answered(301), 'terminal', 301, 'redirect (HTTP 301)', 'nothing'],
    ['304', answered(304), 'terminal', 304, 'redirect (HTTP 304)', 'nothing'],
    ['399', answered(399), 'terminal', 399, 'redirect (HTTP 399)', 'nothing'],
    ['400', answered(400), 'retryable', 400, 'HTTP 400', 'failure'],
    ['404', answered(404), 'retryable', 404, 'HTTP 404', 'failure'],
    ['410', answered(410), 'retryable', 410, 'HTTP 410', 'failure'],
    ['429', answered(429), 'retryable', 429, 'HTTP 429', 'failure'],
    ['500', answered(500), 'retryable', 500, 'HTTP 500', 'failure'],
    ['599', answered(599), 'retryable', 599, 'HTTP 599', 'failure'],
    ['199', answered(199), 'retryable', 199, 'HTTP 199', 'failure'],
    ['999', answered(999), 'retryable', 999, 'HTTP 999', 'failure'],
    ['a time-out', failed('timeout'), 'retryable', null, 'timeout', 'failure'],
    ['a reset', failed('connection_reset'), 'retryable', null, 'connection reset', 'failure'],
    ['a refusal', failed('connection_refused'), 'retryable', null, 'connection refused', 'failure'],
    ['a TLS failure', failed('certificate_expired'), 'retryable', null, 'certificate has expired', 'failure'],
    ['an unknown name', failed('name_not_found'), 'retryable', null, 'name does not exist', 'nothing'],
    [
      'a blocked address',
      failed('address_not_allowed'),
      'terminal',
      null,
      'address is not allowed',
      'nothing',
    ],
    [
      'plain HTTP',
      failed('plain_http_not_allowed'),
      'terminal',
      null,
      'plain HTTP is not allowed',
      'nothing',
    ],
    ['an interruption', failed('interrupted'), 'retryable', null, 'interrupted', 'nothing'],
  ])('%s', ([, sent, outcome, statusCode, error, evidence]) => {
    const result = outcome === 'success' ? { outcome, statusCode } : { outcome, statusCode, error };
    expect(judgeSent(sent)).toEqual({ result, evidence });
  });

  test('only 2xx is a success and only 3xx is terminal, of all status codes', () => {
    for (let statusCode = 100; statusCode < 1_000; statusCode++) {
      const hundreds = Math.floor(statusCode / 100);
      const expected = hundreds === 2 ? 'success' : hundreds === 3 ? 'terminal' : 'retryable';
      expect(judgeSent(answered(statusCode)).result).toMatchObject({ outcome: expected, statusCode });
    }
  });
});

describe('an attempt without a request', () => {
  test('says nothing about the destination', () => {
    expect(judgeUnsent({ kind: 'unsendable', failure: 'header_line_break', detail: '"x"' })).toEqual({
      result: {
        outcome: 'terminal',
        statusCode: null,
        error: 'header "x" cannot be sent: its value has a line break',
      },
      evidence: 'nothing',
    });
    expect(judgeUnsent({ kind: 'unsendable', failure: 'request_unreadable' })).toEqual({
      result: { outcome: 'retryable', statusCode: null, error: 'internal error' },
      evidence: 'nothing',
    });
  });

  test('is an interruption when it was stopped before', () => {
    expect(judgeUnsent(null)).toMatchObject({ result: { error: 'interrupted' }, evidence: 'nothing' });
  });
});
