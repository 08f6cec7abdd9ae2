/**
 * The receivers of all hostile customers, in one process with a lower priority than the service. Each customer has its
 * own port, which makes it a host of its own. The path decides the answer. `/hang/…` is never answered. `/once/…` is
 * answered with 200 the first time and with 500 afterwards. All other paths are answered with 200 at once.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { RECEIVING, type Receiving } from './customers.ts';
import type { HostileReceiverMessage } from './hostile-receiver.ts';

const CERTIFICATES = join(import.meta.dirname, '../../test/certificates');
const KEEP_ALIVE_MS = 120_000;
const HANGING = '/hang/';
const ONCE = '/once/';
const CERTIFICATE = {
  cert: readFileSync(join(CERTIFICATES, 'receiver.pem')),
  key: readFileSync(join(CERTIFICATES, 'receiver.key')),
  keepAliveTimeout: KEEP_ALIVE_MS,
};

const counts = new Map<Receiving, number>();
/** The `/once/` paths that were answered with 200. There is one for each filled store. */
const answered = new Set<string>();

function statusFor(path: string): number {
  if (!path.startsWith(ONCE) || !answered.has(path)) {
    if (path.startsWith(ONCE)) answered.add(path);
    return 200;
  }
  return 500;
}

function listen(customer: Receiving): Promise<readonly [Receiving, string]> {
  const server = createServer(CERTIFICATE, (request, response) => {
    counts.set(customer, (counts.get(customer) ?? 0) + 1);
    const { url: path = '' } = request;
    request.resume();
    if (path.startsWith(HANGING)) return;
    request.on('end', () => response.writeHead(statusFor(path)).end());
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve([customer, `https://127.0.0.1:${(server.address() as AddressInfo).port}`]);
    });
  });
}

function send(message: HostileReceiverMessage): void {
  process.send?.(message);
}

process.on('message', () => send({ kind: 'counts', counts: [...counts] }));
process.on('disconnect', () => process.exit(0));
send({ kind: 'listens', urls: await Promise.all(RECEIVING.map(listen)) });
