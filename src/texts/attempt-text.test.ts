import { expect, test } from 'vitest';
import type { Attempt } from '#src/domain/delivery.ts';
import { FAILURE_CODES, FAILURES, failureText } from '#src/domain/failures.ts';
import { instant } from '#src/domain/instant.ts';
import { attemptText } from './attempt-text.ts';
import { FAILURE_EXPLANATIONS } from './failure-explanations.ts';

const URL_TEXT = 'https://shop.example:8443/hook?token=hidden';

function failed(error: string | null, statusCode: number | null = null) {
  return { outcome: 'retryable', statusCode, error, finishedAt: instant(1) } as const;
}

test.each(FAILURE_CODES)('the failure %s is explained in sentences, without path and query', (code) => {
  const detail = code === 'http_status' || code === 'redirect' ? '302' : '"x"';
  const text = attemptText(failed(failureText(code, detail)), URL_TEXT);
  expect(text).toMatch(/^(?:[A-Z]|shop).*\.$/s);
  expect(text).not.toMatch(/hidden|\.\.|undefined|NaN/);
  expect(text.length).toBeGreaterThan(30);
});

test.each(FAILURE_CODES)('the advice of %s lacks its full stop, so that a step can follow', (code) => {
  const { cause, advice } = FAILURE_EXPLANATIONS[code]('shop.example', '500');
  expect(cause).toMatch(/\.$/);
  if (advice !== null) expect(advice).toMatch(/^[A-Z].*[^.]$/);
});

test('failures that share a text share their explanation', () => {
  const byText = Map.groupBy(FAILURE_CODES, (code) => FAILURES[code].text);
  for (const codes of byText.values()) {
    const explanations = codes.map((code) => FAILURE_EXPLANATIONS[code]('shop.example', '500'));
    for (const explanation of explanations) expect(explanation).toEqual(explanations[0]);
  }
});

test.each<readonly [Pick<Attempt, 'outcome' | 'statusCode' | 'error' | 'finishedAt'>, string]>([
  [
    { outcome: 'success', statusCode: 204, error: null, finishedAt: instant(1) },
    'shop.example:8443 answered 204. The delivery succeeded.',
  ],
  [
    { outcome: 'retryable', statusCode: null, error: null, finishedAt: null },
    'The attempt is in flight. The receiver has not answered yet.',
  ],
  [failed('HTTP 500', 500), 'shop.example:8443 answered 500 (internal server error). Check its log.'],
  [
    failed('HTTP 429', 429),
    'shop.example:8443 is rate limiting (429). Set a rate limit when you create a schedule for it.',
  ],
  [failed('HTTP 418', 418), 'shop.example:8443 answered 418. Check its log.'],
  [failed('HTTP 425', 425), 'shop.example:8443 answered 425 (too early).'],
  [
    failed('redirect (HTTP 302)', 302),
    'shop.example:8443 answered 302 (redirect). Redirects are not followed. Change the destination to the final address.',
  ],
  [
    failed('forbidden header "proxy-auth"'),
    'The header "proxy-auth" may not be sent. It belongs to the connection, or it cannot be written as HTTP. Remove it from the schedule or the endpoint profile.',
  ],
  [
    failed('forbidden header "Host": it belongs to the connection'),
    'The header "Host" may not be sent. It belongs to the connection, and Sched sets it where it is needed. Remove it from the schedule or the endpoint profile.',
  ],
  [
    failed('header "X" cannot be sent: its value has a line break'),
    'The header "X" cannot be sent, because its value has a line break. Correct it in the schedule or the endpoint profile.',
  ],
  [
    failed('name does not exist'),
    'The name shop.example:8443 does not exist. Check the host of the destination for a spelling mistake.',
  ],
  [
    failed('certificate is not trusted'),
    'The certificate of shop.example:8443 is not trusted. Its authority is unknown, or the receiver does not send the whole chain. Send the whole chain, or ask the operator to add the authority to the file of SCHED_EGRESS_CA_FILE.',
  ],
  [failed('constructor'), 'The attempt failed: constructor.'],
  [failed(null), 'The attempt failed for an unknown reason.'],
])('%o is written as %s', (attempt, text) => {
  expect(attemptText(attempt, URL_TEXT)).toBe(text);
});

test('a destination that is not a URL has no host to name', () => {
  expect(attemptText(failed('connection refused'), 'nonsense')).toMatch(/^The destination refused/);
});
