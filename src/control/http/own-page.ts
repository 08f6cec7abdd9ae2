/**
 * Whether a request that changes something was made by the dashboard's own page. Pages of other sites can make a
 * browser send requests here; it is the browser that tells them apart, by `Origin` and by `Sec-Fetch-Site`. One of
 * them must be there, and whichever is there must be right. Such a page can send forms but not JSON, so the type of
 * the content is asked for as well. The session's own token comes on top: see `door.ts`.
 */
import type { IncomingMessage } from 'node:http';
import { headerOf, ownOrigin } from './request-facts.ts';

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
