import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Attempt } from './delivery.ts';
import { EXPLAINED_ERRORS, tryWords } from './error-words.ts';
import { instant } from './instant.ts';

const URL_TEXT = 'https://shop.example:8443/hook?token=hidden';

function failed(error: string | null, statusCode: number | null = null) {
  return { outcome: 'retryable', statusCode, error, finishedAt: instant(1) } as const;
}

/** How the source of each layer writes what an attempt ends with. */
const WRITTEN: Readonly<Record<string, readonly RegExp[]>> = {
  egress: [/\b(?:forbidden|unresolved|failed)\('([^']+)'/g, /\bwhy(?: =|:) '([^']+)'/g],
  engine: [/\bfailed\('\w+', '([^']+)'/g, /\bunsendable\('\w+', '([^']+)'/g],
  domain: [/INTERRUPTED: AttemptResult = .*error: '([^']+)'/g],
};
/** Its tables too. */
const WRITTEN_IN_TABLES = [
  /return '([^']+)';/g,
  /\?\? '([^']+ [^']+)'/g,
  /^ {2}\w+: '([^']+)',$/gm,
  /^const [A-Z_]+ = '([^']+)';$/gm,
  /^ {2}\['\w+', '([^']+)'\],$/gm,
];

function writtenErrors(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [layer, patterns] of Object.entries(WRITTEN)) {
    const directory = join(import.meta.dirname, '..', layer);
    for (const name of readdirSync(directory, { encoding: 'utf8', recursive: true }).filter((file) =>
      /^[\w/-]+\.ts$/.test(file),
    )) {
      const text = readFileSync(join(directory, name), 'utf8');
      const used = name.endsWith('failures.ts') ? [...patterns, ...WRITTEN_IN_TABLES] : patterns;
      for (const pattern of used) for (const [, error = ''] of text.matchAll(pattern)) found.add(error);
    }
  }
  return found;
}

test('every error that can be written has words of its own, and no other has', () => {
  const written = writtenErrors();
  expect(written.size).toBeGreaterThan(25);
  expect([...written].sort()).toEqual([...EXPLAINED_ERRORS].sort());
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
