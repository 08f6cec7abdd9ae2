/**
 * Checks that a request that changes something comes from the dashboard's own page. Pages of other sites can make a
 * browser send requests here. The browser marks those by `Origin` and `Sec-Fetch-Site`. At least one of the two must be
 * present, and each that is present must be right. Another site can send forms but not JSON, so the content type is
 * checked too. The session's CSRF token is checked in addition: see `session-guard.ts`.
 */
import type { IncomingMessage } from 'node:http';
import { ControlRefusal } from '#src/control/refusal.ts';
import { headerOf, ownOrigin } from '#src/web/request-headers.ts';

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

export function isFromOwnPage(request: IncomingMessage): boolean {
  const origin = headerOf(request, 'origin');
  const site = headerOf(request, 'sec-fetch-site');
  if (origin === null && site === null) return false;
  if (origin !== null && !isOwnOrigin(request, origin)) return false;
  if (site !== null && !OWN_SITES.has(site)) return false;
  return JSON_TYPE.test(headerOf(request, 'content-type') ?? '');
}

function isOwnOrigin(request: IncomingMessage, origin: string): boolean {
  return origin.toLowerCase() === ownOrigin(request);
}

/**
 * The operator may name the origins of the dashboard (`SCHED_PUBLIC_URL`). A page of another site can let its own host
 * name resolve to this service's address, and is then of the same origin as the dashboard (DNS rebinding). Its host
 * name is the only difference, so requests under any other name are refused. With `origins` null any name is accepted.
 */
export function checkPublicOrigin(request: IncomingMessage, origins: readonly string[] | null): void {
  if (origins === null) return;
  const origin = ownOrigin(request);
  if (origin !== null && origins.includes(origin)) return;
  throw new ControlRefusal('wrong_host', origins.join(' or '));
}
