/**
 * Decides which requests `sched dev` accepts. Its keys are public and it listens on loopback, so the danger
 * is a web page of another site in the developer's own browser, which can send requests to loopback.
 *
 * An attacker can make a name resolve to loopback. The Host header then carries that name and is refused. A
 * page of another site is recognised by its Origin, and it cannot send JSON without a preflight.
 */
import type { IncomingMessage } from 'node:http';
import { headerOf } from '#src/web/request-headers.ts';

const LOOPBACK_HOST = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])(:\d{1,5})?$/i;
const JSON_TYPE = /^application\/json\s*(;|$)/i;
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Accepts any port, because a forwarded port differs from the one that the service listens on. */
export function isAddressedToLoopback(request: IncomingMessage): boolean {
  return LOOPBACK_HOST.test(headerOf(request, 'host') ?? '');
}

/** Checks a request that changes something. */
export function isFromOwnPage(request: IncomingMessage): boolean {
  const origin = headerOf(request, 'origin');
  const site = headerOf(request, 'sec-fetch-site');
  if (origin !== null && origin !== `http://${headerOf(request, 'host')}`) return false;
  if (site !== null && !OWN_SITES.has(site)) return false;
  return JSON_TYPE.test(headerOf(request, 'content-type') ?? '');
}
