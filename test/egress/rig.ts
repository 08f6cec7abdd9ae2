/** Receivers on the loopback interface, and a way out that may reach nothing else. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { onTestFinished, vi } from 'vitest';
import type { Method } from '#src/domain/destination.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Cidr } from '#src/domain/public-address.ts';
import { createEgress, type EgressOptions } from '#src/egress/client.ts';
import type { Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
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

export interface Rig {
  readonly port: number;
  /** Connections accepted so far, and those still open. */
  readonly accepted: readonly Socket[];
  open(): number;
  url(path?: string, host?: string): URL;
}

/** Cut off when the test is over. */
async function listen(server: Server, scheme: string, address: string): Promise<Rig> {
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

export interface TlsRigOptions extends TlsOptions {
  readonly certificate?: Certificate;
  readonly address?: string;
}

function tlsOptions({ certificate = 'receiver', ...options }: TlsRigOptions): TlsOptions {
  return { cert: pem(`${certificate}.pem`), key: pem(`${certificate}.key`), ...options };
}

/** An HTTPS receiver of requests that are read to their end. */
export function httpsRig(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  options: TlsRigOptions = {},
): Promise<Rig> {
  const server = createHttpsServer(tlsOptions(options), (request, response) => {
    request.resume();
    request.on('end', () => answer(response, request));
  });
  return listen(server, 'https', options.address ?? '127.0.0.1');
}

/** TLS, and whatever the test writes into it. */
export function tlsRig(onSocket: (socket: TLSSocket) => void, options: TlsRigOptions = {}): Promise<Rig> {
  const server = createTlsServer(tlsOptions(options), (socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  return listen(server, 'https', options.address ?? '127.0.0.1');
}

/** Answers with these bytes, once a request has begun to come. */
export function answering(bytes: string, options: TlsRigOptions = {}): Promise<Rig> {
  return tlsRig((socket) => socket.once('data', () => socket.end(bytes, 'latin1')), options);
}

export function tcpRig(onSocket: (socket: Socket) => void, scheme: 'http' | 'https' = 'https'): Promise<Rig> {
  return listen(createServer(onSocket), scheme, '127.0.0.1');
}

const TO_LOOPBACK: EgressOptions = {
  allow: LOOPBACK,
  allowHttp: false,
  certificates: CA,
  timers: systemTimers,
  resolve: () => Promise.resolve(['127.0.0.1']),
};

/** Everything resolves to loopback, nothing else is allowed. */
export function loopbackEgress(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ ...TO_LOOPBACK, ...options });
  onTestFinished(() => egress.close());
  return egress;
}

let shared: Egress | undefined;

/** One for all tests of a file that want nothing special: reading the built-in roots takes its time. */
export function sharedEgress(): Egress {
  shared ??= createEgress(TO_LOOPBACK);
  return shared;
}

export interface Shot {
  readonly method?: Method;
  readonly headers?: Headers;
  readonly body?: string | null;
  readonly signal?: AbortSignal;
  readonly onConnected?: (wasOpen: boolean) => void;
}

export function send(egress: Egress, url: URL | string, shot: Shot = {}): Promise<SendResult> {
  const { method = 'POST', headers = [], body = '{}', signal, onConnected = () => {} } = shot;
  const request: OutboundRequest = {
    customer: CUSTOMER,
    method,
    url: new URL(url),
    headers,
    body: body === null ? null : Buffer.from(body),
  };
  return new Promise((resolve) => {
    const breakOff = egress.send(request, resolve, onConnected);
    if (signal?.aborted === true) breakOff();
    else signal?.addEventListener('abort', breakOff, { once: true });
  });
}

/** What other threads and the kernel do takes as long as it takes: a look every few milliseconds. */
export async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { interval: 5, timeout: 10_000 });
}

export const ANSWERED = { kind: 'answered', statusCode: 200 } as const;
export const BROKEN_OFF = { kind: 'failed', why: 'broken off' } as const;

/** Timers that go off when they are told to. */
export class ScriptedTimers implements Timers, Stopwatch {
  /** No timer comes late. */
  readonly elapsed = () => 0;

  readonly #pending = new Map<object, { readonly ms: number; readonly act: () => void }>();

  readonly #pausesAreReal: boolean;

  /** `pausesAreReal`: those that wait for no time at all go off by themselves. */
  constructor({ pausesAreReal = false } = {}) {
    this.#pausesAreReal = pausesAreReal;
  }

  after(ms: number, act: () => void): () => void {
    if (ms === 0 && this.#pausesAreReal) return systemTimers.after(0, act);
    const key = {};
    this.#pending.set(key, { ms, act });
    return () => this.#pending.delete(key);
  }

  waiting(): readonly number[] {
    return [...this.#pending.values()].map(({ ms }) => ms);
  }

  /** Lets those go off that wait for this long. */
  pass(ms: number): void {
    const due = [...this.#pending].filter(([, timer]) => timer.ms === ms);
    for (const [key, { act }] of due) if (this.#pending.delete(key)) act();
  }
}
