/** One request of the fuzzer: its bytes, and the rules for its answer. */
import type { OperationId } from '#src/api/contract/operations.ts';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import type { FuzzClient } from './model.ts';
import type { Prng } from './prng.ts';

export interface Expected {
  readonly status: number;
  readonly code: ErrorCode | null;
  /** Undefined allows any value. */
  readonly param?: string | null;
}

export interface FuzzRequest {
  /** The kind of request, for the statistics. */
  readonly kind: string;
  readonly method: string;
  /** The operation that it calls. Null means none, so it must not succeed as one. */
  readonly operation: OperationId | null;
  /** The object in the path, one of the client's own. */
  readonly target: string | null;
  /** The pieces are written one after the other, each in its own packet. */
  readonly pieces: readonly Buffer[];
  /** The intended body, for operations that have one. */
  readonly body: Buffer | null;
  /** The `Idempotency-Key` as the service reads it. */
  readonly key: string | null;
  /**
   * `must` means that it is answered. With `may` the service can also close the connection. With `never` the
   * client closes it without waiting.
   */
  readonly answer: 'must' | 'may' | 'never';
  readonly expected: Expected | null;
  /** A text that must not appear in any answer or log line. */
  readonly secret: string;
}

export interface RequestContext {
  readonly prng: Prng;
  readonly index: number;
  readonly client: FuzzClient;
  readonly key: string;
}

export function refusedAs(code: ErrorCode, param?: string | null): Expected {
  return { status: ERRORS[code].status, code, ...(param !== undefined && { param }) };
}

export function answeredWith(status: number): Expected {
  return { status, code: null };
}

/** The prefix of every planted secret. */
export const SECRET_PREFIX = 'fzsecret';

export function secretOf(context: RequestContext): string {
  return `${SECRET_PREFIX}${context.index}x${context.prng.uint32().toString(36)}`;
}

export type Headers = readonly (readonly [name: string, value: string])[];

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer | null;
  readonly headers?: Headers;
  /** Null sends no header. */
  readonly authorization?: string | null;
}

/** The bytes of a request with correct framing. Header values are Latin-1, so any byte can be sent. */
export function frame(context: RequestContext, request: HttpRequest): Buffer {
  const { method, path, body, headers = [], authorization = `Bearer ${context.key}` } = request;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(authorization === null ? [] : [`Authorization: ${authorization}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === null ? [] : [`Content-Length: ${body.length}`]),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === null ? head : Buffer.concat([head, body]);
}

/** A well-framed request. */
export function buildRequest(
  context: RequestContext,
  request: HttpRequest,
  rest: Partial<FuzzRequest> & Pick<FuzzRequest, 'kind' | 'operation'>,
): FuzzRequest {
  return {
    method: request.method,
    target: null,
    pieces: [frame(context, request)],
    body: request.body,
    key: null,
    answer: 'must',
    expected: null,
    secret: secretOf(context),
    ...rest,
  };
}
