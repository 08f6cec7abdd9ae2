/**
 * A new connection: the name is resolved, its addresses are judged, one of them is connected to, and TLS is
 * spoken over exactly that socket. Every failure on the way is a `NotSent`; not a byte has been written
 * unless the guard agreed.
 */
import type { Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { LRUCache } from 'lru-cache';
import { type DialDependencies, dial } from './dial.ts';
import { failed, NotSent, notSent, unresolved } from './failures.ts';
import { type EgressRules, type Host, hostOf, judgeAddresses, knownAddresses } from './guard.ts';
import type { Resolve } from './resolver.ts';

/** Resuming a session spares both sides the costly half of a handshake. */
const TLS_SESSIONS_MAX = 1_000;

/** All of them are judged, which takes its time: an answer of thousands is no honest one. */
const ADDRESSES_MAX = 256;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

export interface ConnectorOptions extends EgressRules {
  /** PEM, trusted besides the built-in roots. */
  readonly certificates: string | null;
}

export interface ConnectorDependencies extends DialDependencies {
  readonly resolve: Resolve;
}

export class Connector {
  readonly #rules: EgressRules;
  readonly #dependencies: ConnectorDependencies;
  readonly #secureContext: SecureContext;
  /** By name and port: a session vouches for the name that its certificate was checked against. */
  readonly #sessions = new LRUCache<string, Buffer>({ max: TLS_SESSIONS_MAX });

  constructor(options: ConnectorOptions, dependencies: ConnectorDependencies) {
    this.#rules = options;
    this.#dependencies = dependencies;
    this.#secureContext = secureContext(options.certificates);
  }

  /** `turn`: resolves when a handshake may begin. */
  async open(url: URL, signal: AbortSignal, turn: () => Promise<void>): Promise<Socket> {
    try {
      const host = hostOf(url);
      const addresses = judgeAddresses(url, await this.#addressesOf(host, signal), this.#rules);
      const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
      const socket = await dial(addresses, port, this.#dependencies, signal);
      if (url.protocol !== 'https:') return socket;
      await turn();
      return await this.#secure(socket, host, port, signal);
    } catch (error) {
      throw notSent(error);
    }
  }

  async #addressesOf(host: Host, signal: AbortSignal): Promise<readonly string[]> {
    const known = knownAddresses(host);
    if (known !== null) return known;
    let addresses: readonly string[];
    try {
      addresses = await unlessAborted(signal, this.#dependencies.resolve(host.name, signal));
    } catch (error) {
      throw error instanceof NotSent ? error : unresolved('name does not resolve', error);
    }
    if (addresses.length === 0) throw unresolved('name has no address');
    if (addresses.length > ADDRESSES_MAX) throw unresolved('name has too many addresses');
    return addresses;
  }

  async #secure(socket: Socket, host: Host, port: number, signal: AbortSignal): Promise<TLSSocket> {
    const key = `${host.name}:${port}`;
    const session = this.#sessions.get(key);
    const secured = connectTls({
      socket,
      secureContext: this.#secureContext,
      // Whom the certificate must name. An address is not sent in the handshake (RFC 6066).
      host: host.name,
      ...(host.literal === undefined ? { servername: host.name } : {}),
      ALPNProtocols: ['http/1.1'],
      // Said outright: the environment can turn the default off.
      rejectUnauthorized: true,
      ...(session === undefined ? {} : { session }),
    });
    secured.on('session', (fresh) => this.#sessions.set(key, fresh));
    try {
      await handshake(secured, signal);
      return secured;
    } catch (error) {
      this.#sessions.delete(key);
      secured.destroy();
      socket.destroy();
      throw error;
    }
  }
}

function secureContext(certificates: string | null): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(certificates === null ? {} : { ca: [...getCACertificates('default'), certificates] }),
  });
}

function handshake(socket: TLSSocket, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('secureConnect', resolve);
  // Stays for the life of the socket, as in `dial`.
  socket.on('error', reject);
  socket.once('close', () => reject(failed('TLS handshake failed')));
  return unlessAborted(signal, promise);
}

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const breakOff = () => reject(failed('broken off'));
  if (signal.aborted) breakOff();
  signal.addEventListener('abort', breakOff, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', breakOff));
  return promise;
}
