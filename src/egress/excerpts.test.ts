/** What is kept of an answer, from real receivers on an address that Sched takes for a public one. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Egress } from '#src/ports/egress.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';
import {
  eventually,
  loopbackEgress,
  ScriptedTimers,
  type SendOptions,
  send,
  startHttpsServer,
  startServerAnswering,
  startTlsServer,
  type TestServer,
} from '#test/egress/harness.ts';
import { PUBLIC_HOST, PUBLIC_NETWORK } from '#test/egress/public-network.ts';
import type { EgressOptions } from './client.ts';
import { BODY_BYTES_MAX, BODY_MS_MAX } from './exchange.ts';

const BYTES_MAX = 100;
const CONNECTIONS_OF_ONE_CUSTOMER = 256;
const ANSWERS = 1_000;

function publicEgress(options: Partial<EgressOptions> = {}): Egress {
  return loopbackEgress({ ...PUBLIC_NETWORK, allow: [], ...options });
}

/** Sends a request, and returns its answer when the excerpt is complete. */
async function answerOf(
  server: TestServer,
  egress: Egress = publicEgress(),
  { excerptBytesMax = BYTES_MAX, ...options }: SendOptions = {},
) {
  const sent = await send(egress, server.url('/', PUBLIC_HOST), { ...options, excerptBytesMax });
  if (sent.kind === 'failed') return sent;
  const { bytes, ...excerpt } = (await sent.excerpt) ?? {};
  if (bytes === undefined) return { statusCode: sent.statusCode };
  expect(bytes.buffer.byteLength).toBeLessThanOrEqual(excerptBytesMax);
  return { statusCode: sent.statusCode, text: Buffer.from(bytes).toString('latin1'), ...excerpt };
}

function whole(statusCode: number, text: string, contentType: string | null = null) {
  return { statusCode, text, contentType, isTruncated: false };
}

function cut(statusCode: number, text: string, contentType: string | null = null) {
  return { ...whole(statusCode, text, contentType), isTruncated: true };
}

const CHUNKED = 'HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('the beginning of an answer', () => {
  test('is kept with its type, and the connection serves the next request', async () => {
    const server = await startHttpsServer((response) =>
      response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' }).end('upstream timed out'),
    );
    const egress = publicEgress();
    for (let n = 0; n < 3; n++) {
      const expected = whole(503, 'upstream timed out', 'text/plain; charset=utf-8');
      expect(await answerOf(server, egress)).toEqual(expected);
    }
    expect(server.accepted).toHaveLength(1);
  });

  test.each([301, 304, 400, 404, 429, 500, 599])('is kept for %i', async (status) => {
    const body = status === 304 ? '' : 'because';
    const server = await startHttpsServer((response) => response.writeHead(status).end(body));
    expect(await answerOf(server)).toEqual(whole(status, body));
  });

  test.each([200, 201, 204, 299])('is not kept for %i', async (statusCode) => {
    const server = await startHttpsServer((response) => response.writeHead(statusCode).end('ok'));
    expect(await answerOf(server)).toEqual({ statusCode });
  });

  test('is not kept if no bytes are asked for', async () => {
    const server = await startHttpsServer((response) => response.writeHead(500).end('because'));
    expect(await answerOf(server, publicEgress(), { excerptBytesMax: 0 })).toEqual({ statusCode: 500 });
  });

  test.each([
    ['exactly as long as the bound is whole', BYTES_MAX, false],
    ['one byte longer is cut', BYTES_MAX + 1, true],
  ])('%s', async (_name, length, isTruncated) => {
    const server = await startHttpsServer((response) => response.writeHead(500).end('x'.repeat(length)));
    const egress = publicEgress();
    for (let n = 0; n < 2; n++) {
      const answer = await answerOf(server, egress);
      expect(answer).toEqual({ ...whole(500, 'x'.repeat(BYTES_MAX)), isTruncated });
    }
  });

  test('the rest of a longer answer is not taken for the next one', async () => {
    let count = 0;
    const server = await startHttpsServer((response) => {
      count += 1;
      response.writeHead(500).end(`${count}:${'x'.repeat(BYTES_MAX)}`);
    });
    const egress = publicEgress();
    for (let n = 1; n <= 3; n++) {
      expect(await answerOf(server, egress, { excerptBytesMax: 2 })).toEqual(cut(500, `${n}:`));
    }
    expect(server.accepted).toHaveLength(1);
  });

  test('does not delay the result, which comes with the head', async () => {
    let finish = () => {};
    const server = await startHttpsServer((response) => {
      response.writeHead(500).write('first ');
      finish = () => response.end('then');
    });
    const sent = await send(publicEgress(), server.url('/', PUBLIC_HOST), { excerptBytesMax: BYTES_MAX });
    if (sent.kind === 'failed') throw new Error(sent.failure);
    finish();
    const { bytes, ...rest } = (await sent.excerpt) ?? {};
    expect(rest).toEqual({ contentType: null, isTruncated: false });
    expect(String(bytes)).toBe('first then');
  });
});

describe('an address that only the operator permits', () => {
  test('is sent to, and nothing is kept of its answers', async () => {
    const server = await startHttpsServer((response) => response.writeHead(500).end('internal'));
    const sent = await send(loopbackEgress(), server.url(), { excerptBytesMax: BYTES_MAX });
    expect(sent).toStrictEqual({ kind: 'answered', statusCode: 500 });
  });

  test('of a name that also has a public address counts by the one that is connected to', async () => {
    const server = await startHttpsServer((response) => {
      response.writeHead(500, { connection: 'close' }).end('internal');
    });
    const answers = [['9.9.9.9'], ['127.0.0.1']];
    const egress = loopbackEgress({ ...PUBLIC_NETWORK, resolve: async () => answers.shift() ?? [] });
    expect(await answerOf(server, egress)).toEqual(whole(500, 'internal'));
    expect(await answerOf(server, egress)).toEqual({ statusCode: 500 });
  });

  test('is kept in `sched dev`, where the network is that of the developer', async () => {
    const server = await startHttpsServer((response) => response.writeHead(500).end('internal'));
    const egress = loopbackEgress({ keepsPrivateAnswers: true });
    expect(await answerOf(server, egress)).toEqual(whole(500, 'internal'));
  });
});

describe('the type of an answer', () => {
  test.each([
    ['bounded', { 'content-type': `text/${'x'.repeat(1_000)}` }, `text/${'x'.repeat(250)}`],
    ['left out if it is empty', { 'content-type': ' ' }, null],
    ['the first of several', { 'content-type': ['text/plain', 'text/html'] }, 'text/plain'],
  ] as const)('is %s', async (_name, headers, contentType) => {
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((one) => `${name}: ${one}`),
    );
    const server = await startServerAnswering(
      ['HTTP/1.1 500 No', ...lines, 'Content-Length: 2', '', 'no'].join('\r\n'),
    );
    expect(await answerOf(server)).toEqual(whole(500, 'no', contentType));
  });

  test('keeps only visible ASCII', async () => {
    const server = await startServerAnswering(
      'HTTP/1.1 500 No\r\nContent-Type: te\u00e9xt/\tplain\r\nContent-Length: 2\r\n\r\nno',
    );
    expect(await answerOf(server)).toEqual(whole(500, 'no', 'text/plain'));
  });
});

describe('an answer in an odd form', () => {
  const gzipped = gzipSync('x'.repeat(10_000_000));

  test.each([
    ['gzip', 'gzip', gzipped],
    ['gzip, cut short', 'gzip', gzipped.subarray(0, 50)],
    ['an encoding that does not exist', 'rubbish, gzip, , x', Buffer.from('plain')],
  ])('%s: is kept as it was sent, and nothing is decoded', async (_name, encoding, body) => {
    const server = await startHttpsServer((response) =>
      response.writeHead(500, { 'content-encoding': encoding }).end(body),
    );
    const text = body.subarray(0, BYTES_MAX).toString('latin1');
    expect(await answerOf(server)).toEqual(body.length > BYTES_MAX ? cut(500, text) : whole(500, text));
  });

  test.each([
    [
      'chunks with trailers',
      `${CHUNKED}3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n`,
      whole(500, 'abcde'),
    ],
    ['an HTTP/1.0 answer that ends with the connection', 'HTTP/1.0 500 No\r\n\r\nabc', whole(500, 'abc')],
    ['one that ends with the connection', 'HTTP/1.1 500 No\r\n\r\nabc', whole(500, 'abc')],
    ['shorter than it says', 'HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nabc', cut(500, 'abc')],
    ['without a last chunk', `${CHUNKED}3\r\nabc\r\n`, cut(500, 'abc')],
    ['a wrong length of a chunk', `${CHUNKED}3\r\nabc\r\nzz\r\n`, cut(500, 'abc')],
    ['a head and no body', 'HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n', cut(500, '')],
    [
      'an unknown transfer coding',
      'HTTP/1.1 500 No\r\nTransfer-Encoding: rubbish\r\n\r\nabc',
      whole(500, 'abc'),
    ],
  ])('%s', async (_name, bytes, expected) => {
    const server = await startServerAnswering(bytes);
    expect(await answerOf(server)).toEqual(expected);
    await eventually(() => expect(server.open()).toBe(0));
  });

  test('a reset after the head ends the excerpt with what was read', async () => {
    const server = await startTlsServer((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nabc', () =>
          server.accepted[0]?.resetAndDestroy(),
        ),
      ),
    );
    const answer = await answerOf(server);
    // The reset may overtake the bytes.
    expect([cut(500, 'abc'), { kind: 'failed', failure: 'connection_reset' }]).toContainEqual(answer);
  });
});

describe('an answer that does not end', () => {
  test('ends the excerpt after two seconds, and loses its connection', async () => {
    const timers = new ScriptedTimers({ areZeroDelaysReal: true });
    const server = await startHttpsServer((response) => response.writeHead(500).write('slow'));
    const answer = answerOf(server, publicEgress({ timers }));
    await eventually(() => expect(timers.pending()).toContain(BODY_MS_MAX));
    timers.fire(BODY_MS_MAX);
    expect(await answer).toEqual(cut(500, 'slow'));
    await eventually(() => expect(server.open()).toBe(0));
    expect(timers.pending()).not.toContain(BODY_MS_MAX);
  });

  test('may arrive byte by byte', async () => {
    const server = await startHttpsServer((response) => {
      response.writeHead(500);
      const drip = () => response.write('x', (error) => error ?? setImmediate(drip));
      drip();
    });
    expect(await answerOf(server)).toEqual(cut(500, 'x'.repeat(BYTES_MAX)));
  });

  test('of 200 MB is read no further than one that is not kept', async () => {
    let written = 0;
    const server = await startHttpsServer((response) => {
      response.writeHead(500, { 'content-length': String(200_000_000) });
      const chunk = Buffer.alloc(16_384, 'x');
      const write = () => {
        while (written < 200_000_000) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
      };
      write();
    });
    expect(await answerOf(server)).toEqual(cut(500, 'x'.repeat(BYTES_MAX)));
    await eventually(() => expect(server.open()).toBe(0));
    // The buffers of the two kernels take some more bytes that the client never reads.
    expect(written).toBeLessThan(64 * BODY_BYTES_MAX);
  });

  test('is ended by an abort, and its connection still serves if the body ends', async () => {
    let finish = () => {};
    const server = await startHttpsServer((response) => {
      response.writeHead(500).write('first ');
      finish = () => response.end('then');
    });
    const egress = publicEgress();
    const aborter = new AbortController();
    const sent = await send(egress, server.url('/', PUBLIC_HOST), {
      excerptBytesMax: BYTES_MAX,
      signal: aborter.signal,
    });
    if (sent.kind === 'failed') throw new Error(sent.failure);
    await nextTurn();
    aborter.abort();
    expect(await sent.excerpt).toMatchObject({ isTruncated: true });
    expect(server.open()).toBe(1);
    finish();
  });

  test('on a thousand connections at once takes those of one customer, and the oldest excerpts end first', async () => {
    const bodyTimers = new ScriptedTimers();
    const timers: Timers & Stopwatch = {
      elapsed: () => systemTimers.elapsed(),
      after: (ms, act) => (ms === BODY_MS_MAX ? bodyTimers : systemTimers).after(ms, act),
    };
    const server = await startHttpsServer((response) => response.writeHead(500).write('slow'));
    const egress = publicEgress({ timers });
    let ended = 0;
    const sent = Array.from({ length: ANSWERS }, async () => {
      const answer = await send(egress, server.url('/', PUBLIC_HOST), { excerptBytesMax: 16_384 });
      if (answer.kind === 'failed') throw new Error(answer.failure);
      void (async () => {
        await answer.excerpt;
        ended += 1;
      })();
    });
    await Promise.all(sent);
    await eventually(() => expect(server.open()).toBe(CONNECTIONS_OF_ONE_CUSTOMER));
    await eventually(() => expect(ended).toBe(ANSWERS - CONNECTIONS_OF_ONE_CUSTOMER));
    bodyTimers.fire(BODY_MS_MAX);
    await eventually(() => expect([ended, server.open()]).toEqual([ANSWERS, 0]));
  }, 60_000);
});
