/** Unusual framing, and bytes that are not HTTP at all. */
import { scheduleCreate } from './fields.ts';
import { object, text } from './json-text.ts';
import type { Prng } from './prng.ts';
import { type Aim, answeredWith, frame, refusedAs, type Shot, secretOf, shot } from './shot.ts';

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
export function chunked(aim: Aim): Shot {
  const { prng } = aim;
  const secret = secretOf(aim);
  const body = Buffer.from(object(scheduleCreate(prng, secret, null)));
  const request = {
    method: 'POST',
    path: '/v1/schedules',
    headers: [['Transfer-Encoding', 'chunked']] as const,
    body: null,
  };
  const bytes = Buffer.concat([frame(aim, request), Buffer.from(chunks(prng, body), 'latin1')]);
  const cut = prng.between(1, bytes.length - 1);
  return shot(aim, request, {
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
export function oversized(aim: Aim): Shot {
  const { prng } = aim;
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
  const head = frame(aim, { ...request, body: null });
  const coded = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  return shot(aim, request, {
    kind: 'oversized',
    operation: 'createSchedule',
    pieces: isChunked ? [head, coded] : [frame(aim, request)],
    answer: 'may',
    expected: refusedAs('payload_too_large'),
  });
}

/** A client that closes the connection before the answer, or in the middle of its request. */
export function hangUp(aim: Aim): Shot {
  const { prng } = aim;
  const secret = secretOf(aim);
  const isWhole = prng.chance(0.5);
  const members = [
    ...scheduleCreate(prng, secret, null).filter(([name]) => name !== 'idempotency_key'),
    ['idempotency_key', text(isWhole ? `abandoned-${aim.index}` : `truncated-${aim.index}`)] as const,
  ];
  const request = { method: 'POST', path: '/v1/schedules', body: Buffer.from(object(members)) };
  const bytes = frame(aim, request);
  return shot(aim, request, {
    kind: isWhole ? 'abandoned' : 'truncated',
    operation: null,
    secret,
    pieces: [isWhole ? bytes : bytes.subarray(0, prng.between(1, bytes.length - 1))],
    answer: 'never',
  });
}

type Malformed = (aim: Aim) => readonly [bytes: string | Buffer, answer: 'must' | 'may'];

const auth = (aim: Aim) => `Authorization: Bearer ${aim.key}\r\n`;
const post = (aim: Aim, headers: string, rest: string) =>
  `POST /v1/schedules HTTP/1.1\r\nHost: x\r\n${auth(aim)}${headers}\r\n${rest}`;

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
  (aim) => [`${aim.prng.bytes(aim.prng.between(1, 300)).toString('latin1')}\r\n\r\n\r\n`, 'must'],
  () => [Buffer.from('16030100c8010000c40303000000', 'hex'), 'must'],
  () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'must'],
  () => ['GET /v1/schedules\r\n\r\n', 'must'],
  () => ['GET /v1/schedules HTTP/9.9\r\nHost: x\r\n\r\n', 'must'],
  () => ['get /v1/schedules HTTP/1.1\r\nHost: x\r\n\r\n', 'must'],
  () => ['GET  /v1/schedules HTTP/1.1\r\nHost: x\r\n\r\n', 'must'],
  (aim) => [`GET /v1/schedules HTTP/1.1\r\n${auth(aim)}\r\n`, 'must'],
  (aim) => [`GET /v1/schedules?limit=1 HTTP/1.1\r\nHost: x\r\nHost: y\r\n${auth(aim)}\r\n`, 'must'],
  (aim) => [`GET /v1/schedules?limit=1 HTTP/1.0\r\n${auth(aim)}\r\n`, 'must'],
  (aim) => [post(aim, 'Content-Length: -5\r\n', ''), 'must'],
  (aim) => [post(aim, 'Content-Length: 5, 5\r\n', 'abcde'), 'must'],
  (aim) => [post(aim, 'Content-Length: 2\r\nContent-Length: 3\r\n', '{} '), 'must'],
  (aim) => [post(aim, 'Content-Length: 99999999999999999999\r\n', '{}'), 'must'],
  (aim) => [post(aim, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 'must'],
  (aim) => [post(aim, 'Transfer-Encoding: gzip\r\n', '0\r\n\r\n'), 'must'],
  (aim) => [post(aim, 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'), 'must'],
  (aim) => [post(aim, 'Transfer-Encoding: chunked\r\n', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'), 'must'],
  (aim) => [post(aim, 'Transfer-Encoding: chunked\r\n', `2;${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`), 'may'],
  (aim) => [post(aim, 'Expect: 100-continue\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, 'Expect: the-moon\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, 'Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, 'Connection: close\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, 'X: a\u0000b\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, 'X\u0001: a\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, ' folded\r\nContent-Length: 2\r\n', '{}'), 'must'],
  (aim) => [post(aim, `X: ${'v'.repeat(20_000)}\r\n`, ''), 'must'],
  (aim) => [post(aim, 'a: b\r\n'.repeat(3_000), ''), 'must'],
  (aim) => [`GET /v1/schedules?${'q'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n${auth(aim)}\r\n`, 'must'],
  (aim) => [`GET /v1/schedules HTTP/1.1\r\nHost: a b\r\n${auth(aim)}\r\n`, 'must'],
  () => ['CONNECT fuzz.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n', 'must'],
  () => ['CONNECT fuzz.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n\u0016\u0003\u0001', 'must'],
  ({ prng }) => [`${prng.pick(RTSP_METHODS)} rtsp://x/v1/schedules RTSP/1.0\r\nCSeq: 1\r\n\r\n`, 'must'],
  ({ prng }) => [`${prng.pick(RTSP_METHODS)} /v1/schedules HTTP/1.1\r\nHost: x\r\n\r\n`, 'must'],
  (aim) => [`GET ${aim.prng.pick(STRANGE_TARGETS)} HTTP/1.1\r\nHost: x\r\n${auth(aim)}\r\n`, 'must'],
];

export function malformed(aim: Aim): Shot {
  const [bytes, answer] = aim.prng.pick(MALFORMED)(aim);
  const pieces = [typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes];
  return shot(
    aim,
    { method: 'GET', path: '/', body: null },
    { kind: 'malformed', operation: null, pieces, answer },
  );
}
