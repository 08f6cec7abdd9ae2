/**
 * For Fastify, as a plugin:
 *
 *     await app.register(receiver, { url: '/hooks/reminder', secret, handle: (delivery) => remind(delivery.json()) });
 *
 * Inside it no body is parsed, of whatever type it is; outside nothing changes, since Fastify keeps what a
 * plugin sets to that plugin. A request whose Content-Type is malformed does not get this far: Fastify answers
 * 415 itself.
 */

import { DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { type NodeRequest, nodeReply } from './reply.ts';

export * from './adapters.ts';

export interface FastifyReceiverOptions extends ReceiverOptions {
  /** The route, behind the prefix of the scope if it has one. Default: `/`. */
  readonly url?: string | undefined;
}

/** Of Fastify what is used here. */
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
  /** Before `rewriteUrl`. */
  readonly originalUrl: string;
}

export interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body?: string): unknown;
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

export async function receiver(scope: FastifyScope, options: FastifyReceiverOptions): Promise<void> {
  const receive = new DeliveryReceiver(options);
  scope.removeAllContentTypeParsers();
  // Left unread: the handler reads it, and so the bodies of GET too, which Fastify would pass over.
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.route({
    method: METHODS,
    url: options.url ?? '/',
    handler: async (request, reply) => {
      const { status, headers, json } = await nodeReply(receive, request.raw, request.originalUrl, null);
      reply.code(status);
      reply.headers({ ...headers });
      return reply.send(json ?? undefined);
    },
  });
}
