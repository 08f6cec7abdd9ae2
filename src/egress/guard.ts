/**
 * Who may be connected to. A destination is judged twice: by its scheme and name with each request, and by
 * all of its addresses with each new connection, before it is opened. One blocked address among several
 * refuses the destination: names with mixed answers are how guards are slipped past.
 *
 * Only the host that the WHATWG parser returns is looked at. It has read every odd spelling of an IPv4
 * address (decimal, octal, full-width) into four decimal numbers, and it is also what is connected to.
 */
import {
  type Address,
  type Cidr,
  isInside,
  isPublicAddress,
  parseAddress,
} from '#src/domain/public-address.ts';
import { forbidden } from './failures.ts';

export interface EgressRules {
  /** The operator's exception: private receivers that may be reached. */
  readonly allow: readonly Cidr[];
  /** Plain HTTP, towards addresses inside `allow` only. */
  readonly allowHttp: boolean;
  /** Whether the names of this machine are its loopback addresses, which must still be inside `allow`. */
  readonly allowLocalhost?: boolean;
}

const LOCALHOST = /(^|\.)localhost\.*$/i;
const BRACKETS = /^\[(.*)\]$/;
const TRAILING_DOTS = /\.+$/;
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

export interface Host {
  /** As it is resolved, sent in the handshake and looked for in the certificate. */
  readonly name: string;
  /** The address, where the host is one and not a name. */
  readonly literal: string | undefined;
}

export function hostOf({ hostname }: URL): Host {
  const name = hostname.replace(BRACKETS, '$1').replace(TRAILING_DOTS, '');
  return { name, literal: parseAddress(name) === undefined ? undefined : name };
}

/** What can be refused without asking for an address. */
export function judgeUrl(url: URL, { allowHttp, allowLocalhost = false }: EgressRules): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw forbidden('scheme is not allowed');
  if (url.protocol === 'http:' && !allowHttp) throw forbidden('plain HTTP is not allowed');
  // Whatever such a name resolves to, it means this machine (RFC 6761).
  if (!allowLocalhost && isLocalhost(url.hostname)) throw forbidden('localhost is not allowed');
}

/** The addresses of a host that need not be asked for; null for a name that has to be resolved. */
export function knownAddresses(host: Host): readonly string[] | null {
  if (host.literal !== undefined) return [host.literal];
  return isLocalhost(host.name) ? LOOPBACK_ADDRESSES : null;
}

function isLocalhost(name: string): boolean {
  return LOCALHOST.test(name);
}

/** The addresses, all of which may be connected to. */
export function judgeAddresses(
  url: URL,
  texts: readonly string[],
  { allow }: EgressRules,
): readonly Address[] {
  return texts.map((text) => {
    const address = parseAddress(text);
    if (address === undefined) throw forbidden('address is not allowed');
    const isException = isInside(address, allow);
    if (!isException && !isPublicAddress(text)) throw forbidden('address is not allowed');
    if (!isException && url.protocol !== 'https:') throw forbidden('plain HTTP is not allowed');
    return address;
  });
}
