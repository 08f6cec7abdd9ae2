/**
 * Says why a URL may not be a destination. Only the scheme and the host are repeated, because the rest of a URL often
 * has a credential in it.
 */
import { URL_CHARACTERS_MAX } from '#src/domain/destination.ts';
import { isLoopbackHost, isPublicAddress, parseAddress } from '#src/domain/public-address.ts';
import { counted, quoted, typeNamed, VALUE_CHARACTERS_MAX } from './quote.ts';

const EXAMPLE = '"https://example.com/hook"';
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

export function destinationFaultText(value: unknown, field: string, httpAllowed: boolean): string {
  const rule = `${field} must be an absolute ${httpAllowed ? 'https:// or http://' : 'https://'} URL such as ${EXAMPLE}`;
  if (typeof value !== 'string') return `${rule}, not ${typeNamed(value)}.`;
  if (value.length > URL_CHARACTERS_MAX)
    return `${field} has ${counted(value.length)} characters. A URL may have at most ${counted(URL_CHARACTERS_MAX)}.`;
  const form = formFault(value, httpAllowed);
  if (form !== null) return `${rule}. ${form}`;
  const url = URL.parse(value);
  if (url === null) return `${rule}. Its host or port is not valid.`;
  if (url.username !== '' || url.password !== '')
    return `${field} has a user name or password before the host. Leave them out, and send them in headers, such as Authorization.`;
  return httpText(url, field);
}

/** Returns what is wrong with the text before it is parsed as a URL, or null. */
function formFault(text: string, httpAllowed: boolean): string | null {
  if (text === '') return 'It is empty.';
  if (text !== text.trim()) return 'It begins or ends with a space.';
  if (text.includes('\\')) return 'It has a backslash: write / instead.';
  if (/\p{Cc}/u.test(text)) return 'It has a line break or another control character.';
  if (!text.isWellFormed()) return 'It has half of a surrogate pair.';
  if (/^https?:\/\/[^/]/i.test(text)) return null;
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return 'Write two slashes and a host after the scheme.';
  // The text before the port of `localhost:8080` is not a scheme, and neither is a user name.
  if (scheme !== undefined && !/^[^/]*(?::\d|@)/.test(text))
    return `It has the scheme ${quoted(scheme, 20)}.`;
  const host = hostOf(`https://${text}`);
  if (host === null) return 'It has no scheme.';
  const isOwn = httpAllowed && isLoopbackHost(host.replace(/:\d+$/, ''));
  return `It has no scheme: begin with "${isOwn ? 'http' : 'https'}://${host}".`;
}

/** Returns a host that is safe to repeat, or null. */
function hostOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return null;
  return url.host !== '' && url.host.length <= VALUE_CHARACTERS_MAX ? url.host : null;
}

/** A plain http:// URL where it is not allowed. */
function httpText(url: URL, field: string): string {
  const host = hostOf(url.href);
  const shown = host === null ? '' : ` ("http://${host}")`;
  const refused = `${field} uses http://${shown}, but only https:// is allowed`;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  if (isLoopbackHost(name)) {
    // No setting allows the name `localhost`, only the address.
    const allowed = parseAddress(name) === undefined ? 'the address 127.0.0.1' : 'it';
    return `${refused}. To send to your own machine, use "sched dev". In the service, the operator can allow ${allowed} with SCHED_EGRESS_ALLOW and SCHED_EGRESS_ALLOW_HTTP.`;
  }
  if (parseAddress(name) !== undefined && !isPublicAddress(name))
    return `${refused}, and this address is not public. The operator can allow both with SCHED_EGRESS_ALLOW and SCHED_EGRESS_ALLOW_HTTP.`;
  return host === null ? `${refused}.` : `${refused}. Write "https://${host}".`;
}
