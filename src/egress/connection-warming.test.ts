/** Connections are opened ahead of requests that are expected. */
import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import {
  ANSWERED,
  CUSTOMER,
  eventually,
  loopbackEgress,
  ScriptedTimers,
  send,
  startHttpsServer,
  startTcpServer,
  startTlsServer,
} from '#test/egress/harness.ts';

test('warm connections are used by the requests, and only as many are opened as were asked for', async () => {
  const server = await startHttpsServer((response) => response.end('ok'));
  const egress = loopbackEgress();
  egress.warm(server.url('/a'), 3, CUSTOMER);
  egress.warm(server.url('/b'), 3, CUSTOMER);
  await eventually(() => expect(server.accepted).toHaveLength(3));
  const sent = await Promise.all([1, 2, 3].map(() => send(egress, server.url())));
  expect(sent).toEqual([ANSWERED, ANSWERED, ANSWERED]);
  egress.warm(server.url(), 3, CUSTOMER);
  expect(await send(egress, server.url())).toEqual(ANSWERED);
  expect(server.accepted).toHaveLength(3);
});

test('nothing is sent over a warm connection until there is a request', async () => {
  const seen: string[] = [];
  const server = await startTlsServer((socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString('latin1'));
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    }),
  );
  const egress = loopbackEgress();
  egress.warm(server.url(), 1, CUSTOMER);
  await eventually(() => expect(server.accepted).toHaveLength(1));
  expect(await send(egress, server.url('/hook'))).toEqual(ANSWERED);
  expect(seen.join('')).toMatch(/^POST \/hook HTTP/);
  expect(server.accepted).toHaveLength(1);
});

test('a warm connection that the server closes is not used', async () => {
  const server = await startHttpsServer((response) => response.end('ok'));
  const egress = loopbackEgress();
  egress.warm(server.url(), 2, CUSTOMER);
  await eventually(() => expect(server.accepted).toHaveLength(2));
  for (const socket of server.accepted) socket.end();
  await eventually(() => expect(server.open()).toBe(0));
  expect(await send(egress, server.url())).toEqual(ANSWERED);
});

test('warm connections are guarded like any other', async () => {
  const connect = vi.fn<() => Socket>(() => new Socket());
  const resolve = vi.fn<() => Promise<readonly string[]>>(() => Promise.resolve(['127.0.0.1', '10.0.0.1']));
  const egress = loopbackEgress({ connect, resolve });
  for (const url of ['http://127.0.0.1/', 'https://10.0.0.1/', 'https://localhost/', 'ftp://127.0.0.1/'])
    egress.warm(new URL(url), 2, CUSTOMER);
  expect(resolve).not.toHaveBeenCalled();
  egress.warm(new URL('https://mixed.test/'), 2, CUSTOMER);
  await eventually(() => expect(resolve).toHaveBeenCalled());
  await new Promise((done) => setImmediate(done));
  expect(connect).not.toHaveBeenCalled();
});

test('a warm connection that fails to open is ignored', async () => {
  const server = await startTcpServer((socket) => socket.destroy());
  const egress = loopbackEgress();
  egress.warm(server.url(), 2, CUSTOMER);
  egress.warm(new URL(`https://127.0.0.2:${server.port}/`), 2, CUSTOMER);
  await eventually(() => expect(server.accepted).toHaveLength(2));
  expect(await send(egress, `https://127.0.0.2:${server.port}/`)).toEqual({
    kind: 'failed',
    failure: 'connection_refused',
  });
});

test('warm connections are bounded over all origins, and close with the client', async () => {
  const sockets: Socket[] = [];
  const connect = () => {
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  // On a busy machine it takes so long that connections would time out meanwhile.
  const timers = new ScriptedTimers({ areZeroDelaysReal: true });
  const egress = loopbackEgress({ connect, timers });
  for (let n = 0; n < 100; n += 1) egress.warm(new URL(`https://n${n}.receiver.test/`), 10, CUSTOMER);
  await eventually(() => expect(sockets).toHaveLength(500));
  await egress.close();
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  egress.warm(new URL('https://late.receiver.test/'), 1, CUSTOMER);
  await new Promise((done) => setImmediate(done));
  expect(sockets).toHaveLength(500);
});
