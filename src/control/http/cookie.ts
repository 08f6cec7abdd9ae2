/**
 * The session's cookie. Behind TLS it has the prefix `__Host-`. Browsers accept such a cookie only from this very host,
 * so no other host of the same domain can set one. Without TLS, on a developer's machine or inside a network, browsers
 * do not allow the prefix. The cookie then has another name, and neither name is accepted in place of the other.
 */
import type { IncomingMessage } from 'node:http';
import { headerOf, isBehindTls } from '#src/web/request-headers.ts';

const NAME = 'sched_session';
const NAME_BEHIND_TLS = `__Host-${NAME}`;
const ATTRIBUTES = 'Path=/dashboard; HttpOnly; SameSite=Strict';
const ATTRIBUTES_BEHIND_TLS = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** The form of a token. Any other text is not looked up. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Returns the token in the cookie. Returns null if there are two cookies, since one of them may be an attacker's. */
export function presentedToken(request: IncomingMessage): string | null {
  const prefix = `${isBehindTls(request) ? NAME_BEHIND_TLS : NAME}=`;
  const pairs = (headerOf(request, 'cookie') ?? '').split(';').map((pair) => pair.trim());
  const [value, ...others] = pairs
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  return value !== undefined && others.length === 0 && TOKEN.test(value) ? value : null;
}

/** The `Set-Cookie` headers that make the browser keep the token. */
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

/** The `Set-Cookie` headers that make the browser drop the token, under either name. */
export function clearCookieHeaders(): readonly string[] {
  return [`${NAME_BEHIND_TLS}=; ${ATTRIBUTES_BEHIND_TLS}; Max-Age=0`, `${NAME}=; ${ATTRIBUTES}; Max-Age=0`];
}
