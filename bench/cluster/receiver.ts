/**
 * The receiver, a process of its own: an HTTPS server that notes how late each request is, by its headers. It
 * is told what to expect: requests whose path begins with this, so many different ones. When the last has
 * come it says so; then it may be asked for its notes.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Expectation {
  readonly path: string;
  readonly count: number;
}

export interface Notes {
  /** By the first arrival of each, in milliseconds. */
  readonly lateness: readonly number[];
  /** Arrivals of what had arrived before. */
  readonly repeated: number;
}

export type ReceiverMessage =
  | { readonly kind: 'listens'; readonly url: string }
  | { readonly kind: 'complete' }
  | { readonly kind: 'notes'; readonly notes: Notes };

const CERTIFICATES = join(import.meta.dirname, '../../test/certificates');
const KEEP_ALIVE_MS = 120_000;

let expected: Expectation = { path: '', count: 0 };
let lateness = new Map<string, number>();
let repeated = 0;

function say(message: ReceiverMessage): void {
  process.send?.(message);
}

function note(number: string, lateMs: number): void {
  if (lateness.has(number)) {
    repeated++;
    return;
  }
  lateness.set(number, lateMs);
  if (lateness.size === expected.count) say({ kind: 'complete' });
}

const server = createServer(
  {
    cert: readFileSync(join(CERTIFICATES, 'receiver.pem')),
    key: readFileSync(join(CERTIFICATES, 'receiver.key')),
    keepAliveTimeout: KEEP_ALIVE_MS,
  },
  (request, response) => {
    const now = performance.timeOrigin + performance.now();
    if (request.url?.startsWith(expected.path)) {
      note(String(request.headers['x-number']), now - Number(request.headers['x-due']));
    }
    request.resume();
    request.on('end', () => response.end('ok'));
  },
);
server.listen(0, '127.0.0.1', () => {
  say({ kind: 'listens', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', (order: Expectation | 'notes') => {
  if (order === 'notes') {
    say({ kind: 'notes', notes: { lateness: [...lateness.values()], repeated } });
    return;
  }
  expected = order;
  lateness = new Map();
  repeated = 0;
});
process.on('disconnect', () => process.exit(0));
