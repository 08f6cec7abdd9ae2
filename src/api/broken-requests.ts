/**
 * Requests that never reach a route: what is not HTTP, expects the impossible or cannot be decoded. They get
 * the envelope and a request id like any other.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, Refusal } from '#src/domain/errors.ts';
import { errorBody, JSON_TYPE } from './errors.ts';

export function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '');
    return true;
  } catch {
    return false;
  }
}

/** Below these every path is answered alike: after authentication, by the dashboard, by an inbox where there is one. */
const WHOLE_TREES = ['/v1/', '/dashboard/api/', '/dashboard/', '/inbox/hook/'];

/** A path that no route has of its own: it is not found, or goes to what takes all there is below it. */
export function undecodable(url: string): string {
  return `${WHOLE_TREES.find((tree) => url.startsWith(tree)) ?? '/'}-`;
}

/** An `Expect` header that asks for anything but 100-continue. */
export function answerExpectation(response: ServerResponse, requestId: string): void {
  const refusal = new Refusal('invalid_request', null, 'The Expect header cannot be met.');
  const body = errorBody(refusal, requestId);
  response.writeHead(ERRORS[refusal.code].status, {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    'sched-request-id': requestId,
    connection: 'close',
  });
  response.end(body);
}

/** The answers to the last two requests of a connection. */
interface LastTwo {
  last: ServerResponse | null;
  before: ServerResponse | null;
}

function isUnderWay(response: ServerResponse | null): response is ServerResponse {
  return response !== null && !response.closed;
}

/**
 * What is not even HTTP, answered by hand: there is no request to reply to. Behind a request that has arrived
 * whole and is still under way it gets no answer, since that would be read as the answer to that request.
 */
export class BrokenRequests {
  readonly #connections = new WeakMap<Duplex, LastTwo>();

  watch(server: Server): void {
    server.on('connection', (socket) => this.#connections.set(socket, { last: null, before: null }));
    server.on('request', ({ socket }, response) => {
      const connection = this.#connections.get(socket);
      if (connection === undefined) return;
      connection.before = connection.last;
      connection.last = response;
    });
  }

  /** Answers go out in the order of their requests; the one before the last has arrived whole, or there were no last. */
  #isAnswering(socket: Duplex): boolean {
    const { last, before } = this.#connections.get(socket) ?? { last: null, before: null };
    return (isUnderWay(last) && last.req.complete) || isUnderWay(before);
  }

  answer(error: Error & { readonly code?: string }, socket: Duplex, requestId: string): void {
    if (error.code === 'ECONNRESET' || !socket.writable || this.#isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const refusal = new Refusal(
      isTooLarge ? 'payload_too_large' : 'invalid_request',
      null,
      'Not a valid HTTP request.',
    );
    const body = errorBody(refusal, requestId);
    const status = isTooLarge ? '413 Payload Too Large' : '400 Bad Request';
    socket.end(
      `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: ${JSON_TYPE}\r\n` +
        `Sched-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }
}
