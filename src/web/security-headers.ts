/** The security headers of every page, its files and its API: only own files, no frames, no caching. */
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

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
} as const;

/** Subdomains are not included, since the service cannot know whether they have TLS. */
const TRANSPORT_SECURITY = { 'strict-transport-security': 'max-age=31536000' } as const;

export type Headers = Readonly<Record<string, string>>;
/** A directive of null is left out, so that `default-src` forbids what it would allow. */
export type PolicyChanges = Partial<Record<keyof typeof POLICY, string | null>>;

/** Returns the headers for a request, with these changes to the content security policy. */
export function securityHeaders(changes: PolicyChanges = {}): (request: IncomingMessage) => Headers {
  const policy = Object.entries({ ...POLICY, ...changes })
    .filter(([, sources]) => sources !== null)
    .map(([directive, sources]) => `${directive} ${sources}`);
  const plain = { 'content-security-policy': policy.join('; '), ...HEADERS };
  const behindTls = { ...plain, ...TRANSPORT_SECURITY };
  return (request) => (isBehindTls(request) ? behindTls : plain);
}
