/**
 * The session's cookie. Behind TLS it has the prefix `__Host-`, by which browsers take it from this very host alone:
 * no neighbour under the same domain can plant one. Without TLS, on a developer's machine or inside a network, that
 * is not to be had, and the cookie has another name: neither is ever read in the place of the other.
 */
import type { IncomingMessage } from 'node:http';
import { headerOf, isBehindTls } from './request-headers.ts';

const NAME = 'sched_session';
const NAME_BEHIND_TLS = `__Host-${NAME}`;
const ATTRIBUTES = 'Path=/dashboard; HttpOnly; SameSite=Strict';
const ATTRIBUTES_BEHIND_TLS = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** What a token looks like; anything else is not even looked up. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The token that a browser presents. Null as well where there are two: one of them is somebody else's. */
export function presentedToken(request: IncomingMessage): string | null {
  const prefix = `${isBehindTls(request) ? NAME_BEHIND_TLS : NAME}=`;
  const pairs = (headerOf(request, 'cookie') ?? '').split(';').map((pair) => pair.trim());
  const [value, ...others] = pairs
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  return value !== undefined && others.length === 0 && TOKEN.test(value) ? value : null;
}

/** What is sent as `Set-Cookie` so that the browser keeps the token. */
export function setCookieHeaders(
  request: IncomingMessage,
  token: string,
  forSeconds: number,
): readonly string[] {
  const kept = isBehindTls(request)
    ? `${NAME_BEHIND_TLS}=${token}; ${ATTRIBUTES_BEHIND_TLS}`
    : `${NAME}=${token}; ${ATTRIBUTES}`;
  return [`${kept}; Max-Age=${forSeconds}`];
}

/** Whichever it keeps. */
export function clearCookieHeaders(): readonly string[] {
  return [`${NAME_BEHIND_TLS}=; ${ATTRIBUTES_BEHIND_TLS}; Max-Age=0`, `${NAME}=; ${ATTRIBUTES}; Max-Age=0`];
}
