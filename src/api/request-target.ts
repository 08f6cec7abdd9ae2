/**
 * Checks the target and the `Host` header of a request. A target is a path, or the absolute form for proxies,
 * which means the same path. Routes, authentication and idempotency see only the path.
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

const ABSOLUTE_FORM = /^https?:\/\/(?:[^/?@]*@)?([^/?]*)(.*)$/is;
const AUTHORITY = /^(?:\[([^\]]+)\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(?::(\d*))?$/i;
const PORT_MAX = 65_535;
const HOST = 'host';

/** A path without a route, for `*` and for schemes that are not served. */
const NOWHERE = '/-';

/** Returns the path and query of a target, or null if it is not valid. A target never has a fragment. */
export function pathOfTarget(target: string): string | null {
  if (target.includes('#')) return null;
  if (target.startsWith('/')) return target;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(target) ?? [];
  if (authority === undefined) return NOWHERE;
  if (!isAuthority(authority) || /^(?::|$)/.test(authority)) return null;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** HTTP/1.1 needs one `Host`, which may be empty. Two are refused, because programs could read different ones. */
export function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let host: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length !== HOST.length || name.toLowerCase() !== HOST) continue;
    if (host !== undefined) return false;
    host = rawHeaders[at + 1] ?? '';
  }
  if (host === undefined) return httpVersion !== '1.1';
  if (host === lastValidHost) return true;
  if (!isAuthority(host)) return false;
  lastValidHost = host;
  return true;
}

/** Nearly all requests have the same host, and comparing it is cheaper than parsing it. */
let lastValidHost = '';

/** Accepts a host, which may be empty, with or without a port. */
function isAuthority(text: string): boolean {
  const match = AUTHORITY.exec(text);
  if (match === null) return false;
  const [, ipv6, port = ''] = match;
  return (ipv6 === undefined || isIPv6(ipv6)) && Number(port) <= PORT_MAX;
}

export function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path.split('?', 1)[0] ?? '');
    return true;
  } catch {
    return false;
  }
}

/** Prefixes that have a handler for every path below them. */
const PREFIXES = ['/v1/', '/dashboard/api/', '/dashboard/', '/inbox/hook/'];

/** Replaces a path that cannot be decoded with one that no route has, below the same prefix. */
export function replaceUndecodable(path: string): string {
  return `${PREFIXES.find((prefix) => path.startsWith(prefix)) ?? '/'}-`;
}
