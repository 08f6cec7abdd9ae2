/**
 * The receiver for Fastify, as a plugin:
 *
 *     await app.register(receiver, { url: '/hooks/reminder', secret, handle: (delivery) => remind(delivery.json()) });
 *
 * The plugin parses no body, of any type. Other routes do not change, because Fastify limits the settings of a plugin
 * to that plugin. Fastify itself answers 415 to a request with a malformed Content-Type.
 */

import { DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { type NodeRequest, nodeReply } from './reply.ts';

export * from './adapters.ts';

export interface FastifyReceiverOptions extends ReceiverOptions {
  /** The route, after the prefix of the scope if it has one. Default: `/`. */
  readonly url?: string | undefined;
}

/** The parts of Fastify that are used here. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(type: string, parser: FastifyParser): unknown;
  route(route: {
    method: string[];
    url: string;
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  }): unknown;
}

type FastifyParser = (
  request: unknown,
  payload: unknown,
  done: (error: null, body?: unknown) => void,
) => void;

export interface FastifyRequest {
  readonly raw: NodeRequest;
  /** The URL before `rewriteUrl`. */
  readonly originalUrl: string;
}

export interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body?: string): unknown;
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

/** A plugin that verifies, deduplicates and handles deliveries. */
export async function receiver(scope: FastifyScope, options: FastifyReceiverOptions): Promise<void> {
  const deliveries = new DeliveryReceiver(options);
  scope.removeAllContentTypeParsers();
  // The parser leaves the body unread. The handler reads it, even for GET, where Fastify would ignore it.
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.route({
    method: METHODS,
    url: options.url ?? '/',
    handler: async (request, reply) => {
      const { status, headers, json } = await nodeReply(deliveries, request.raw, request.originalUrl, null);
      reply.code(status);
      reply.headers({ ...headers });
      return reply.send(json ?? undefined);
    },
  });
}
