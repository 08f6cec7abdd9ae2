/** One request of the fuzzer: its bytes, and what must be true of the answer. */
import type { OperationId } from '#src/api/contract/operations.ts';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import type { Lane } from './model.ts';
import type { Prng } from './prng.ts';

export interface Expected {
  readonly status: number;
  readonly code: ErrorCode | null;
  /** Undefined: any. */
  readonly param?: string | null;
}

export interface Shot {
  /** For the statistics. */
  readonly kind: string;
  readonly method: string;
  /** What the request asks for; null when it is none of the operations, and so must not succeed in one. */
  readonly operation: OperationId | null;
  /** The object in the path, one of the lane's own. */
  readonly target: string | null;
  /** Written one after the other, each in a packet of its own. */
  readonly pieces: readonly Buffer[];
  /** The body as it was meant, for operations that have one. */
  readonly body: Buffer | null;
  /** The `Idempotency-Key` as the service reads it. */
  readonly key: string | null;
  /** `must` be answered; `may` also be cut off; `never`: the client hangs up without waiting. */
  readonly answer: 'must' | 'may' | 'never';
  readonly expected: Expected | null;
  /** Must not be in any answer or log line. */
  readonly secret: string;
}

export interface Aim {
  readonly prng: Prng;
  readonly index: number;
  readonly lane: Lane;
  readonly key: string;
}

export function refusedAs(code: ErrorCode, param?: string | null): Expected {
  return { status: ERRORS[code].status, code, ...(param !== undefined && { param }) };
}

export function answeredWith(status: number): Expected {
  return { status, code: null };
}

/** What every planted secret begins with. */
export const SECRET_MARK = 'fzsecret';

export function secretOf(aim: Aim): string {
  return `${SECRET_MARK}${aim.index}x${aim.prng.uint32().toString(36)}`;
}

export type Headers = readonly (readonly [name: string, value: string])[];

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer | null;
  readonly headers?: Headers;
  /** Null: none is sent. */
  readonly authorization?: string | null;
}

/** The bytes of a request with a correct frame. Header values are Latin-1: any byte can be sent. */
export function frame(aim: Aim, request: Request): Buffer {
  const { method, path, body, headers = [], authorization = `Bearer ${aim.key}` } = request;
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
export function shot(
  aim: Aim,
  request: Request,
  rest: Partial<Shot> & Pick<Shot, 'kind' | 'operation'>,
): Shot {
  return {
    method: request.method,
    target: null,
    pieces: [frame(aim, request)],
    body: request.body,
    key: null,
    answer: 'must',
    expected: null,
    secret: secretOf(aim),
    ...rest,
  };
}
