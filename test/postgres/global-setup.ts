/**
 * Runs once, in the process that starts the workers. A worker requests a PostgreSQL server over HTTP, and gets its
 * URL. The first request starts the server.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { installedBinaries, npmBinaries } from './binaries.ts';
import { type PostgresServer, startPostgres } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly postgresStarter: string;
  }
}

/** A node has about a dozen connections, and test files run several services of three nodes at a time. */
const CONNECTIONS_MAX = 500;

const BINARIES = { '/npm': npmBinaries, '/installed': installedBinaries } as const;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, Promise<PostgresServer | undefined>>();
  const started = (path: keyof typeof BINARIES) => {
    const server = servers.get(path) ?? startIfThere(path);
    servers.set(path, server);
    return server;
  };
  const starter = createServer(({ url }, response) => {
    if (url !== '/npm' && url !== '/installed') {
      response.writeHead(404).end();
      return;
    }
    started(url).then(
      (server) => response.end(server?.url() ?? ''),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  starter.listen(0, '127.0.0.1');
  await once(starter, 'listening');
  const { port } = starter.address() as AddressInfo;
  project.provide('postgresStarter', `http://127.0.0.1:${port}`);
  return async () => {
    starter.closeAllConnections();
    starter.close();
    for (const server of servers.values()) {
      await (await server.catch(() => undefined))?.[Symbol.asyncDispose]();
    }
  };
}

async function startIfThere(path: keyof typeof BINARIES): Promise<PostgresServer | undefined> {
  const binaries = BINARIES[path]();
  return binaries && startPostgres({ binaries, settings: { max_connections: CONNECTIONS_MAX } });
}
