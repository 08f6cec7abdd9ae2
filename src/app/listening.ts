import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { StartFailure, systemCodeOf } from './failures.ts';
import type { Settings } from './settings.ts';

type Address = Pick<Settings, 'host' | 'port'>;

export async function listen(server: FastifyInstance, address: Address): Promise<string> {
  try {
    await server.listen({ host: address.host, port: address.port });
  } catch (error) {
    await server.close();
    throw explain(error, address);
  }
  const bound = server.server.address();
  return urlOf(address.host, isAddressInfo(bound) ? bound.port : address.port);
}

function isAddressInfo(bound: AddressInfo | string | null): bound is AddressInfo {
  return typeof bound === 'object' && bound !== null;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function explain(error: unknown, { host, port }: Address): unknown {
  const code = systemCodeOf(error) ?? 'none';
  switch (code) {
    case 'EADDRINUSE':
      return new StartFailure(
        `Port ${port} of ${host} is in use by another program, perhaps another Sched. Stop it, or choose another port with --port or SCHED_PORT.`,
      );
    case 'EACCES':
      return new StartFailure(
        `This user may not listen on port ${port} of ${host}. Set SCHED_PORT to a port above 1023.`,
      );
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartFailure(
        `${host} is not an address of this machine (${code}). Set SCHED_HOST to one that is.`,
      );
    default:
      return error;
  }
}

/** While requests in flight are awaited, idle connections are closed at this interval. */
const IDLE_CHECK_MS = 20;
/** The longest wait for connections that were closed by force. */
const FORCED_CLOSE_MS = 1_000;

/**
 * Stops accepting connections and waits for the requests in flight. It does not wait for a client that keeps
 * its connection open after the answer. After the grace, connections of unanswered requests are closed.
 */
export async function closeServer(server: FastifyInstance, graceMs: number): Promise<void> {
  const closed = server.close();
  const idleCheck = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
  try {
    if (await settledWithin(closed, graceMs)) return;
    server.server.closeAllConnections();
    await settledWithin(closed, FORCED_CLOSE_MS);
  } finally {
    clearInterval(idleCheck);
  }
}

async function settledWithin(work: PromiseLike<unknown>, ms: number): Promise<boolean> {
  const timer = Promise.withResolvers<false>();
  const timeout = setTimeout(() => timer.resolve(false), ms);
  try {
    return await Promise.race([work.then(() => true), timer.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
