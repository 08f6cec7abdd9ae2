/** A request can be aborted at any moment. It ends at once and leaves no connection open. */
import { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import {
  ABORTED,
  ANSWERED,
  eventually,
  loopbackEgress,
  send,
  sharedEgress,
  startHttpsServer,
  startTcpServer,
  startTlsServer,
} from '#test/egress/harness.ts';

describe('a request can be aborted', () => {
  test('as soon as it has started', async () => {
    const server = await startHttpsServer((response) => response.end());
    expect(await send(sharedEgress(), server.url(), { signal: AbortSignal.abort() })).toEqual(ABORTED);
    expect(server.accepted).toHaveLength(0);
  });

  test('while the name is resolved', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const resolve = (_name: string, signal?: AbortSignal) => {
      signals.push(signal);
      return new Promise<readonly string[]>(() => {});
    };
    const aborter = new AbortController();
    const sent = send(loopbackEgress({ resolve }), 'https://hung.test/', { signal: aborter.signal });
    await eventually(() => expect(signals).toHaveLength(1));
    aborter.abort();
    expect(await sent).toEqual(ABORTED);
    expect(signals[0]?.aborted).toBe(true);
  });

  test('and a name that resolves or fails afterwards opens no connection', async () => {
    for (const end of ['resolves', 'rejects'] as const) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const connect = vi.fn<() => Socket>(() => new Socket());
      const aborter = new AbortController();
      const egress = loopbackEgress({ resolve: () => promise, connect });
      const sent = send(egress, 'https://late.test/', { signal: aborter.signal });
      aborter.abort();
      expect(await sent).toEqual(ABORTED);
      if (end === 'resolves') resolve(['127.0.0.1']);
      else reject(new Error('late'));
      await new Promise((done) => setImmediate(done));
      expect(connect).not.toHaveBeenCalled();
    }
  });

  test('while it connects', async () => {
    const sockets: Socket[] = [];
    const connect = () => {
      const socket = new Socket();
      sockets.push(socket);
      return socket;
    };
    const aborter = new AbortController();
    const sent = send(loopbackEgress({ connect }), 'https://127.0.0.1/', { signal: aborter.signal });
    await eventually(() => expect(sockets).toHaveLength(1));
    aborter.abort();
    expect(await sent).toEqual(ABORTED);
    expect(sockets[0]?.destroyed).toBe(true);
  });

  test('during the handshake', async () => {
    const server = await startTcpServer((socket) => socket.resume());
    const aborter = new AbortController();
    const sent = send(sharedEgress(), server.url(), { signal: aborter.signal });
    await eventually(() => expect(server.accepted).toHaveLength(1));
    aborter.abort();
    expect(await sent).toEqual(ABORTED);
    await eventually(() => expect(server.open()).toBe(0));
  });

  test.each([
    ['while it waits for the answer', ''],
    ['in the middle of the head of the answer', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['after informational answers', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'],
  ])('%s', async (_name, beginning) => {
    let requests = 0;
    const server = await startTlsServer((socket) =>
      socket.once('data', () => {
        requests += 1;
        if (beginning !== '') socket.write(beginning);
      }),
    );
    const aborter = new AbortController();
    const sent = send(sharedEgress(), server.url(), { signal: aborter.signal });
    await eventually(() => expect(requests).toBe(1));
    aborter.abort();
    expect(await sent).toEqual(ABORTED);
    await eventually(() => expect(server.open()).toBe(0));
  });

  test('on a reused connection, before anything is written', async () => {
    const server = await startHttpsServer((response) => response.end('ok'));
    const egress = sharedEgress();
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    const aborter = new AbortController();
    const sent = send(egress, server.url(), { signal: aborter.signal });
    aborter.abort();
    expect(await sent).toEqual(ABORTED);
    await eventually(() => expect(server.open()).toBe(0));
    expect(await send(egress, server.url())).toEqual(ANSWERED);
  });

  test('at any moment, and no connection stays open', async () => {
    const server = await startHttpsServer((response) => response.end('ok'));
    const egress = loopbackEgress();
    const kinds = new Set<string>();
    for (let delay = 0; delay < 60; delay += 1) {
      const aborter = new AbortController();
      const sent = send(egress, server.url('/', `n${delay}.receiver.test`), { signal: aborter.signal });
      for (let tick = 0; tick < delay; tick += 1) await new Promise((done) => setImmediate(done));
      aborter.abort();
      kinds.add((await sent).kind);
    }
    expect([...kinds].toSorted()).toEqual(['answered', 'failed']);
    await egress.close();
    await eventually(() => expect(server.open()).toBe(0));
  });
});
