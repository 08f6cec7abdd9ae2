/** What goes over the wire, and what is made of what comes back. */
import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { METHODS } from '#src/domain/destination.ts';
import {
  ANSWERED,
  answering,
  BROKEN_OFF,
  eventually,
  httpsRig,
  loopbackEgress,
  ScriptedTimers,
  send,
  sharedEgress,
  tcpRig,
  tlsRig,
} from '#test/egress/rig.ts';
import { BODY_BYTES_MAX, BODY_MS_MAX } from './exchange.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A receiver that keeps what it was sent, as text. */
async function recorder() {
  const seen: string[] = [];
  const rig = await tlsRig((socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString('latin1'));
      if (seen.join('').endsWith('END')) socket.write(OK);
    }),
  );
  return { rig, text: () => seen.join('') };
}

describe('the request', () => {
  test.each(METHODS)('%s goes out as it is, body and all', async (method) => {
    const { rig, text } = await recorder();
    const headers = [
      ['X-Second', 'two'],
      ['x-first', 'caf\u00e9'],
      ['X-Second', 'again'],
    ] as const;
    const sent = await send(sharedEgress(), rig.url('/a%20b/?q=1&r=%2F#hidden', 'receiver.test'), {
      method,
      headers,
      body: 'a body END',
    });
    expect(sent).toEqual(ANSWERED);
    expect(text()).toBe(
      [
        `${method} /a%20b/?q=1&r=%2F HTTP/1.1`,
        `host: receiver.test:${rig.port}`,
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

  test('without a body says so where a body is usual', async () => {
    const lengths: (string | undefined)[] = [];
    const rig = await httpsRig((response, request) => {
      lengths.push(request.headers['content-length']);
      response.end();
    });
    const egress = sharedEgress();
    expect(await send(egress, rig.url(), { method: 'POST', body: null })).toEqual(ANSWERED);
    expect(await send(egress, rig.url(), { method: 'PUT', body: '' })).toEqual(ANSWERED);
    expect(await send(egress, rig.url(), { method: 'GET', body: null })).toEqual(ANSWERED);
    expect(lengths).toEqual(['0', '0', undefined]);
  });

  test('does not wait for a go-ahead, nor asks for one', async () => {
    const { rig, text } = await recorder();
    const headers = [
      ['Expect', '100-continue'],
      ['X-Other', 'END'],
    ] as const;
    expect(await send(sharedEgress(), rig.url(), { headers, body: 'END' })).toEqual(ANSWERED);
    expect(text()).not.toMatch(/expect/i);
    expect(text()).toContain('X-Other: END');
  });

  test('of 256 KiB arrives whole', async () => {
    const body = 'x'.repeat(262_144);
    let bytes = 0;
    const rig = await httpsRig((response, request) => {
      bytes = Number(request.headers['content-length']);
      response.end();
    });
    expect(await send(sharedEgress(), rig.url(), { body })).toEqual(ANSWERED);
    expect(bytes).toBe(body.length);
  });
});

describe('the answer', () => {
  test.each([200, 201, 204, 299, 304, 400, 404, 410, 429, 500, 503, 599])(
    'is its status: %i',
    async (statusCode) => {
      const rig = await httpsRig((response) => response.writeHead(statusCode).end());
      expect(await send(sharedEgress(), rig.url())).toEqual({ kind: 'answered', statusCode });
    },
  );

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (statusCode) => {
    const elsewhere = await httpsRig((response) => response.end());
    const rig = await httpsRig((response) => {
      response.writeHead(statusCode, { location: elsewhere.url().href }).end();
    });
    expect(await send(sharedEgress(), rig.url())).toEqual({ kind: 'answered', statusCode });
    expect(elsewhere.accepted).toHaveLength(0);
  });

  test('informational ones are passed over', async () => {
    const rig = await httpsRig((response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeContinue();
      response.writeHead(202).end();
    });
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual({ kind: 'answered', statusCode: 202 });
    expect(await send(egress, rig.url())).toEqual({ kind: 'answered', statusCode: 202 });
    expect(rig.accepted).toHaveLength(1);
  });

  test('comes byte by byte', async () => {
    const bytes = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`;
    const rig = await tlsRig((socket) => {
      const rest = bytes.split('');
      const writeNext = () => {
        const byte = rest.shift();
        if (byte !== undefined) socket.write(byte, () => setImmediate(writeNext));
      };
      socket.once('data', writeNext);
    });
    expect(await send(sharedEgress(), rig.url())).toEqual(ANSWERED);
  });

  test('is not decompressed', async () => {
    const rig = await httpsRig((response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(Buffer.alloc(BODY_BYTES_MAX * 20)));
    });
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(rig.accepted).toHaveLength(1);
  });

  test.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'malformed answer'],
    ['a short line', 'no\r\n', 'malformed answer'],
    ['a bad version', 'HTTP/9.9 200 OK\r\n\r\n', 'malformed answer'],
    ['a bad status', 'HTTP/1.1 2xx OK\r\n\r\n', 'malformed answer'],
    ['a bad length', 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n', 'malformed answer'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'malformed answer'],
    ['a tab behind the length', 'HTTP/1.1 200 OK\r\nContent-Length: 0\t\r\n\r\n', 'malformed answer'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n', 'malformed answer'],
    ['a bad header', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n', 'malformed answer'],
    ['an upgrade', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'malformed answer'],
    ['nothing', '', 'connection closed before an answer'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-', 'connection closed before an answer'],
    ['no final answer', 'HTTP/1.1 100 Continue\r\n\r\n', 'connection closed before an answer'],
    ['half a go-ahead', 'HTTP/1.1 100 Conti', 'connection closed before an answer'],
    [
      'headers without end',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`,
      'headers of the answer are too large',
    ],
    [
      'too many headers',
      `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}\r\n`,
      'headers of the answer are too large',
    ],
    [
      'an endless go-ahead',
      `HTTP/1.1 100 Continue\r\n${'X: y\r\n'.repeat(9_000)}`,
      'headers of the answer are too large',
    ],
  ])('that is %s is none', async (_name, bytes, why) => {
    const rig = await answering(bytes);
    expect(await send(sharedEgress(), rig.url())).toEqual({ kind: 'failed', why });
    await eventually(() => expect(rig.open()).toBe(0));
  });

  test('does not come: refused, reset', async () => {
    const egress = sharedEgress();
    const { port } = await tcpRig(() => {});
    const refused = await send(egress, `https://127.0.0.2:${port}/`);
    expect(refused).toEqual({ kind: 'failed', why: 'connection refused' });
    const rig = await tlsRig((socket) => socket.once('data', () => socket.destroy()));
    expect(await send(egress, rig.url())).toMatchObject({ kind: 'failed' });
    const resetting = await tcpRig((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(egress, resetting.url())).toEqual({ kind: 'failed', why: 'connection reset' });
  });
});

describe('the body of the answer', () => {
  test('without end costs 64 KiB and the connection', async () => {
    let written = 0;
    const rig = await httpsRig((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
      };
      response.on('drain', more);
      more();
    });
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    await eventually(() => expect(rig.open()).toBe(0));
    // What the buffers of the two kernels take is not read by anybody.
    expect(written).toBeLessThan(64 * BODY_BYTES_MAX);
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(rig.accepted).toHaveLength(2);
  });

  test.each([
    ['64 KiB leaves the connection in use', BODY_BYTES_MAX, 1],
    ['a byte more costs the connection', BODY_BYTES_MAX + 1, 2],
  ])('of %s', async (_name, bytes, connections) => {
    const rig = await httpsRig((response) => response.end(Buffer.alloc(bytes)));
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    await eventually(() => expect(rig.open()).toBe(2 - connections));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(rig.accepted).toHaveLength(connections);
  });

  test('that is slow keeps nobody waiting, and is given up', async () => {
    const timers = new ScriptedTimers({ pausesAreReal: true });
    const rig = await httpsRig((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('slow');
    });
    const aborter = new AbortController();
    const sent = await send(loopbackEgress({ timers }), rig.url(), { signal: aborter.signal });
    expect(sent).toEqual(ANSWERED);
    aborter.abort();
    expect(rig.open()).toBe(1);
    timers.pass(BODY_MS_MAX);
    await eventually(() => expect(rig.open()).toBe(0));
    expect(timers.waiting()).not.toContain(BODY_MS_MAX);
  });

  test('that never ends, often: the oldest are given up', async () => {
    const timers = new ScriptedTimers({ pausesAreReal: true });
    const rig = await httpsRig((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('slow');
    });
    const egress = loopbackEgress({ timers });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 15 }, () => send(egress, rig.url())));
    }
    await eventually(() => expect(rig.open()).toBe(256));
    expect(rig.accepted).toHaveLength(300);
  });
});

describe('connections', () => {
  test('are used again, and the last request has no say in them', async () => {
    const timers = new ScriptedTimers({ pausesAreReal: true });
    const rig = await httpsRig((response) => response.end('ok'));
    const egress = loopbackEgress({ timers });
    for (let n = 0; n < 5; n += 1) {
      const aborter = new AbortController();
      expect(await send(egress, rig.url(), { signal: aborter.signal })).toEqual(ANSWERED);
      await eventually(() => expect(timers.waiting()).not.toContain(BODY_MS_MAX));
      aborter.abort();
    }
    expect(rig.accepted).toHaveLength(1);
    await Promise.all([1, 2, 3].map(() => send(egress, rig.url())));
    expect(rig.accepted.length).toBeLessThanOrEqual(3);
  });

  test('of another origin are not', async () => {
    const rig = await httpsRig((response) => response.end('ok'));
    const egress = sharedEgress();
    await send(egress, rig.url('/', 'receiver.test'));
    await send(egress, rig.url('/', 'one.receiver.test'));
    expect(rig.accepted).toHaveLength(2);
  });

  test.each([
    ['says close', { connection: 'close' }],
    ['is about to close', { connection: 'keep-alive', 'keep-alive': 'timeout=1' }],
  ])('end where the server %s', async (_name, headers) => {
    const rig = await httpsRig((response) => response.writeHead(200, headers).end('ok'));
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(rig.accepted).toHaveLength(2);
  });

  test('that the server closed while they waited are made anew', async () => {
    const rig = await httpsRig((response) => response.end('ok'));
    const egress = sharedEgress();
    for (let n = 1; n <= 5; n += 1) {
      expect(await send(egress, rig.url())).toEqual(ANSWERED);
      expect(rig.accepted).toHaveLength(n);
      rig.accepted.at(-1)?.end();
      await eventually(() => expect(rig.open()).toBe(0));
    }
  });

  test('with bytes that nobody asked for are not used again', async () => {
    const rig = await tlsRig((socket) => socket.on('data', () => socket.write(`${OK}${OK}`)));
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    await eventually(() => expect(rig.open()).toBe(0));
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    expect(rig.accepted).toHaveLength(2);
  });

  test('a hung destination does not delay another', async () => {
    const hung = await tlsRig(() => {});
    const rig = await httpsRig((response) => response.end('ok'));
    const egress = sharedEgress();
    const aborter = new AbortController();
    const waiting = Array.from({ length: 50 }, () => send(egress, hung.url(), { signal: aborter.signal }));
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    aborter.abort();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => BROKEN_OFF));
  });
});

describe('closing', () => {
  test('ends what is under way and what waits', async () => {
    const rig = await httpsRig((response, request) => {
      if (request.url === '/ok') response.end('ok');
    });
    const egress = loopbackEgress();
    await send(egress, rig.url('/ok'));
    const waiting = send(egress, rig.url('/hung'));
    await eventually(() => expect(rig.accepted).toHaveLength(1));
    await egress.close();
    expect(await waiting).toMatchObject({ kind: 'failed' });
    await eventually(() => expect(rig.open()).toBe(0));
    expect(await send(egress, rig.url('/ok'))).toEqual(BROKEN_OFF);
    await egress.close();
  });

  test('ends a name that is being resolved and a connection that is being made', async () => {
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
    expect(await Promise.all(sent)).toEqual([BROKEN_OFF, BROKEN_OFF]);
    expect(sockets[0]?.destroyed).toBe(true);
  });
});
