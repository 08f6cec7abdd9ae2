/**
 * Who may speak to the playground. It has keys that everyone knows, and listens on loopback: what is left are web
 * pages in the developer's own browser, which can send requests there.
 *
 * A name that an attacker made to resolve to loopback is told by the Host header, which then is that name. A page
 * of another site is told by its Origin, or by having no way to send JSON unasked.
 */
import type { IncomingMessage } from 'node:http';
import { headerOf, headersOf } from './read-request.ts';

const LOOPBACK_HOST = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])(:\d{1,5})?$/i;
const JSON_TYPE = /^application\/json\s*(;|$)/i;
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Any port: one that is forwarded from elsewhere is another one. */
export function isAddressedToLoopback(request: IncomingMessage): boolean {
  return LOOPBACK_HOST.test(headerOf(headersOf(request), 'host') ?? '');
}

/** For requests that change something. */
export function isFromOwnPage(request: IncomingMessage): boolean {
  const headers = headersOf(request);
  const origin = headerOf(headers, 'origin');
  const site = headerOf(headers, 'sec-fetch-site');
  if (origin !== null && origin !== `http://${headerOf(headers, 'host')}`) return false;
  if (site !== null && !OWN_SITES.has(site)) return false;
  return JSON_TYPE.test(headerOf(headers, 'content-type') ?? '');
}
