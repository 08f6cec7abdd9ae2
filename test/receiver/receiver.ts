/**
 * A real receiver: an HTTPS (or plain HTTP) server on this machine that records every request exactly as it
 * came, and behaves as each of its hooks was told to.
 *
 *     await using receiver = await startReceiver();
 *     const hook = receiver.hook(answer(500), answer(200));
 *     … a schedule for hook.url …
 *     const retry = await hook.arrived(2);
 *
 * A hook is a path of its own. Its behaviours are taken in turn, and the last one stays. Nothing is waited
 * for by looking again and again: an arrival wakes whoever waits for it.
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
const WAIT_MS_MAX = 20_000;

export interface ReceivedRequest {
  /** Of the receiver's connections, counted from 1. */
  readonly connection: number;
  /** When the head had arrived, by the wall clock, in ms. */
  readonly arrivedAt: number;
  /** The same by a clock that nobody sets, for distances. */
  readonly arrivedAtNs: bigint;
  readonly method: string;
  /** As sent, with its query. */
  readonly path: string;
  /** In their order, names as sent; values as Latin-1. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** False where the behaviour left the body unread, and it is empty here. */
  readonly isWhole: boolean;
  readonly body: Buffer;
}

/** Who the receiver says it is: a certificate of `test/certificates`. */
export type Identity = 'receiver' | 'expired' | 'other-name' | 'untrusted';

export interface ReceiverOptions {
  readonly scheme?: 'https' | 'http';
  readonly host?: '127.0.0.1' | '::1';
  readonly identity?: Identity;
}

/** The values of a header, in their order. */
export function valuesOf({ headers }: ReceivedRequest, name: string): readonly string[] {
  return headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** The value of a header that was sent exactly once. */
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
  #turns = 0;
  readonly #waiters = new Set<Waiter>();

  constructor(origin: string, path: string, script: readonly Behaviour[]) {
    this.path = path;
    this.url = origin + path;
    this.#script = script;
  }

  /** From the next request on; the turns begin anew. */
  behave(...script: readonly Behaviour[]): void {
    this.#script = script;
    this.#turns = 0;
  }

  /** The `count`th request, when it has arrived whole. */
  async arrived(count = 1): Promise<ReceivedRequest> {
    if (this.requests.length < count) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = { count, resolve };
      this.#waiters.add(waiter);
      const late = () =>
        reject(new Error(`${this.path}: ${this.requests.length} of ${count} requests in ${WAIT_MS_MAX} ms.`));
      const timer = setTimeout(late, WAIT_MS_MAX);
      await promise.finally(() => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      });
    }
    const request = this.requests[count - 1];
    if (request === undefined) throw new Error(`${this.path}: no request ${count}.`);
    return request;
  }

  /** For the server: what the next request will meet. */
  next(): Behaviour {
    const turn = Math.min(this.#turns++, this.#script.length - 1);
    return this.#script[turn] ?? answer(200);
  }

  record(request: ReceivedRequest): void {
    this.requests.push(request);
    for (const { count, resolve } of this.#waiters) if (this.requests.length >= count) resolve();
  }
}

export class Receiver implements AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** How many TCP connections were made to it. */
  connections = 0;
  readonly #hooks = new Map<string, Hook>();
  /** What came to no hook. */
  readonly strays: ReceivedRequest[] = [];
  readonly #sockets = new Map<Socket, number>();
  readonly #close: () => Promise<void>;

  constructor(origin: string, port: number, close: () => Promise<void>) {
    this.origin = origin;
    this.port = port;
    this.#close = close;
  }

  /** A path nobody else has, that answers 200 unless told otherwise. */
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

  /** For the server. */
  connected(socket: Socket): void {
    this.connections += 1;
    this.#sockets.set(socket, this.connections);
    socket.on('close', () => this.#sockets.delete(socket));
    // Broken off by the other side: that is what some tests are about.
    socket.on('error', () => {});
  }

  /** For the server. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = Date.now();
    const arrivedAtNs = process.hrtime.bigint();
    const { method = '', url: path = '', socket } = request;
    // Of a TLS connection the socket underneath: only that one can be reset.
    const tcp = [...this.#sockets.keys()].find(({ remotePort }) => remotePort === socket.remotePort);
    const connection = (tcp && this.#sockets.get(tcp)) ?? 0;
    const hook = this.#hooks.get(path.split('?', 1)[0] ?? '');
    const behaviour = hook?.next() ?? answer(404);
    response.on('error', () => {});

    const body = behaviour.leavesBody ? Buffer.alloc(0) : await bodyOf(request);
    const received: ReceivedRequest = {
      connection,
      arrivedAt,
      arrivedAtNs,
      method,
      path,
      headers: pairs(request.rawHeaders),
      isWhole: !behaviour.leavesBody,
      body,
    };
    if (hook === undefined) this.strays.push(received);
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
  // Kept open until the other side or a behaviour ends them.
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
  // A handshake that the other side broke off.
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
