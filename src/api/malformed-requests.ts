/**
 * Answers requests that never reach a route: those that are not HTTP, have no valid host or target, or have an
 * `Expect` header that cannot be met. They get the error envelope and a request id like any other request, and
 * their connection is closed.
 */
import {
  type IncomingMessage,
  METHODS,
  maxHeaderSize,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, Refusal } from '#src/domain/errors.ts';
import type { Clock } from '#src/ports/system.ts';
import { counted } from '#src/texts/quote.ts';
import { errorBody, JSON_TYPE } from './errors.ts';
import { hasValidHost, pathOfTarget } from './request-target.ts';

/** The parser also accepts the methods of RTSP, and the framework does not know them. */
const HTTP_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

const HEADERS_TOO_LARGE = `The headers of the request have more than ${counted(maxHeaderSize)} bytes. Send fewer or shorter headers.`;
const UNKNOWN_METHOD = 'This HTTP method is not served. GET /docs lists all calls.';
const NO_TUNNEL = 'This is not a proxy: CONNECT is not served. Send the request itself to this address.';

export interface MalformedRequestsDependencies {
  readonly clock: Clock;
  readonly requestId: () => string;
  /** Called for each request that is HTTP and was refused here. */
  readonly onRefused: (requestId: string, method: string, status: number) => void;
}

/** The responses to the last two requests of a connection. */
interface LastTwo {
  last: ServerResponse | null;
  before: ServerResponse | null;
}

export class MalformedRequests {
  readonly #dependencies: MalformedRequestsDependencies;
  readonly #connections = new WeakMap<Duplex, LastTwo>();

  constructor(dependencies: MalformedRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  watch(server: Server): void {
    server.on('connection', (socket) => this.#connections.set(socket, { last: null, before: null }));
    server.on('checkExpectation', (request, response) =>
      this.#refuse(
        request,
        response,
        invalid('The Expect header cannot be met. Leave it out, or send "Expect: 100-continue".'),
      ),
    );
    server.on('connect', (request, socket) => this.#refuseTunnel(request, socket));
  }

  /** Returns false if the request was refused. Otherwise its URL is a path from here on. */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    this.#track(request, response);
    const path = pathOrRefusal(request);
    if (path instanceof Refusal) {
      this.#refuse(request, response, path);
      return false;
    }
    request.url = path;
    return true;
  }

  #track({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.before = connection.last;
    connection.last = response;
  }

  /**
   * Writes the answer to bytes that are not HTTP, for which there is no request object. If an earlier request
   * of the connection is complete and not answered yet, nothing is written: the client would take it for the
   * answer to that request.
   */
  answer(error: Error & { readonly code?: string }, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable || this.#isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const refusal =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? new Refusal('payload_too_large', null, HEADERS_TOO_LARGE)
        : invalid('This is not a valid HTTP request. Check its first line, its headers and its length.');
    socket.end(this.#rawAnswer(refusal, this.#dependencies.requestId()));
  }

  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    const requestId = this.#dependencies.requestId();
    const { status } = ERRORS[refusal.code];
    const body = errorBody(refusal, requestId);
    response.writeHead(status, headersOf(body, requestId));
    response.end(body);
    this.#dependencies.onRefused(requestId, request.method ?? '', status);
  }

  /** Node hands over the socket of a CONNECT, so its errors and its end must be handled here. */
  #refuseTunnel(request: IncomingMessage, socket: Duplex): void {
    socket.on('error', () => socket.destroy());
    if (this.#isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const path = pathOrRefusal(request);
    const refusal = path instanceof Refusal ? path : new Refusal('not_found', null, NO_TUNNEL);
    const requestId = this.#dependencies.requestId();
    socket.resume();
    socket.end(this.#rawAnswer(refusal, requestId), () => socket.destroy());
    this.#dependencies.onRefused(requestId, request.method ?? '', ERRORS[refusal.code].status);
  }

  /** Answers are sent in the order of requests. A request with a successor has arrived completely. */
  #isAnswering(socket: Duplex): boolean {
    const { last, before } = this.#connections.get(socket) ?? { last: null, before: null };
    return (isUnfinished(last) && last.req.complete) || isUnfinished(before);
  }

  /** The complete answer as text, with status line and headers. */
  #rawAnswer(refusal: Refusal, requestId: string): string {
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

/** Returns the path of the request, or a Refusal if the framework must not see it. */
function pathOrRefusal(request: IncomingMessage): string | Refusal {
  if (!HTTP_METHODS.has(request.method)) return new Refusal('not_found', null, UNKNOWN_METHOD);
  if (!hasValidHost(request))
    return invalid(
      'The Host header is missing, repeated or not valid. Send exactly one, such as "Host: sched.example:8080".',
    );
  const path = pathOfTarget(request.url ?? '');
  return (
    path ?? invalid('The target of the request is not valid. Send a path without #, such as /v1/schedules.')
  );
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

function isUnfinished(response: ServerResponse | null): response is ServerResponse {
  return response !== null && !response.closed;
}
