/**
 * Opens a connection: resolves the name, checks its addresses, connects to one of them and starts TLS over
 * exactly that socket. Every failure on the way is a `SendFailure`. Not a byte is written before the guard has
 * allowed every address.
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
import { isPublicAddress } from '#src/domain/public-address.ts';
import { type DialDependencies, dial } from './dial.ts';
import { SendFailure, toSendFailure } from './failures.ts';
import { checkAddresses, type EgressRules, type Host, hostOf, knownAddresses } from './guard.ts';
import type { Resolve } from './resolver.ts';

/** Resuming a TLS session spares both sides the expensive half of a handshake. */
const TLS_SESSIONS_MAX = 1_000;

/** Each address is checked, which takes time. No honest name has thousands of addresses. */
const ADDRESSES_MAX = 256;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

export interface ConnectorOptions extends EgressRules {
  /** PEM certificates that are trusted in addition to the built-in roots. */
  readonly certificates: string | null;
}

export interface OpenedSocket {
  readonly socket: Socket;
  /** Whether the peer is on the public Internet. Otherwise only the operator's list permits its address. */
  readonly isPublic: boolean;
}

export interface ConnectorDependencies extends DialDependencies {
  readonly resolve: Resolve;
}

export class Connector {
  readonly #rules: EgressRules;
  readonly #dependencies: ConnectorDependencies;
  readonly #secureContext: SecureContext;
  /** TLS sessions by name and port. A session is valid only for the name that its certificate was checked against. */
  readonly #sessions = new LRUCache<string, Buffer>({ max: TLS_SESSIONS_MAX });

  constructor(options: ConnectorOptions, dependencies: ConnectorDependencies) {
    this.#rules = options;
    this.#dependencies = dependencies;
    this.#secureContext = secureContext(options.certificates);
  }

  /** `awaitHandshake` resolves when the TLS handshake may start. */
  async open(url: URL, signal: AbortSignal, awaitHandshake: () => Promise<void>): Promise<OpenedSocket> {
    try {
      const host = hostOf(url);
      const addresses = checkAddresses(url, await this.#addressesOf(host, signal), this.#rules);
      const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
      const socket = await dial(addresses, port, this.#dependencies, signal);
      const isPublic = isPublicAddress(socket.remoteAddress ?? '');
      if (url.protocol !== 'https:') return { socket, isPublic };
      await awaitHandshake();
      return { socket: await this.#secure(socket, host, port, signal), isPublic };
    } catch (error) {
      throw toSendFailure(error);
    }
  }

  async #addressesOf(host: Host, signal: AbortSignal): Promise<readonly string[]> {
    const known = knownAddresses(host);
    if (known !== null) return known;
    let addresses: readonly string[];
    try {
      addresses = await unlessAborted(signal, this.#dependencies.resolve(host.name, signal));
    } catch (error) {
      throw error instanceof SendFailure ? error : new SendFailure('name_unresolved', error);
    }
    if (addresses.length === 0) throw new SendFailure('name_without_address');
    if (addresses.length > ADDRESSES_MAX) throw new SendFailure('name_with_too_many_addresses');
    return addresses;
  }

  async #secure(socket: Socket, host: Host, port: number, signal: AbortSignal): Promise<TLSSocket> {
    const key = `${host.name}:${port}`;
    const session = this.#sessions.get(key);
    const secured = connectTls({
      socket,
      secureContext: this.#secureContext,
      // The certificate must be for this name. An address is not sent in the handshake (RFC 6066).
      host: host.name,
      ...(host.literal === undefined ? { servername: host.name } : {}),
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, because the environment can turn the default off.
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

let newest: { readonly certificates: string | null; readonly context: SecureContext } | null = null;

/** Reading the certificates of all authorities takes a while. Every connector of a process has the same ones. */
function secureContext(certificates: string | null): SecureContext {
  if (newest?.certificates === certificates) return newest.context;
  const context = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(certificates === null ? {} : { ca: [...getCACertificates('default'), certificates] }),
  });
  newest = { certificates, context };
  return context;
}

function handshake(socket: TLSSocket, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('secureConnect', resolve);
  // The listener stays for the life of the socket, as in `dial`.
  socket.on('error', reject);
  socket.once('close', () => reject(new SendFailure('tls_handshake_failed')));
  return unlessAborted(signal, promise);
}

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(new SendFailure('aborted'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  return promise;
}
