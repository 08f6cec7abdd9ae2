/**
 * Reads headers of a request. A proxy in front of the service passes on `Host` and names the scheme in
 * `X-Forwarded-Proto`. A client that sends a false scheme harms only itself, since a page of another site cannot make a
 * browser send this header. `control/http/client-address.ts` finds the address of the client.
 */
import type { IncomingMessage } from 'node:http';

const AGENT_CHARACTERS_MAX = 200;
/** A host name or an address with an optional port. No character can begin another part of a URL. */
const HOST = /^[\w.:[\]-]{1,300}$/;

/**
 * Returns a header as it was sent. The parsed headers are not used, because the server rewrites content types and Node
 * drops repeated headers. Repeated headers are joined, as HTTP says.
 */
export function headerOf({ rawHeaders }: IncomingMessage, name: string): string | null {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  // Cookies are the only list that is not separated by commas.
  return values.length === 0 ? null : values.join(name === 'cookie' ? '; ' : ', ');
}

export function isBehindTls(request: IncomingMessage): boolean {
  const [scheme = ''] = (headerOf(request, 'x-forwarded-proto') ?? '').split(',', 1);
  return scheme.trim().toLowerCase() === 'https';
}

/** Returns the origin that the request was sent to, in the form of browsers. Returns null if it names no valid host. */
export function ownOrigin(request: IncomingMessage): string | null {
  const host = headerOf(request, 'host') ?? '';
  if (!HOST.test(host)) return null;
  return URL.parse(`${isBehindTls(request) ? 'https' : 'http'}://${host}`)?.origin ?? null;
}

export function agentOf(request: IncomingMessage): string {
  return (headerOf(request, 'user-agent') ?? '').slice(0, AGENT_CHARACTERS_MAX);
}
