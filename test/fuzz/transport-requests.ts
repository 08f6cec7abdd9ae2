/** Unusual framing, and bytes that are not HTTP at all. */
import { scheduleCreate } from './fields.ts';
import {
  answeredWith,
  buildRequest,
  type FuzzRequest,
  frame,
  type RequestContext,
  refusedAs,
  secretOf,
} from './fuzz-request.ts';
import { object, text } from './json-text.ts';
import type { Prng } from './prng.ts';

const BODY_BYTES_MAX = 1_048_576;

function chunks(prng: Prng, body: Buffer): string {
  let coded = '';
  for (let at = 0; at < body.length; ) {
    const size = prng.between(1, Math.max(1, Math.min(body.length - at, prng.pick([1, 7, 100, 5_000]))));
    const extension = prng.chance(0.1) ? ';a=b' : '';
    coded += `${size.toString(16)}${extension}\r\n${body.subarray(at, at + size).toString('latin1')}\r\n`;
    at += size;
  }
  return `${coded}0\r\n${prng.chance(0.1) ? 'X-Trailer: a\r\n' : ''}\r\n`;
}

/** A valid request whose body comes in chunks, byte by byte, or with pauses between its packets. */
export function chunked(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const secret = secretOf(context);
  const body = Buffer.from(object(scheduleCreate(prng, secret, null)));
  const request = {
    method: 'POST',
    path: '/v1/schedules',
    headers: [['Transfer-Encoding', 'chunked']] as const,
    body: null,
  };
  const bytes = Buffer.concat([frame(context, request), Buffer.from(chunks(prng, body), 'latin1')]);
  const cut = prng.between(1, bytes.length - 1);
  return buildRequest(context, request, {
    kind: 'chunked',
    operation: 'createSchedule',
    body,
    secret,
    pieces: prng.chance(0.5) ? [bytes] : [bytes.subarray(0, cut), bytes.subarray(cut)],
    expected: answeredWith(201),
  });
}

/**
 * A body that is too large is sent completely. The answer may be lost when the service closes the connection
 * first.
 */
export function oversized(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const [before, after] = ['{"endpoint":"https://fuzz.invalid/","delay":"24h","metadata":{"a":"', '"}}'];
  const excess = prng.pick([1, 1, 1_000, 300_000]);
  const filling = 'x'.repeat(BODY_BYTES_MAX + excess - before.length - after.length);
  const body = Buffer.from(`${before}${filling}${after}`);
  const isChunked = prng.chance(0.3);
  const request = {
    method: 'POST',
    path: '/v1/schedules',
    headers: isChunked ? ([['Transfer-Encoding', 'chunked']] as const) : [],
    body: isChunked ? null : body,
  };
  const head = frame(context, { ...request, body: null });
  const coded = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  return buildRequest(context, request, {
    kind: 'oversized',
    operation: 'createSchedule',
    pieces: isChunked ? [head, coded] : [frame(context, request)],
    answer: 'may',
    expected: refusedAs('payload_too_large'),
  });
}

/** A client that closes the connection before the answer, or in the middle of its request. */
export function hangUp(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const secret = secretOf(context);
  const isWhole = prng.chance(0.5);
  const members = [
    ...scheduleCreate(prng, secret, null).filter(([name]) => name !== 'idempotency_key'),
    ['idempotency_key', text(isWhole ? `abandoned-${context.index}` : `truncated-${context.index}`)] as const,
  ];
  const request = { method: 'POST', path: '/v1/schedules', body: Buffer.from(object(members)) };
  const bytes = frame(context, request);
  return buildRequest(context, request, {
    kind: isWhole ? 'abandoned' : 'truncated',
    operation: null,
    secret,
    pieces: [isWhole ? bytes : bytes.subarray(0, prng.between(1, bytes.length - 1))],
    answer: 'never',
  });
}

type Malformed = (context: RequestContext) => readonly [bytes: string | Buffer, answer: 'must' | 'may'];

const auth = (context: RequestContext) => `Authorization: Bearer ${context.key}\r\n`;
const post = (context: RequestContext, headers: string, rest: string) =>
  `POST /v1/schedules HTTP/1.1\r\nHost: x\r\n${auth(context)}${headers}\r\n${rest}`;

const RTSP_METHODS = ['DESCRIBE', 'ANNOUNCE', 'SETUP', 'PLAY', 'PAUSE', 'TEARDOWN', 'RECORD'];
const STRANGE_TARGETS = [
  '*',
  'x:443',
  'http:///v1/schedules',
  'http://x:99999/v1/schedules',
  'http://[',
  'http://[::1]:8080/v1/schedules?limit=1',
  'HTTPS://user@X/v1/schedules/%zz',
  'http://x/v1/schedules#a',
  'ftp://x/v1/schedules',
  'http:v1/schedules',
  '//v1/schedules',
  '/v1/sch\u0000edules',
  '/v1/schedules/%00%zz',
];

const MALFORMED: readonly Malformed[] = [
  (context) => [`${context.prng.bytes(context.prng.between(1, 300)).toString('latin1')}\r\n\r\n\r\n`, 'must'],
  () => [Buffer.from('16030100c8010000c40303000000', 'hex'), 'must'],
  () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'must'],
  () => ['GET /v1/schedules\r\n\r\n', 'must'],
  () => ['GET /v1/schedules HTTP/9.9\r\nHost: x\r\n\r\n', 'must'],
  () => ['get /v1/schedules HTTP/1.1\r\nHost: x\r\n\r\n', 'must'],
  () => ['GET  /v1/schedules HTTP/1.1\r\nHost: x\r\n\r\n', 'must'],
  (context) => [`GET /v1/schedules HTTP/1.1\r\n${auth(context)}\r\n`, 'must'],
  (context) => [`GET /v1/schedules?limit=1 HTTP/1.1\r\nHost: x\r\nHost: y\r\n${auth(context)}\r\n`, 'must'],
  (context) => [`GET /v1/schedules?limit=1 HTTP/1.0\r\n${auth(context)}\r\n`, 'must'],
  (context) => [post(context, 'Content-Length: -5\r\n', ''), 'must'],
  (context) => [post(context, 'Content-Length: 5, 5\r\n', 'abcde'), 'must'],
  (context) => [post(context, 'Content-Length: 2\r\nContent-Length: 3\r\n', '{} '), 'must'],
  (context) => [post(context, 'Content-Length: 99999999999999999999\r\n', '{}'), 'must'],
  (context) => [post(context, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 'must'],
  (context) => [post(context, 'Transfer-Encoding: gzip\r\n', '0\r\n\r\n'), 'must'],
  (context) => [post(context, 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'), 'must'],
  (context) => [
    post(context, 'Transfer-Encoding: chunked\r\n', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
    'must',
  ],
  (context) => [
    post(context, 'Transfer-Encoding: chunked\r\n', `2;${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
    'may',
  ],
  (context) => [post(context, 'Expect: 100-continue\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (context) => [post(context, 'Expect: the-moon\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (context) => [
    post(context, 'Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 2\r\n', '{}'),
    'must',
  ],
  (context) => [post(context, 'Connection: close\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (context) => [post(context, 'X: a\u0000b\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (context) => [post(context, 'X\u0001: a\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (context) => [post(context, ' folded\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (context) => [post(context, `X: ${'v'.repeat(20_000)}\r\n`, ''), 'must'],
  (context) => [post(context, 'a: b\r\n'.repeat(3_000), ''), 'must'],
  (context) => [
    `GET /v1/schedules?${'q'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n${auth(context)}\r\n`,
    'must',
  ],
  (context) => [`GET /v1/schedules HTTP/1.1\r\nHost: a b\r\n${auth(context)}\r\n`, 'must'],
  () => ['CONNECT fuzz.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n', 'must'],
  () => ['CONNECT fuzz.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n\u0016\u0003\u0001', 'must'],
  ({ prng }) => [`${prng.pick(RTSP_METHODS)} rtsp://x/v1/schedules RTSP/1.0\r\nCSeq: 1\r\n\r\n`, 'must'],
  ({ prng }) => [`${prng.pick(RTSP_METHODS)} /v1/schedules HTTP/1.1\r\nHost: x\r\n\r\n`, 'must'],
  (context) => [
    `GET ${context.prng.pick(STRANGE_TARGETS)} HTTP/1.1\r\nHost: x\r\n${auth(context)}\r\n`,
    'must',
  ],
];

export function malformed(context: RequestContext): FuzzRequest {
  const [bytes, answer] = context.prng.pick(MALFORMED)(context);
  const pieces = [typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes];
  return buildRequest(
    context,
    { method: 'GET', path: '/', body: null },
    { kind: 'malformed', operation: null, pieces, answer },
  );
}
