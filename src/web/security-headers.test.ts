import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { type PolicyChanges, securityHeaders } from './security-headers.ts';

function headersOf(changes: PolicyChanges, ...rawHeaders: readonly string[]) {
  return securityHeaders(changes)({ rawHeaders } as unknown as IncomingMessage);
}

test('a page may narrow its policy, and keeps the rest', () => {
  const policy = headersOf({ 'script-src': "'sha256-x'", 'font-src': null })['content-security-policy'];
  expect(policy).toBe(
    "default-src 'none'; script-src 'sha256-x'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  );
});

test('only behind TLS a browser is told to stay with TLS', () => {
  const name = 'strict-transport-security';
  expect(headersOf({}, 'X-Forwarded-Proto', 'https')[name]).toBe('max-age=31536000');
  for (const rawHeaders of [[], ['X-Forwarded-Proto', 'http']]) {
    expect(headersOf({}, ...rawHeaders)).not.toHaveProperty(name);
  }
});
