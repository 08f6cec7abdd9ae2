/** A request can be broken off at any moment: at once, and leaving nothing open. */
import { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import {
  ANSWERED,
  BROKEN_OFF,
  eventually,
  httpsRig,
  loopbackEgress,
  send,
  sharedEgress,
  tcpRig,
  tlsRig,
} from '#test/egress/rig.ts';

describe('broken off', () => {
  test('as soon as it has begun', async () => {
    const rig = await httpsRig((response) => response.end());
    expect(await send(sharedEgress(), rig.url(), { signal: AbortSignal.abort() })).toEqual(BROKEN_OFF);
    expect(rig.accepted).toHaveLength(0);
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
    expect(await sent).toEqual(BROKEN_OFF);
    expect(signals[0]?.aborted).toBe(true);
  });

  test('and a name that resolves, or fails to, afterwards changes nothing', async () => {
    for (const end of ['resolves', 'rejects'] as const) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const connect = vi.fn<() => Socket>(() => new Socket());
      const aborter = new AbortController();
      const egress = loopbackEgress({ resolve: () => promise, connect });
      const sent = send(egress, 'https://late.test/', { signal: aborter.signal });
      aborter.abort();
      expect(await sent).toEqual(BROKEN_OFF);
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
    expect(await sent).toEqual(BROKEN_OFF);
    expect(sockets[0]?.destroyed).toBe(true);
  });

  test('in the handshake', async () => {
    const rig = await tcpRig((socket) => socket.resume());
    const aborter = new AbortController();
    const sent = send(sharedEgress(), rig.url(), { signal: aborter.signal });
    await eventually(() => expect(rig.accepted).toHaveLength(1));
    aborter.abort();
    expect(await sent).toEqual(BROKEN_OFF);
    await eventually(() => expect(rig.open()).toBe(0));
  });

  test.each([
    ['while it waits for the answer', ''],
    ['in the middle of the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['after informational answers', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'],
  ])('%s', async (_name, beginning) => {
    let requests = 0;
    const rig = await tlsRig((socket) =>
      socket.once('data', () => {
        requests += 1;
        if (beginning !== '') socket.write(beginning);
      }),
    );
    const aborter = new AbortController();
    const sent = send(sharedEgress(), rig.url(), { signal: aborter.signal });
    await eventually(() => expect(requests).toBe(1));
    aborter.abort();
    expect(await sent).toEqual(BROKEN_OFF);
    await eventually(() => expect(rig.open()).toBe(0));
  });

  test('on a connection that is used again, before anything is written', async () => {
    const rig = await httpsRig((response) => response.end('ok'));
    const egress = sharedEgress();
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
    const aborter = new AbortController();
    const sent = send(egress, rig.url(), { signal: aborter.signal });
    aborter.abort();
    expect(await sent).toEqual(BROKEN_OFF);
    await eventually(() => expect(rig.open()).toBe(0));
    expect(await send(egress, rig.url())).toEqual(ANSWERED);
  });

  test('at any moment at all', async () => {
    const rig = await httpsRig((response) => response.end('ok'));
    const egress = loopbackEgress();
    const kinds = new Set<string>();
    for (let delay = 0; delay < 60; delay += 1) {
      const aborter = new AbortController();
      const sent = send(egress, rig.url('/', `n${delay}.receiver.test`), { signal: aborter.signal });
      for (let turn = 0; turn < delay; turn += 1) await new Promise((done) => setImmediate(done));
      aborter.abort();
      kinds.add((await sent).kind);
    }
    expect([...kinds].toSorted()).toEqual(['answered', 'failed']);
    await egress.close();
    await eventually(() => expect(rig.open()).toBe(0));
  });
});
