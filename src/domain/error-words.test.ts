import { expect, test } from 'vitest';
import type { Attempt } from './delivery.ts';
import { EXPLAINED_ERRORS, tryWords } from './error-words.ts';
import { FAILURE_CODES, FAILURES } from './failures.ts';
import { instant } from './instant.ts';

const URL_TEXT = 'https://shop.example:8443/hook?token=hidden';

function failed(error: string | null, statusCode: number | null = null) {
  return { outcome: 'retryable', statusCode, error, finishedAt: instant(1) } as const;
}

test('every failure has words of its own', () => {
  const texts = FAILURE_CODES.map((code) => FAILURES[code].text).filter((text) => !text.includes('{}'));
  expect([...new Set(texts)].sort()).toEqual([...EXPLAINED_ERRORS].sort());
});

test.each(EXPLAINED_ERRORS)('%j is told in sentences, without path and query', (error) => {
  const words = tryWords(failed(error), URL_TEXT);
  expect(words).toMatch(/^(?:[A-Z]|shop).*\.$/s);
  expect(words).not.toContain('hidden');
  expect(words.length).toBeGreaterThan(30);
});

test.each<readonly [Pick<Attempt, 'outcome' | 'statusCode' | 'error' | 'finishedAt'>, string]>([
  [{ outcome: 'success', statusCode: 204, error: null, finishedAt: instant(1) }, 'answered with 204'],
  [{ outcome: 'retryable', statusCode: null, error: null, finishedAt: null }, 'under way'],
  [failed('HTTP 429', 429), 'rate limit'],
  [failed('HTTP 418', 418), 'refused the request'],
  [failed('HTTP 599', 599), 'failed while handling'],
  [failed('redirect (HTTP 302)', 302), 'redirects are not followed'],
  [failed('forbidden header "proxy-auth"'), 'The header "proxy-auth" may not be sent'],
  [failed('name does not exist'), 'shop.example:8443 does not exist'],
  [failed('constructor'), 'The attempt failed: constructor.'],
  [failed(null), 'nothing more is known'],
])('%o is told', (attempt, part) => {
  expect(tryWords(attempt, URL_TEXT)).toContain(part);
});

test('a destination that is no URL has no host to be named', () => {
  expect(tryWords(failed('connection refused'), 'nonsense')).toMatch(/^The destination refused/);
});
