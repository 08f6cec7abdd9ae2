/**
 * Facts that a request tells about itself. A proxy in front, if there is one, passes on `Host` and says the scheme in
 * `X-Forwarded-Proto`. Nobody but the client itself is harmed where a client writes that: a page of another site
 * cannot make a browser send it. Which client it is, is another matter: see `client-address.ts`.
 */
import type { IncomingMessage } from 'node:http';

const AGENT_CHARACTERS_MAX = 200;
/** A name or an address, and a port: nothing that would be another part of a URL. */
const HOST = /^[\w.:[\]-]{1,300}$/;

/**
 * As it came off the wire: the server rewrites content types, and Node drops what was sent twice. What was sent
 * several times is joined, as in HTTP.
 */
export function headerOf({ rawHeaders }: IncomingMessage, name: string): string | null {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  // Cookies are the one list that is not divided by commas.
  return values.length === 0 ? null : values.join(name === 'cookie' ? '; ' : ', ');
}

export function isBehindTls(request: IncomingMessage): boolean {
  const [scheme = ''] = (headerOf(request, 'x-forwarded-proto') ?? '').split(',', 1);
  return scheme.trim().toLowerCase() === 'https';
}

/** The origin that the request was sent to, written as browsers write it; null where it names no host. */
export function ownOrigin(request: IncomingMessage): string | null {
  const host = headerOf(request, 'host') ?? '';
  if (!HOST.test(host)) return null;
  return URL.parse(`${isBehindTls(request) ? 'https' : 'http'}://${host}`)?.origin ?? null;
}

export function agentOf(request: IncomingMessage): string {
  return (headerOf(request, 'user-agent') ?? '').slice(0, AGENT_CHARACTERS_MAX);
}
