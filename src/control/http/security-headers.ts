/** The security headers of every answer below `/dashboard`: only own files, no frames, no caching. */
import type { IncomingMessage } from 'node:http';
import { isBehindTls } from '#src/api/request-headers.ts';

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
} as const;

const SECURITY_HEADERS = {
  'content-security-policy': Object.entries(POLICY)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
} as const;

/** Subdomains are not included, since the dashboard cannot know whether they have TLS. */
const SECURITY_HEADERS_BEHIND_TLS = {
  ...SECURITY_HEADERS,
  'strict-transport-security': 'max-age=31536000',
} as const;

export function securityHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  return isBehindTls(request) ? SECURITY_HEADERS_BEHIND_TLS : SECURITY_HEADERS;
}
