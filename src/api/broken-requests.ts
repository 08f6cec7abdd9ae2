/**
 * Requests that never reach a route: what is not HTTP, names no valid host or target, or expects the impossible. They
 * get the envelope and a request id like any other, and their connection is closed.
 */
import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, Refusal } from '#src/domain/errors.ts';
import type { Clock } from '#src/ports/system.ts';
import { errorBody, JSON_TYPE } from './errors.ts';
import { hasValidHost, pathOfTarget } from './request-target.ts';

/** The parser knows the methods of RTSP as well; the framework does not. */
const HTTP_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

export interface BrokenRequestsDependencies {
  readonly clock: Clock;
  readonly requestId: () => string;
  /** Called for each request that could be read as HTTP and was refused here. */
  readonly refused: (requestId: string, method: string, status: number) => void;
}

/** The answers to the last two requests of a connection. */
interface LastTwo {
  last: ServerResponse | null;
  before: ServerResponse | null;
}

export class BrokenRequests {
  readonly #dependencies: BrokenRequestsDependencies;
  readonly #connections = new WeakMap<Duplex, LastTwo>();

  constructor(dependencies: BrokenRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  watch(server: Server): void {
    server.on('connection', (socket) => this.#connections.set(socket, { last: null, before: null }));
    server.on('request', ({ socket }, response) => {
      const connection = this.#connections.get(socket);
      if (connection === undefined) return;
      connection.before = connection.last;
      connection.last = response;
    });
    server.on('checkExpectation', (request, response) =>
      this.#refuse(request, response, invalid('The Expect header cannot be met.')),
    );
    server.on('connect', (request, socket) => this.#refuseTunnel(request, socket));
  }

  /** Returns false when the request was refused. Else its URL is a path from here on, whatever its target was. */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    const path = judge(request);
    if (path instanceof Refusal) {
      this.#refuse(request, response, path);
      return false;
    }
    request.url = path;
    return true;
  }

  /**
   * Answers by hand what is not even HTTP: there is no request to reply to. Behind a request that has arrived whole
   * and is still under way it gets no answer, since that would be read as the answer to that request.
   */
  answer(error: Error & { readonly code?: string }, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable || this.#isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'payload_too_large' : 'invalid_request';
    const refusal = new Refusal(code, null, 'Not a valid HTTP request.');
    socket.end(this.#inFull(refusal, this.#dependencies.requestId()));
  }

  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    const requestId = this.#dependencies.requestId();
    const { status } = ERRORS[refusal.code];
    const body = errorBody(refusal, requestId);
    response.writeHead(status, headersOf(body, requestId));
    response.end(body);
    this.#dependencies.refused(requestId, request.method ?? '', status);
  }

  /** Node has let go of the connection of a CONNECT: nobody else listens to its errors or closes it. */
  #refuseTunnel(request: IncomingMessage, socket: Duplex): void {
    socket.on('error', () => socket.destroy());
    if (this.#isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const judged = judge(request);
    const refusal = judged instanceof Refusal ? judged : new Refusal('not_found');
    const requestId = this.#dependencies.requestId();
    socket.resume();
    socket.end(this.#inFull(refusal, requestId), () => socket.destroy());
    this.#dependencies.refused(requestId, request.method ?? '', ERRORS[refusal.code].status);
  }

  /** Answers go out in the order of their requests; the one before the last has arrived whole, or there were no last. */
  #isAnswering(socket: Duplex): boolean {
    const { last, before } = this.#connections.get(socket) ?? { last: null, before: null };
    return (isUnderWay(last) && last.req.complete) || isUnderWay(before);
  }

  /** The answer as it goes over the wire. */
  #inFull(refusal: Refusal, requestId: string): string {
    const { status } = ERRORS[refusal.code];
    const body = errorBody(refusal, requestId);
    const headers = {
      ...headersOf(body, requestId),
      Date: new Date(this.#dependencies.clock.now()).toUTCString(),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
  }
}

/** The path that a request asks for, or why it must not reach the framework. */
function judge(request: IncomingMessage): string | Refusal {
  if (!HTTP_METHODS.has(request.method)) return new Refusal('not_found');
  if (!hasValidHost(request)) return invalid('Send one Host header, with a valid host.');
  return pathOfTarget(request.url ?? '') ?? invalid('The target of the request is not valid.');
}

function invalid(message: string): Refusal {
  return new Refusal('invalid_request', null, message);
}

function headersOf(body: string, requestId: string): Readonly<Record<string, string>> {
  return {
    'sched-request-id': requestId,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
}

function isUnderWay(response: ServerResponse | null): response is ServerResponse {
  return response !== null && !response.closed;
}
