/** Test servers on the loopback interface, and an HTTP client that may reach nothing else. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { onTestFinished, vi } from 'vitest';
import type { Method } from '#src/domain/destination.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Cidr } from '#src/domain/public-address.ts';
import { createEgress, type EgressOptions } from '#src/egress/client.ts';
import type { Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';

export const CUSTOMER = 1 as Partition;

export type Certificate = 'receiver' | 'expired' | 'other-name' | 'untrusted';

export function pem(file: string): string {
  return readFileSync(new URL(`../certificates/${file}`, import.meta.url), 'utf8');
}

export const CA = pem('ca.pem');

export const LOOPBACK: readonly Cidr[] = [
  { family: 'ipv4', address: '127.0.0.0', prefixBits: 8 },
  { family: 'ipv6', address: '::1', prefixBits: 128 },
];

export interface TestServer {
  readonly port: number;
  /** All connections accepted so far. */
  readonly accepted: readonly Socket[];
  /** The number of connections that are still open. */
  open(): number;
  url(path?: string, host?: string): URL;
}

/** The server and its connections are closed when the test is over. */
async function listen(server: Server, scheme: string, address: string): Promise<TestServer> {
  const accepted: Socket[] = [];
  server.on('connection', (socket) => {
    accepted.push(socket);
    socket.on('error', () => {});
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(async () => {
    for (const socket of accepted) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    accepted,
    open: () => accepted.filter((socket) => !socket.destroyed).length,
    url: (path = '/', host = address.includes(':') ? `[${address}]` : address) =>
      new URL(`${scheme}://${host}:${port}${path}`),
  };
}

export interface TlsServerOptions extends TlsOptions {
  readonly certificate?: Certificate;
  readonly address?: string;
}

function tlsOptions({ certificate = 'receiver', ...options }: TlsServerOptions): TlsOptions {
  return { cert: pem(`${certificate}.pem`), key: pem(`${certificate}.key`), ...options };
}

/** Starts an HTTPS server that answers when it has read the whole request. */
export function startHttpsServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  options: TlsServerOptions = {},
): Promise<TestServer> {
  const server = createHttpsServer(tlsOptions(options), (request, response) => {
    request.resume();
    request.on('end', () => answer(response, request));
  });
  return listen(server, 'https', options.address ?? '127.0.0.1');
}

/** Starts a TLS server. The test reads and writes the bytes. */
export function startTlsServer(
  onSocket: (socket: TLSSocket) => void,
  options: TlsServerOptions = {},
): Promise<TestServer> {
  const server = createTlsServer(tlsOptions(options), (socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  return listen(server, 'https', options.address ?? '127.0.0.1');
}

/** Starts a server that sends these bytes when the first bytes of a request arrive. */
export function startServerAnswering(bytes: string, options: TlsServerOptions = {}): Promise<TestServer> {
  return startTlsServer((socket) => socket.once('data', () => socket.end(bytes, 'latin1')), options);
}

export function startTcpServer(
  onSocket: (socket: Socket) => void,
  scheme: 'http' | 'https' = 'https',
): Promise<TestServer> {
  return listen(createServer(onSocket), scheme, '127.0.0.1');
}

const TO_LOOPBACK: EgressOptions = {
  allow: LOOPBACK,
  allowHttp: false,
  certificates: CA,
  timers: systemTimers,
  resolve: () => Promise.resolve(['127.0.0.1']),
};

/** Every name resolves to loopback, and no other address is allowed. */
export function loopbackEgress(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ ...TO_LOOPBACK, ...options });
  onTestFinished(() => egress.close());
  return egress;
}

let shared: Egress | undefined;

/** One client for all tests of a file that need no options: reading the built-in roots takes long. */
export function sharedEgress(): Egress {
  shared ??= createEgress(TO_LOOPBACK);
  return shared;
}

export interface SendOptions {
  readonly method?: Method;
  readonly headers?: Headers;
  readonly body?: string | null;
  readonly excerptBytesMax?: number;
  readonly signal?: AbortSignal;
  readonly onConnected?: (wasOpen: boolean) => void;
}

export function send(egress: Egress, url: URL | string, options: SendOptions = {}): Promise<SendResult> {
  const { method = 'POST', headers = [], body = '{}', excerptBytesMax = 0 } = options;
  const { signal, onConnected = () => {} } = options;
  const request: OutboundRequest = {
    customer: CUSTOMER,
    isOverdue: false,
    excerptBytesMax,
    method,
    url: new URL(url),
    headers,
    body: body === null ? null : Buffer.from(body),
  };
  return new Promise((resolve) => {
    const abort = egress.send(request, resolve, onConnected);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Other threads and the kernel take an unknown time, so this checks every few milliseconds. */
export async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { interval: 5, timeout: 10_000 });
}

export const ANSWERED = { kind: 'answered', statusCode: 200 } as const;
export const ABORTED = { kind: 'failed', failure: 'aborted' } as const;

/** Timers that fire when the test says so. */
export class ScriptedTimers implements Timers, Stopwatch {
  /** Constant, so that no timer looks late. */
  readonly elapsed = () => 0;

  readonly #pending = new Map<object, { readonly ms: number; readonly act: () => void }>();

  readonly #areZeroDelaysReal: boolean;

  /** `areZeroDelaysReal`: timers with a delay of 0 fire by themselves. */
  constructor({ areZeroDelaysReal = false } = {}) {
    this.#areZeroDelaysReal = areZeroDelaysReal;
  }

  after(ms: number, act: () => void): () => void {
    if (ms === 0 && this.#areZeroDelaysReal) return systemTimers.after(0, act);
    const key = {};
    this.#pending.set(key, { ms, act });
    return () => this.#pending.delete(key);
  }

  /** The delays of all timers that have not fired. */
  pending(): readonly number[] {
    return [...this.#pending.values()].map(({ ms }) => ms);
  }

  /** Fires all timers with exactly this delay. */
  fire(ms: number): void {
    const matching = [...this.#pending].filter(([, timer]) => timer.ms === ms);
    for (const [key, { act }] of matching) if (this.#pending.delete(key)) act();
  }
}
