/** What browsers are told with everything under `/dashboard`: nothing but its own files, framed by nobody, kept nowhere. */
import type { IncomingMessage } from 'node:http';
import { isBehindTls } from './request-headers.ts';

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
    .map(([what, from]) => `${what} ${from}`)
    .join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
} as const;

/** Names below this one are not the dashboard's: whether they have TLS is not for it to say. */
const SECURITY_HEADERS_BEHIND_TLS = {
  ...SECURITY_HEADERS,
  'strict-transport-security': 'max-age=31536000',
} as const;

export function securityHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  return isBehindTls(request) ? SECURITY_HEADERS_BEHIND_TLS : SECURITY_HEADERS;
}
