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
    throw explained(error, address);
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

function explained(error: unknown, { host, port }: Address): unknown {
  const code = systemCodeOf(error) ?? 'none';
  switch (code) {
    case 'EADDRINUSE':
      return new StartFailure(`Port ${port} of ${host} is taken by another program; see SCHED_PORT.`);
    case 'EACCES':
      return new StartFailure(`Port ${port} of ${host} may not be used by this user; see SCHED_PORT.`);
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartFailure(`${host} is not an address of this machine (${code}); see SCHED_HOST.`);
    default:
      return error;
  }
}

/** How often connections that have become idle are closed while the others are waited for. */
const IDLE_CHECK_MS = 20;
/** What connections that were cut off may take to go away. */
const FORCED_CLOSE_MS = 1_000;

/**
 * Stops accepting and waits for the requests under way. A client that keeps its connection open after its
 * answer is not waited for; one whose request is not answered after the grace is cut off.
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
