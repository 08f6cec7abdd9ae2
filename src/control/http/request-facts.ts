/**
 * What a request says about where it comes from. A proxy in front, if there is one, passes on `Host` and says the
 * scheme in `X-Forwarded-Proto` and the client in `X-Forwarded-For`. Nobody but the client itself is harmed where a
 * client writes the former: a page of another site cannot make a browser send it.
 *
 * `X-Forwarded-For` counts only from a peer that is not on the public Internet, which a proxy of the operator is not,
 * and only its last entry, which the proxy wrote and the client did not. Without that everybody behind a proxy would
 * be one address, and one person's failed logins everybody's.
 */
import type { IncomingMessage } from 'node:http';
import { isPublicAddress, parseAddress } from '#src/domain/public-address.ts';

const AGENT_CHARACTERS_MAX = 200;
const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i;
/** Some proxies write the port of the client too. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/;

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

export function addressOf(request: IncomingMessage): string {
  const peer = plain(request.socket.remoteAddress ?? '');
  if (isPublicAddress(peer)) return peer;
  const forwarded = (headerOf(request, 'x-forwarded-for') ?? '').split(',').at(-1) ?? '';
  return parseAddress(plain(withoutPort(forwarded.trim())))?.text ?? peer;
}

function withoutPort(text: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? [];
  return ipv4 ?? ipv6 ?? text;
}

function plain(address: string): string {
  return address.replace(MAPPED_IPV4, '');
}

export function agentOf(request: IncomingMessage): string {
  return (headerOf(request, 'user-agent') ?? '').slice(0, AGENT_CHARACTERS_MAX);
}
