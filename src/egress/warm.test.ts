/** Connections opened ahead of the requests that are known to come. */
import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import {
  ANSWERED,
  CUSTOMER,
  eventually,
  httpsRig,
  loopbackEgress,
  send,
  tcpRig,
  tlsRig,
} from '#test/egress/rig.ts';

test('are used by the requests, and only as many are made as were asked for', async () => {
  const rig = await httpsRig((response) => response.end('ok'));
  const egress = loopbackEgress();
  egress.warm(rig.url('/a'), 3, CUSTOMER);
  egress.warm(rig.url('/b'), 3, CUSTOMER);
  await eventually(() => expect(rig.accepted).toHaveLength(3));
  const sent = await Promise.all([1, 2, 3].map(() => send(egress, rig.url())));
  expect(sent).toEqual([ANSWERED, ANSWERED, ANSWERED]);
  egress.warm(rig.url(), 3, CUSTOMER);
  expect(await send(egress, rig.url())).toEqual(ANSWERED);
  expect(rig.accepted).toHaveLength(3);
});

test('say nothing until there is a request', async () => {
  const seen: string[] = [];
  const rig = await tlsRig((socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString('latin1'));
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    }),
  );
  const egress = loopbackEgress();
  egress.warm(rig.url(), 1, CUSTOMER);
  await eventually(() => expect(rig.accepted).toHaveLength(1));
  expect(await send(egress, rig.url('/hook'))).toEqual(ANSWERED);
  expect(seen.join('')).toMatch(/^POST \/hook HTTP/);
  expect(rig.accepted).toHaveLength(1);
});

test('that the other side closes are left behind', async () => {
  const rig = await httpsRig((response) => response.end('ok'));
  const egress = loopbackEgress();
  egress.warm(rig.url(), 2, CUSTOMER);
  await eventually(() => expect(rig.accepted).toHaveLength(2));
  for (const socket of rig.accepted) socket.end();
  await eventually(() => expect(rig.open()).toBe(0));
  expect(await send(egress, rig.url())).toEqual(ANSWERED);
});

test('are guarded like any other', async () => {
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

test('that fail are nobody’s business', async () => {
  const rig = await tcpRig((socket) => socket.destroy());
  const egress = loopbackEgress();
  egress.warm(rig.url(), 2, CUSTOMER);
  egress.warm(new URL(`https://127.0.0.2:${rig.port}/`), 2, CUSTOMER);
  await eventually(() => expect(rig.accepted).toHaveLength(2));
  expect(await send(egress, `https://127.0.0.2:${rig.port}/`)).toEqual({
    kind: 'failed',
    why: 'connection refused',
  });
});

test('are bounded over all origins, and end with the egress', async () => {
  const sockets: Socket[] = [];
  const connect = () => {
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  const egress = loopbackEgress({ connect });
  for (let n = 0; n < 100; n += 1) egress.warm(new URL(`https://n${n}.receiver.test/`), 10, CUSTOMER);
  await eventually(() => expect(sockets).toHaveLength(500));
  await egress.close();
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  egress.warm(new URL('https://late.receiver.test/'), 1, CUSTOMER);
  await new Promise((done) => setImmediate(done));
  expect(sockets).toHaveLength(500);
});
