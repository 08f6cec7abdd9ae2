/**
 * For tests only: an Internet in which every public address is this machine. Names resolve to a public address, and a
 * connection to it reaches a receiver on the loopback interface. Sched sees the public address.
 */
import { connect as connectTcp } from 'node:net';
import type { EgressOptions } from '#src/egress/client.ts';
import { tcpConnect } from '#src/egress/dial.ts';

const ADDRESS = '9.9.9.9';

/** The certificate of receivers is valid for this name. */
export const PUBLIC_HOST = 'receiver.test';

export const PUBLIC_NETWORK = {
  resolve: () => Promise.resolve([ADDRESS]),
  connect: (address, port) => {
    if (address.text !== ADDRESS) return tcpConnect(address, port);
    const socket = connectTcp({ host: '127.0.0.1', port, noDelay: true });
    Object.defineProperty(socket, 'remoteAddress', { value: ADDRESS });
    return socket;
  },
} satisfies Pick<EgressOptions, 'resolve' | 'connect'>;
