/**
 * Finds the address of the client of a request. Anybody can send `X-Forwarded-For`, so only entries written by the
 * operator's own proxies count (`SCHED_TRUSTED_PROXIES`). The list is read from the right, beginning with the peer. As
 * long as an address belongs to a trusted proxy, the entry to its left is the address that this proxy saw. The first
 * address that is not trusted is the client's. An entry that cannot be parsed ends the search too.
 *
 * Failed logins are counted by this address, sessions show it, and the audit log keeps the peer beside it.
 */
import type { IncomingMessage } from 'node:http';
import { type Address, type Cidr, isInside, parseAddress, unmapped } from '#src/domain/public-address.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { headerOf } from '#src/web/request-headers.ts';

export interface ClientAddress {
  /** The address of the client, as reported by trusted proxies. */
  readonly address: string;
  /** The other end of the connection. */
  readonly peer: string;
}

const FORWARDED_FOR = 'x-forwarded-for';
/** No installation has more proxies in a row. */
const HOPS_MAX = 16;
/** The longest valid entry, an IPv6 address in brackets with a port, has 53 characters. */
const ENTRY_CHARACTERS_MAX = 64;
/** A connection that has closed, or that is not a network connection, has no address. It is never a trusted proxy. */
const UNKNOWN = 'unknown';
/** Some proxies write the port of the client too. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/;
/** The zone of a link-local address, which names an interface of this machine. */
const ZONE = /%.*$/;

export class ClientAddressResolver {
  readonly #trusted: readonly Cidr[];
  readonly #log: Log;
  #hasWarned = false;

  constructor(trusted: readonly Cidr[], log: Log) {
    this.#trusted = trusted;
    this.#log = log;
  }

  /**
   * Returns false for a client that disconnected before its request was handled. It could otherwise change things and
   * leave no address in the audit log. Node keeps the address of a connection once it has been read.
   */
  isKnown({ socket }: IncomingMessage): boolean {
    return socket.remoteAddress !== undefined;
  }

  resolve(request: IncomingMessage): ClientAddress {
    const peer = plainAddress((request.socket.remoteAddress ?? '').replace(ZONE, ''));
    const forwarded = headerOf(request, FORWARDED_FOR);
    if (peer === undefined) return { address: UNKNOWN, peer: UNKNOWN };
    if (forwarded === null) return { address: peer.text, peer: peer.text };
    if (!this.#isTrusted(peer)) this.#warnOnce(peer);
    return { address: this.#findClient(peer, forwarded).text, peer: peer.text };
  }

  #findClient(peer: Address, forwarded: string): Address {
    const entries = forwarded.split(',');
    let address = peer;
    for (let hops = 0; hops < HOPS_MAX && this.#isTrusted(address); hops += 1) {
      const next = readEntry(entries.pop()?.trim() ?? '');
      if (next === undefined) break;
      address = next;
    }
    return address;
  }

  #isTrusted(address: Address): boolean {
    return isInside(address, this.#trusted);
  }

  /** Warns once, since anybody could otherwise fill the log with this header. */
  #warnOnce({ text }: Address): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      { peer: text },
      'X-Forwarded-For is ignored: the peer is not in SCHED_TRUSTED_PROXIES; this is logged once',
    );
  }
}

function readEntry(text: string): Address | undefined {
  if (text.length > ENTRY_CHARACTERS_MAX) return undefined;
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? [];
  return plainAddress(ipv4 ?? ipv6 ?? text);
}

/** A socket for both families reports an IPv4 client as IPv6. Both forms are the same client. */
function plainAddress(text: string): Address | undefined {
  const address = parseAddress(text);
  return address && unmapped(address);
}
