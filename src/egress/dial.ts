/**
 * Opens a TCP connection to one of the checked addresses, in the manner of Happy Eyeballs (RFC 8305). The
 * addresses are tried one after the other with alternating families. The next one starts as soon as the
 * last one has failed or has been silent for a moment. The first to connect wins, and the others are closed.
 *
 * IPv4 goes first. Where one family does not work it is nearly always IPv6, and waiting makes deliveries late.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { type Address, isSameAddress, parseAddress } from '#src/domain/public-address.ts';
import type { Timers } from '#src/ports/system.ts';
import { SendFailure } from './failures.ts';

/** Starts a connection to exactly this address. */
export type Connect = (address: Address, port: number) => Socket;

/** All addresses were checked, but only the first few are tried. */
const ADDRESSES_TRIED_MAX = 6;
const HEAD_START_MS = 200;
const TCP_KEEP_ALIVE_MS = 60_000;

/** The text is an address in its plain form, so Node does not resolve anything. */
export const tcpConnect: Connect = (address, port) =>
  connectTcp({
    host: address.text,
    port,
    family: address.family === 'ipv4' ? 4 : 6,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
  });

export interface DialDependencies {
  readonly connect: Connect;
  readonly timers: Timers;
}

export function dial(
  addresses: readonly Address[],
  port: number,
  { connect, timers }: DialDependencies,
  signal: AbortSignal,
): Promise<Socket> {
  const queue = alternating(addresses).slice(0, ADDRESSES_TRIED_MAX);
  const open = new Set<Socket>();
  let cancelTimer = () => {};
  return new Promise<Socket>((resolve, reject) => {
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    const abort = () => fail(new SendFailure('aborted'));
    const end = () => {
      cancelTimer();
      signal.removeEventListener('abort', abort);
      queue.length = 0;
      for (const socket of open) socket.destroy();
      open.clear();
    };
    const tryNext = () => {
      cancelTimer();
      const address = queue.shift();
      if (address === undefined) return;
      let socket: Socket;
      try {
        socket = connect(address, port);
      } catch (error) {
        return fail(error);
      }
      open.add(socket);
      socket.once('connect', () => {
        if (!open.delete(socket)) return;
        if (!isPeer(socket, address)) {
          socket.destroy();
          return fail(new SendFailure('address_not_allowed'));
        }
        end();
        resolve(socket);
      });
      // The listener stays for the life of the socket. An error after the end of this call is ignored.
      socket.on('error', (error) => {
        if (!open.delete(socket)) return;
        if (queue.length > 0) tryNext();
        else if (open.size === 0) fail(error);
      });
      if (queue.length > 0) cancelTimer = timers.after(HEAD_START_MS, tryNext);
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    tryNext();
  });
}

/** Compares the checked address with the one that the kernel really connected to. */
function isPeer(socket: Socket, address: Address): boolean {
  const peer = parseAddress(socket.remoteAddress ?? '');
  return peer !== undefined && isSameAddress(peer, address);
}

function alternating(addresses: readonly Address[]): Address[] {
  const ipv4 = addresses.filter(({ family }) => family === 'ipv4');
  const ipv6 = addresses.filter(({ family }) => family === 'ipv6');
  const longest = ipv4.length > ipv6.length ? ipv4 : ipv6;
  return longest.flatMap((_, index) => [...ipv4.slice(index, index + 1), ...ipv6.slice(index, index + 1)]);
}
