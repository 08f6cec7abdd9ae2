/** Tests the bytes of the request, and the result of each kind of answer. */
import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { METHODS } from '#src/domain/destination.ts';
import {
  ABORTED,
  ANSWERED,
  eventually,
  loopbackEgress,
  ScriptedTimers,
  send,
  sharedEgress,
  startHttpsServer,
  startServerAnswering,
  startTcpServer,
  startTlsServer,
} from '#test/egress/harness.ts';
import { BODY_BYTES_MAX, BODY_MS_MAX } from './exchange.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Starts a receiver that records the text of every request. */
async function startRecorder() {
  const seen: string[] = [];
  const server = await startTlsServer((socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString('latin1'));
      if (seen.join('').endsWith('END')) socket.write(OK);
    }),
  );
  return { server, text: () => seen.join('') };
}

describe('the request', () => {
  test.each(METHODS)('%s is sent unchanged, with its headers in order and its body', async (method) => {
    const { server, text } = await startRecorder();
    const headers = [
      ['X-Second', 'two'],
      ['x-first', 'caf\u00e9'],
      ['X-Second', 'again'],
    ] as const;
    const sent = await send(sharedEgress(), server.url('/a%20b/?q=1&r=%2F#hidden', 'receiver.test'), {
      method,
      headers,
      body: 'a body END',
    });
    expect(sent).toEqual(ANSWERED);
    expect(text()).toBe(
      [
        `${method} /a%20b/?q=1&r=%2F HTTP/1.1`,
        `host: receiver.test:${server.port}`,
        'connection: keep-alive',
        'X-Second: two',
        'x-first: caf\u00e9',
        'X-Second: again',
        'content-length: 10',
        '',
        'a body END',
      ].join('\r\n'),
    );
  });

  test('without a body sends a length of 0 where a body is usual', async () => {
    const lengths: (string | undefined)[] = [];
    const server = await startHttpsServer((response, request) => {
      lengths.push(request.headers['content-length']);
      response.end();
    });
    const egress = sharedEgress();
    expect(await send(egress, server.url(), { method: 'POST', body: null })).toEqual(ANSWERED);
    expect(await send(egress, server.url(), { method: 'PUT', body: '' })).toEqual(ANSWERED);
    expect(await send(egress, server.url(), { method: 'GET', body: null })).toEqual(ANSWERED);
    expect(lengths).toEqual(['0', '0', undefined]);
  });

  test('is sent without `Expect`, and does not wait for `100 Continue`', async () => {
    const { server, text } = await startRecorder();
    const headers = [
      ['Expect', '100-continue'],
      ['X-Other', 'END'],
    ] as const;
    expect(await send(sharedEgress(), server.url(), { headers, body: 'END' })).toEqual(ANSWERED);
    expect(text()).not.toMatch(/expect/i);
    expect(text()).toContain('X-Other: END');
  });

  test('of 256 KiB arrives complete', async () => {
    const body = 'x'.repeat(262_144);
    let bytes = 0;
    const server = await startHttpsServer((response, request) => {
      bytes = Number(request.headers['content-length']);
      response.end();
    });
    expect(await send(sharedEgress(), server.url(), { body })).toEqual(ANSWERED);
    expect(bytes).toBe(body.length);
  });
});

describe('the answer', () => {
  test.each([200, 201, 204, 299, 304, 400, 404, 410, 429, 500, 503, 599])(
    'is reported with its status: %i',
    async (statusCode) => {
      const server = await startHttpsServer((response) => response.writeHead(statusCode).end());
      expect(await send(sharedEgress(), server.url())).toEqual({ kind: 'answered', statusCode });
    },
  );

  test.each([301, 302, 303, 307, 308])(
    '%i is reported, and the redirect is not followed',
    async (statusCode) => {
      const elsewhere = await startHttpsServer((response) => response.end());
      const server = await startHttpsServer((response) => {
        response.writeHead(statusCode, { location: elsewhere.url().href }).end();
      });
      expect(await send(sharedEgress(), server.url())).toEqual({ kind: 'answered', statusCode });
      expect(elsewhere.accepted).toHaveLength(0);
    },
  );

  test('is the final one: informational answers are skipped', async () => {
    const server = await startHttpsServer((response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeContinue();
      response.writeHead(202).end();
    });
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual({ kind: 'answered', statusCode: 202 });
    expect(await send(egress, server.url())).toEqual({ kind: 'answered', statusCode: 202 });
    expect(server.accepted).toHaveLength(1);
  });

  test('may arrive byte by byte', async () => {
    const bytes = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`;
    const server = await startTlsServer((socket) => {
      const rest = bytes.split('');
      const writeNext = () => {
        const byte = rest.shift();
        if (byte !== undefined) socket.write(byte, () => setImmediate(writeNext));
      };
      socket.once('data', writeNext);
    });
    expect(await send(sharedEgress(), server.url())).toEqual(ANSWERED);
  });

  test('is not decompressed', async () => {
    const server = await startHttpsServer((response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(Buffer.alloc(BODY_BYTES_MAX * 20)));
    });
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(server.accepted).toHaveLength(1);
  });

  test.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'malformed_response'],
    ['a short line', 'no\r\n', 'malformed_response'],
    ['a bad version', 'HTTP/9.9 200 OK\r\n\r\n', 'malformed_response'],
    ['a bad status', 'HTTP/1.1 2xx OK\r\n\r\n', 'malformed_response'],
    ['a bad length', 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n', 'malformed_response'],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      'malformed_response',
    ],
    ['a tab behind the length', 'HTTP/1.1 200 OK\r\nContent-Length: 0\t\r\n\r\n', 'malformed_response'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n', 'malformed_response'],
    ['a bad header', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n', 'malformed_response'],
    [
      'an upgrade',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'malformed_response',
    ],
    ['empty', '', 'connection_closed'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-', 'connection_closed'],
    ['no final answer', 'HTTP/1.1 100 Continue\r\n\r\n', 'connection_closed'],
    ['half an informational answer', 'HTTP/1.1 100 Conti', 'connection_closed'],
    ['a header without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`, 'response_headers_too_large'],
    ['too many headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}\r\n`, 'response_headers_too_large'],
    [
      'an endless informational answer',
      `HTTP/1.1 100 Continue\r\n${'X: y\r\n'.repeat(9_000)}`,
      'response_headers_too_large',
    ],
  ])('is a failure if it is %s', async (_name, bytes, failure) => {
    const server = await startServerAnswering(bytes);
    expect(await send(sharedEgress(), server.url())).toEqual({ kind: 'failed', failure });
    await eventually(() => expect(server.open()).toBe(0));
  });

  test('is a failure if the connection is refused or reset', async () => {
    const egress = sharedEgress();
    const { port } = await startTcpServer(() => {});
    const refused = await send(egress, `https://127.0.0.2:${port}/`);
    expect(refused).toEqual({ kind: 'failed', failure: 'connection_refused' });
    const server = await startTlsServer((socket) => socket.once('data', () => socket.destroy()));
    expect(await send(egress, server.url())).toMatchObject({ kind: 'failed' });
    const resetting = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(egress, resetting.url())).toEqual({ kind: 'failed', failure: 'connection_reset' });
  });
});

describe('the body of the answer', () => {
  test('without end is read for 64 KiB, and then the connection is closed', async () => {
    let written = 0;
    const server = await startHttpsServer((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
      };
      response.on('drain', more);
      more();
    });
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    await eventually(() => expect(server.open()).toBe(0));
    // The buffers of the two kernels take some more bytes that the client never reads.
    expect(written).toBeLessThan(64 * BODY_BYTES_MAX);
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(server.accepted).toHaveLength(2);
  });

  test.each([
    ['64 KiB keeps the connection open', BODY_BYTES_MAX, 1],
    ['one byte more closes the connection', BODY_BYTES_MAX + 1, 2],
  ])('of %s', async (_name, bytes, connections) => {
    const server = await startHttpsServer((response) => response.end(Buffer.alloc(bytes)));
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    await eventually(() => expect(server.open()).toBe(2 - connections));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(server.accepted).toHaveLength(connections);
  });

  test('that is slow does not delay the result, and the connection is closed after a while', async () => {
    const timers = new ScriptedTimers({ areZeroDelaysReal: true });
    const server = await startHttpsServer((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('slow');
    });
    const aborter = new AbortController();
    const sent = await send(loopbackEgress({ timers }), server.url(), { signal: aborter.signal });
    expect(sent).toEqual(ANSWERED);
    aborter.abort();
    expect(server.open()).toBe(1);
    timers.fire(BODY_MS_MAX);
    await eventually(() => expect(server.open()).toBe(0));
    expect(timers.pending()).not.toContain(BODY_MS_MAX);
  });

  test('that never ends, on many connections, closes the oldest of them', async () => {
    const timers = new ScriptedTimers({ areZeroDelaysReal: true });
    const server = await startHttpsServer((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('slow');
    });
    const egress = loopbackEgress({ timers });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 15 }, () => send(egress, server.url())));
    }
    await eventually(() => expect(server.open()).toBe(256));
    expect(server.accepted).toHaveLength(300);
  });
});

describe('connections', () => {
  test('are reused, and aborting a finished request does not close them', async () => {
    const timers = new ScriptedTimers({ areZeroDelaysReal: true });
    const server = await startHttpsServer((response) => response.end('ok'));
    const egress = loopbackEgress({ timers });
    for (let n = 0; n < 5; n += 1) {
      const aborter = new AbortController();
      expect(await send(egress, server.url(), { signal: aborter.signal })).toEqual(ANSWERED);
      await eventually(() => expect(timers.pending()).not.toContain(BODY_MS_MAX));
      aborter.abort();
    }
    expect(server.accepted).toHaveLength(1);
    await Promise.all([1, 2, 3].map(() => send(egress, server.url())));
    expect(server.accepted.length).toBeLessThanOrEqual(3);
  });

  test('are not reused for another origin', async () => {
    const server = await startHttpsServer((response) => response.end('ok'));
    const egress = sharedEgress();
    await send(egress, server.url('/', 'receiver.test'));
    await send(egress, server.url('/', 'one.receiver.test'));
    expect(server.accepted).toHaveLength(2);
  });

  test.each([
    ['asks for it', { connection: 'close' }],
    ['closes soon', { connection: 'keep-alive', 'keep-alive': 'timeout=1' }],
  ])('are closed if the server %s', async (_name, headers) => {
    const server = await startHttpsServer((response) => response.writeHead(200, headers).end('ok'));
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(server.accepted).toHaveLength(2);
  });

  test('that the server closed while they were idle are opened again', async () => {
    const server = await startHttpsServer((response) => response.end('ok'));
    const egress = sharedEgress();
    for (let n = 1; n <= 5; n += 1) {
      expect(await send(egress, server.url())).toEqual(ANSWERED);
      expect(server.accepted).toHaveLength(n);
      server.accepted.at(-1)?.end();
      await eventually(() => expect(server.open()).toBe(0));
    }
  });

  test('with unexpected bytes are not reused', async () => {
    const server = await startTlsServer((socket) => socket.on('data', () => socket.write(`${OK}${OK}`)));
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    await eventually(() => expect(server.open()).toBe(0));
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(server.accepted).toHaveLength(2);
  });

  test('to a destination that hangs do not delay another destination', async () => {
    const hung = await startTlsServer(() => {});
    const server = await startHttpsServer((response) => response.end('ok'));
    const egress = sharedEgress();
    const aborter = new AbortController();
    const waiting = Array.from({ length: 50 }, () => send(egress, hung.url(), { signal: aborter.signal }));
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    aborter.abort();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ABORTED));
  });
});

describe('closing the client', () => {
  test('ends requests in flight and idle connections', async () => {
    const server = await startHttpsServer((response, request) => {
      if (request.url === '/ok') response.end('ok');
    });
    const egress = loopbackEgress();
    await send(egress, server.url('/ok'));
    const waiting = send(egress, server.url('/hung'));
    await eventually(() => expect(server.accepted).toHaveLength(1));
    await egress.close();
    expect(await waiting).toMatchObject({ kind: 'failed' });
    await eventually(() => expect(server.open()).toBe(0));
    expect(await send(egress, server.url('/ok'))).toEqual(ABORTED);
    await egress.close();
  });

  test('ends lookups and connections that are being opened', async () => {
    const sockets: Socket[] = [];
    const egress = loopbackEgress({
      resolve: () => new Promise(() => {}),
      connect: () => {
        const socket = new Socket();
        sockets.push(socket);
        return socket;
      },
    });
    const sent = [send(egress, 'https://hung.test/'), send(egress, 'https://127.0.0.1/')];
    await eventually(() => expect(sockets).toHaveLength(1));
    await egress.close();
    expect(await Promise.all(sent)).toEqual([ABORTED, ABORTED]);
    expect(sockets[0]?.destroyed).toBe(true);
  });
});
