/** Tests when a request reports its connection, and whether it was open before. */
import { expect, test } from 'vitest';
import { ANSWERED, loopbackEgress, send, startHttpsServer, startTcpServer } from '#test/egress/harness.ts';

test('a request reports when it has a connection, and whether that was open before', async () => {
  const server = await startHttpsServer((response) => response.end('ok'));
  const egress = loopbackEgress();
  const reported: boolean[] = [];
  const onConnected = (wasOpen: boolean) => void reported.push(wasOpen);
  expect(await send(egress, server.url(), { onConnected })).toEqual(ANSWERED);
  expect(reported).toEqual([false]);
  expect(await send(egress, server.url(), { onConnected })).toEqual(ANSWERED);
  expect(reported).toEqual([false, true]);
  expect(server.accepted).toHaveLength(1);
});

test('a connection that cannot be opened is not reported', async () => {
  const server = await startTcpServer((socket) => socket.destroy());
  const reported: boolean[] = [];
  const onConnected = (wasOpen: boolean) => void reported.push(wasOpen);
  expect(await send(loopbackEgress(), server.url(), { onConnected })).toMatchObject({ kind: 'failed' });
  expect(await send(loopbackEgress(), 'https://10.0.0.1/', { onConnected })).toMatchObject({
    kind: 'failed',
    failure: 'address_not_allowed',
  });
  expect(reported).toEqual([]);
});
