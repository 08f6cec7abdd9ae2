/**
 * A real receiver: an HTTPS or HTTP server on this machine. It records every request exactly as sent, and each of
 * its hooks behaves as the test says.
 *
 *     await using receiver = await startReceiver();
 *     const hook = receiver.hook(answer(500), answer(200));
 *     … a schedule for hook.url …
 *     const retry = await hook.arrived(2);
 *
 * A hook has its own path. Its behaviours are used in order, and the last one is repeated. Nothing polls: an
 * arrival resolves the promises that wait for it.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { answer, type Behaviour } from './behaviours.ts';

const CERTIFICATES = join(import.meta.dirname, '../certificates');
export const CA_FILE = join(CERTIFICATES, 'ca.pem');
const WAIT_MS_MAX = 60_000;

export interface ReceivedRequest {
  /** The number of the connection, counted from 1. */
  readonly connection: number;
  /** When the head arrived, by the wall clock, in ms. */
  readonly arrivedAt: number;
  /** The same by a monotonic clock, for differences. */
  readonly arrivedAtNs: bigint;
  readonly method: string;
  /** The path as sent, with its query. */
  readonly path: string;
  /** In order, with names as sent and values as Latin-1. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** False if the behaviour did not read the body. It is empty then. */
  readonly isComplete: boolean;
  readonly body: Buffer;
}

/** The certificate of the receiver, from `test/certificates`. */
export type Identity = 'receiver' | 'expired' | 'other-name' | 'untrusted';

export interface ReceiverOptions {
  readonly scheme?: 'https' | 'http';
  readonly host?: '127.0.0.1' | '::1';
  readonly identity?: Identity;
}

/** All values of a header in order. */
export function valuesOf({ headers }: ReceivedRequest, name: string): readonly string[] {
  return headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** Returns the value of a header, and throws unless it was sent exactly once. */
export function headerOf(request: ReceivedRequest, name: string): string {
  const [value, ...others] = valuesOf(request, name);
  if (value === undefined || others.length > 0) {
    throw new Error(`${name} was sent ${value === undefined ? 0 : others.length + 1} times, not once.`);
  }
  return value;
}

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
}

export class Hook {
  readonly path: string;
  readonly url: string;
  readonly requests: ReceivedRequest[] = [];
  #script: readonly Behaviour[];
  #served = 0;
  readonly #waiters = new Set<Waiter>();

  constructor(origin: string, path: string, script: readonly Behaviour[]) {
    this.path = path;
    this.url = origin + path;
    this.#script = script;
  }

  /** Replaces the behaviours from the next request on. */
  behave(...script: readonly Behaviour[]): void {
    this.#script = script;
    this.#served = 0;
  }

  /** Resolves to the `count`th request when it has arrived completely. */
  async arrived(count = 1): Promise<ReceivedRequest> {
    if (this.requests.length < count) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = { count, resolve };
      this.#waiters.add(waiter);
      const fail = () =>
        reject(new Error(`${this.path}: ${this.requests.length} of ${count} requests in ${WAIT_MS_MAX} ms.`));
      const timer = setTimeout(fail, WAIT_MS_MAX);
      await promise.finally(() => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      });
    }
    const request = this.requests[count - 1];
    if (request === undefined) throw new Error(`${this.path}: no request ${count}.`);
    return request;
  }

  /** Returns the behaviour for the next request. The server calls it. */
  next(): Behaviour {
    const index = Math.min(this.#served++, this.#script.length - 1);
    return this.#script[index] ?? answer(200);
  }

  record(request: ReceivedRequest): void {
    this.requests.push(request);
    for (const { count, resolve } of this.#waiters) if (this.requests.length >= count) resolve();
  }
}

export class Receiver implements AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** The number of TCP connections so far. */
  connections = 0;
  readonly #hooks = new Map<string, Hook>();
  /** Requests to a path without a hook. */
  readonly unmatched: ReceivedRequest[] = [];
  readonly #sockets = new Map<Socket, number>();
  readonly #close: () => Promise<void>;

  constructor(origin: string, port: number, close: () => Promise<void>) {
    this.origin = origin;
    this.port = port;
    this.#close = close;
  }

  /** Creates a hook with its own path. It answers 200 by default. */
  hook(...script: readonly Behaviour[]): Hook {
    return this.hookAt(`/hook/${this.#hooks.size + 1}`, ...script);
  }

  hookAt(path: string, ...script: readonly Behaviour[]): Hook {
    const hook = new Hook(this.origin, path, script);
    this.#hooks.set(path, hook);
    return hook;
  }

  get hooks(): readonly Hook[] {
    return [...this.#hooks.values()];
  }

  get requests(): readonly ReceivedRequest[] {
    return this.hooks.flatMap(({ requests }) => requests);
  }

  /** The server calls it for each connection. */
  connected(socket: Socket): void {
    this.connections += 1;
    this.#sockets.set(socket, this.connections);
    socket.on('close', () => this.#sockets.delete(socket));
    // Some tests break the connection on purpose.
    socket.on('error', () => {});
  }

  /** The server calls it for each request. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = Date.now();
    const arrivedAtNs = process.hrtime.bigint();
    const { method = '', url: path = '', socket } = request;
    // For TLS this is the TCP socket below, because only that one can be reset.
    const tcp = [...this.#sockets.keys()].find(({ remotePort }) => remotePort === socket.remotePort);
    const connection = (tcp && this.#sockets.get(tcp)) ?? 0;
    const hook = this.#hooks.get(path.split('?', 1)[0] ?? '');
    const behaviour = hook?.next() ?? answer(404);
    response.on('error', () => {});

    const body = behaviour.ignoresBody ? Buffer.alloc(0) : await bodyOf(request);
    const received: ReceivedRequest = {
      connection,
      arrivedAt,
      arrivedAtNs,
      method,
      path,
      headers: pairs(request.rawHeaders),
      isComplete: !behaviour.ignoresBody,
      body,
    };
    if (hook === undefined) this.unmatched.push(received);
    else hook.record(received);
    await behaviour.act({ request, response, socket: tcp ?? socket });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { scheme = 'https', host = '127.0.0.1', identity = 'receiver' } = options;
  const server = scheme === 'https' ? createHttpsServer(identityOf(identity)) : createHttpServer();
  // Connections stay open until the sender or a behaviour closes them.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const sockets = new Set<Socket>();
  const receiver = new Receiver(origin, port, async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server, 'close');
  });

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    receiver.connected(socket);
  });
  server.on('secureConnection', (socket: Socket) => socket.on('error', () => {}));
  // The sender broke off the handshake.
  server.on('tlsClientError', () => {});
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    receiver.serve(request, response).catch(() => request.socket.destroy());
  });
  return receiver;
}

function identityOf(identity: Identity) {
  const read = (ending: string) => readFileSync(join(CERTIFICATES, `${identity}.${ending}`));
  return { key: read('key'), cert: read('pem') };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function pairs(raw: readonly string[]): readonly (readonly [string, string])[] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ''] as const] : []));
}
