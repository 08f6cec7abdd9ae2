/**
 * Decides which destinations are allowed. A destination is checked twice: its scheme and name for each
 * request, and all its addresses for each new connection, before it is opened. One blocked address among
 * several forbids the destination, because names with mixed answers are a known way around such guards.
 *
 * Only the host that the WHATWG parser returns is checked. The parser turns every odd spelling of an IPv4
 * address (decimal, octal, full-width) into four decimal numbers, and we connect to exactly that host.
 */
import {
  type Address,
  type Cidr,
  isInside,
  isPublicAddress,
  parseAddress,
} from '#src/domain/public-address.ts';
import { SendFailure } from './failures.ts';

export interface EgressRules {
  /** Private networks that the operator allows. */
  readonly allow: readonly Cidr[];
  /** Whether plain HTTP may be sent to addresses inside `allow`. */
  readonly allowHttp: boolean;
  /** Whether `localhost` means the loopback addresses. They must still be inside `allow`. */
  readonly allowLocalhost?: boolean;
}

const LOCALHOST = /(^|\.)localhost\.*$/i;
const BRACKETS = /^\[(.*)\]$/;
const TRAILING_DOTS = /\.+$/;
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

export interface Host {
  /** The name that is resolved, sent in the handshake and compared with the certificate. */
  readonly name: string;
  /** The address, if the host is an address and not a name. */
  readonly literal: string | undefined;
}

export function hostOf({ hostname }: URL): Host {
  const name = hostname.replace(BRACKETS, '$1').replace(TRAILING_DOTS, '');
  return { name, literal: parseAddress(name) === undefined ? undefined : name };
}

/** Throws for a URL that can be refused without its addresses. */
export function checkUrl(url: URL, { allowHttp, allowLocalhost = false }: EgressRules): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new SendFailure('scheme_not_allowed');
  if (url.protocol === 'http:' && !allowHttp) throw new SendFailure('plain_http_not_allowed');
  // Such a name always means this machine, even if it resolves to another address (RFC 6761).
  if (!allowLocalhost && isLocalhost(url.hostname)) throw new SendFailure('localhost_not_allowed');
}

/** The addresses of a host that needs no name server, or null for a name that must be resolved. */
export function knownAddresses(host: Host): readonly string[] | null {
  if (host.literal !== undefined) return [host.literal];
  return isLocalhost(host.name) ? LOOPBACK_ADDRESSES : null;
}

function isLocalhost(name: string): boolean {
  return LOCALHOST.test(name);
}

/** Returns the parsed addresses if all of them are allowed, and throws otherwise. */
export function checkAddresses(
  url: URL,
  texts: readonly string[],
  { allow }: EgressRules,
): readonly Address[] {
  return texts.map((text) => {
    const address = parseAddress(text);
    if (address === undefined) throw new SendFailure('address_not_allowed');
    const isException = isInside(address, allow);
    if (!isException && !isPublicAddress(text)) throw new SendFailure('address_not_allowed');
    if (!isException && url.protocol !== 'https:') throw new SendFailure('plain_http_not_allowed');
    return address;
  });
}
