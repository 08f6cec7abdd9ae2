/** The four adapters, each in a real server of its framework on its own port. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import * as forExpress from '#sdk/receiver/express.ts';
import * as forFastify from '#sdk/receiver/fastify.ts';
import * as forFetch from '#sdk/receiver/fetch.ts';
import * as forHono from '#sdk/receiver/hono.ts';
import type { ReceiverOptions } from '#sdk/receiver/index.ts';

export interface Running extends AsyncDisposable {
  readonly port: number;
}

export interface AdapterServer {
  readonly name: string;
  /** Whether a GET can have a body. In Fetch-style servers it cannot. */
  readonly readsBodyOfGet: boolean;
  /** Serves the receiver at `/hook` and, mounted with a prefix, at `/api/hook/<anything>`. */
  readonly start: (options: ReceiverOptions) => Promise<Running>;
}

export async function listening(server: Server): Promise<Running> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function serve(listener: RequestListener): Promise<Running> {
  return listening(createServer(listener));
}

/** Serves a Fetch-style handler. Like other runtimes, it answers 500 to an error. */
export function serveFetch(handler: (request: Request) => Response | Promise<Response>): Promise<Running> {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const response = await handler(asRequest(incoming));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  };
  return serve((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.writeHead(500).end());
  });
}

function asRequest(incoming: IncomingMessage): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        for await (const chunk of incoming) controller.enqueue(chunk as Uint8Array);
        controller.close();
      } catch {
        // The reader has canceled the stream.
      }
    },
  });
  const init = { method, headers: pairs, ...(method === 'GET' ? {} : { body, duplex: 'half' as const }) };
  return new Request(`http://receiver.example${url}`, init);
}

export const ADAPTERS: readonly AdapterServer[] = [
  {
    name: 'fetch',
    readsBodyOfGet: false,
    start: (options) => serveFetch(forFetch.receiver(options)),
  },
  {
    name: 'express',
    readsBodyOfGet: true,
    start: (options) => {
      const app = express();
      const receiver = forExpress.receiver(options);
      const api = express.Router();
      api.all('/hook/*rest', receiver);
      app.all('/hook', receiver);
      app.use('/api', api);
      // The default error handler would write to the log of the tests.
      app.use(
        (_error: unknown, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
          res.sendStatus(500);
        },
      );
      return serve(app);
    },
  },
  {
    name: 'fastify',
    readsBodyOfGet: true,
    start: async (options) => {
      const app = Fastify();
      await app.register(forFastify.receiver, { url: '/hook', ...options });
      await app.register(forFastify.receiver, { prefix: '/api', url: '/hook/*', ...options });
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as AddressInfo;
      return {
        port,
        [Symbol.asyncDispose]: () => {
          app.server.closeAllConnections();
          return app.close();
        },
      };
    },
  },
  {
    name: 'hono',
    readsBodyOfGet: false,
    start: (options) => {
      const app = new Hono();
      const receiver = forHono.receiver(options);
      app.all('/hook', receiver);
      app.route('/api', new Hono().all('/hook/*', receiver));
      app.onError((_error, context) => context.body(null, 500));
      return serveFetch(app.fetch);
    },
  },
];
