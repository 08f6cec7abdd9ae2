/**
 * The receiver of `lateness.ts`, a process of its own: an HTTPS server that notes how late each request is by
 * its `X-Due` header. What hangs never answers.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface ReceiverReport {
  /** By the first part of the path, in milliseconds. */
  readonly lateness: Readonly<Record<string, readonly number[]>>;
}

const CERTIFICATES = join(import.meta.dirname, '../test/certificates');
const KEEP_ALIVE_MS = 120_000;

let lateness: Record<string, number[]> = {};

const server = createServer(
  {
    cert: readFileSync(join(CERTIFICATES, 'receiver.pem')),
    key: readFileSync(join(CERTIFICATES, 'receiver.key')),
    keepAliveTimeout: KEEP_ALIVE_MS,
  },
  (request, response) => {
    const now = performance.timeOrigin + performance.now();
    const group = request.url?.split('/')[1] ?? '';
    if (group !== 'hang') {
      lateness[group] ??= [];
      lateness[group].push(now - Number(request.headers['x-due']));
    }
    request.resume();
    request.on('end', () => {
      if (group !== 'hang') response.end('ok');
    });
  },
);
server.listen(0, '127.0.0.1', () => {
  process.send?.(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('message', () => {
  process.send?.({ lateness } satisfies ReceiverReport);
  lateness = {};
});
process.on('disconnect', () => process.exit(0));
