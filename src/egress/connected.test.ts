/** When there is a connection to write on, and whether it was open before. */
import { expect, test } from 'vitest';
import { ANSWERED, httpsRig, loopbackEgress, send, tcpRig } from '#test/egress/rig.ts';

test('a request tells when its connection is there, and whether it had to be made', async () => {
  const rig = await httpsRig((response) => response.end('ok'));
  const egress = loopbackEgress();
  const told: boolean[] = [];
  const onConnected = (wasOpen: boolean) => void told.push(wasOpen);
  expect(await send(egress, rig.url(), { onConnected })).toEqual(ANSWERED);
  expect(told).toEqual([false]);
  expect(await send(egress, rig.url(), { onConnected })).toEqual(ANSWERED);
  expect(told).toEqual([false, true]);
  expect(rig.accepted).toHaveLength(1);
});

test('one that cannot be made is never told of', async () => {
  const rig = await tcpRig((socket) => socket.destroy());
  const told: boolean[] = [];
  const onConnected = (wasOpen: boolean) => void told.push(wasOpen);
  expect(await send(loopbackEgress(), rig.url(), { onConnected })).toMatchObject({ kind: 'failed' });
  expect(await send(loopbackEgress(), 'https://10.0.0.1/', { onConnected })).toMatchObject({
    kind: 'forbidden',
  });
  expect(told).toEqual([]);
});
