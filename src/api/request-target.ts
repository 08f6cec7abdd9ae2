/**
 * The target and the `Host` of a request. A target comes as a path, or in the absolute form that is meant for proxies
 * and means the same path. Routes, authentication and idempotency see the path alone.
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

const ABSOLUTE_FORM = /^https?:\/\/(?:[^/?@]*@)?([^/?]*)(.*)$/is;
const AUTHORITY = /^(?:\[([^\]]+)\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(?::(\d*))?$/i;
const PORT_MAX = 65_535;
const HOST = 'host';

/** No route has it: `*`, and the target of a scheme that is not served here. */
const NOWHERE = '/-';

/** The path and query of a target in whatever form; null when it is not valid. A fragment is never part of one. */
export function pathOfTarget(target: string): string | null {
  if (target.includes('#')) return null;
  if (target.startsWith('/')) return target;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(target) ?? [];
  if (authority === undefined) return NOWHERE;
  if (!isAuthority(authority) || /^(?::|$)/.test(authority)) return null;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** HTTP/1.1 asks for one `Host`, which may be empty. Two are refused in any version: each reader could take another. */
export function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let host: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length !== HOST.length || name.toLowerCase() !== HOST) continue;
    if (host !== undefined) return false;
    host = rawHeaders[at + 1] ?? '';
  }
  return host === undefined ? httpVersion !== '1.1' : isAuthority(host);
}

/** A host, which may be empty, with or without a port. */
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

/** Below these every path is answered alike: after authentication, by the dashboard, by an inbox where there is one. */
const WHOLE_TREES = ['/v1/', '/dashboard/api/', '/dashboard/', '/inbox/hook/'];

/** A path that no route has of its own: it is not found, or goes to what takes all there is below it. */
export function undecodable(path: string): string {
  return `${WHOLE_TREES.find((tree) => path.startsWith(tree)) ?? '/'}-`;
}
