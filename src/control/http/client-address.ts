/**
 * This module finds the client of a request. Anybody can write `X-Forwarded-For`, so it counts only as far as the
 * operator's own proxies vouch for it (`SCHED_TRUSTED_PROXIES`). It is walked from the right, beginning with the
 * peer. As long as an address is that of a trusted proxy, the entry to its left is what this proxy saw. The first
 * address that is not trusted is the client's, whatever stands to its left. An entry that cannot be read ends the
 * walk too.
 *
 * Failed logins are counted by this address, sessions show it, and the audit log keeps the peer beside it.
 */
import type { IncomingMessage } from 'node:http';
import { type Address, type Cidr, isInside, parseAddress, unmapped } from '#src/domain/public-address.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { headerOf } from './request-headers.ts';

export interface ClientAddress {
  /** The address of the client, as far as trusted proxies tell it. */
  readonly address: string;
  /** The other end of the connection. */
  readonly peer: string;
}

const FORWARDED_FOR = 'x-forwarded-for';
/** Nobody has this many proxies in a row. */
const HOPS_MAX = 16;
/** An IPv6 address in brackets with a port has 53. */
const ENTRY_CHARACTERS_MAX = 64;
/** A connection that is gone already, or that is no network's, has no address. It is never a trusted proxy. */
const UNKNOWN = 'unknown';
/** Some proxies write the port of the client too. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/;
/** The name of this machine's interface, with which a link-local peer is told. */
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
   * Returns false for a client that is gone before its request is looked at. It could change things and leave no
   * address in the audit log. Node keeps the address of a connection once it has been asked for.
   */
  isKnown({ socket }: IncomingMessage): boolean {
    return socket.remoteAddress !== undefined;
  }

  resolve(request: IncomingMessage): ClientAddress {
    const peer = plainAddress((request.socket.remoteAddress ?? '').replace(ZONE, ''));
    const forwarded = headerOf(request, FORWARDED_FOR);
    if (peer === undefined) return { address: UNKNOWN, peer: UNKNOWN };
    if (forwarded === null) return { address: peer.text, peer: peer.text };
    if (!this.#isTrusted(peer)) this.#warnOf(peer);
    return { address: this.#walk(peer, forwarded).text, peer: peer.text };
  }

  #walk(peer: Address, forwarded: string): Address {
    const entries = forwarded.split(',');
    let present = peer;
    for (let hops = 0; hops < HOPS_MAX && this.#isTrusted(present); hops += 1) {
      const next = readEntry(entries.pop()?.trim() ?? '');
      if (next === undefined) break;
      present = next;
    }
    return present;
  }

  #isTrusted(address: Address): boolean {
    return isInside(address, this.#trusted);
  }

  /** Warns once, since anybody can send the header and fill the log. */
  #warnOf({ text }: Address): void {
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

/** An IPv4 client of a socket for both families is told as IPv6; it is the same client. */
function plainAddress(text: string): Address | undefined {
  const address = parseAddress(text);
  return address && unmapped(address);
}
