/**
 * A TCP connection to one of the checked addresses. They are tried in turn, the families alternating, the
 * next one as soon as the last has failed or has been silent for a moment; the first to connect wins, the
 * others are dropped.
 *
 * IPv4 goes first: where one of the two families leads nowhere it is IPv6, and waiting makes deliveries late.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { type Address, isSameAddress, parseAddress } from '#src/domain/public-address.ts';
import type { Timers } from '#src/ports/timers.ts';
import { failed, forbidden } from './failures.ts';

/** Starts a connection to exactly this address. */
export type Connect = (address: Address, port: number) => Socket;

/** Of the addresses, all of which were judged. */
const ADDRESSES_TRIED_MAX = 6;
const HEAD_START_MS = 200;
const TCP_KEEP_ALIVE_MS = 60_000;

/** The text is an address in its plain form, so nothing is looked up on the way. */
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
  let callOff = () => {};
  return new Promise<Socket>((resolve, reject) => {
    const giveUp = (error: unknown) => {
      end();
      reject(error);
    };
    const breakOff = () => giveUp(failed('broken off'));
    const end = () => {
      callOff();
      signal.removeEventListener('abort', breakOff);
      queue.length = 0;
      for (const socket of open) socket.destroy();
      open.clear();
    };
    const tryNext = () => {
      callOff();
      const address = queue.shift();
      if (address === undefined) return;
      let socket: Socket;
      try {
        socket = connect(address, port);
      } catch (error) {
        return giveUp(error);
      }
      open.add(socket);
      socket.once('connect', () => {
        if (!open.delete(socket)) return;
        if (!isPeer(socket, address)) {
          socket.destroy();
          return giveUp(forbidden('address is not allowed'));
        }
        end();
        resolve(socket);
      });
      // Stays for the life of the socket: an error that comes late, when nobody waits any more, is no news.
      socket.on('error', (error) => {
        if (!open.delete(socket)) return;
        if (queue.length > 0) tryNext();
        else if (open.size === 0) giveUp(error);
      });
      if (queue.length > 0) callOff = timers.after(HEAD_START_MS, tryNext);
    };
    if (signal.aborted) return breakOff();
    signal.addEventListener('abort', breakOff, { once: true });
    tryNext();
  });
}

/** Whether the other end is who was checked: what the kernel connected to counts, not what it was asked for. */
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
