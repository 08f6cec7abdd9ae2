/** Nothing is kept of origins that are no longer connected. */
import { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemTimers } from '#src/system/timers.ts';
import { CA, CUSTOMER, eventually, httpsRig, LOOPBACK } from '#test/egress/rig.ts';
import { Connector } from './connector.ts';
import { type Connect, tcpConnect } from './dial.ts';
import { Exchange } from './exchange.ts';
import { Lanes } from './lanes.ts';

function harness(connect: Connect = tcpConnect) {
  const resolve = (name: string) => Promise.resolve(name.startsWith('gone') ? [] : ['127.0.0.1']);
  const options = { allow: LOOPBACK, allowHttp: false, certificates: CA };
  const lanes = new Lanes(new Connector(options, { timers: systemTimers, connect, resolve }), systemTimers);
  onTestFinished(() => lanes.close());
  const send = (url: URL, onBegun: (exchange: Exchange) => void = () => {}) =>
    new Promise((resolve) => {
      const options = { method: 'GET', path: '/' } as const;
      const exchange = new Exchange({ lanes, timers: systemTimers }, { url, customer: CUSTOMER }, options, {
        onEnd: resolve,
        onConnected: () => {},
      });
      exchange.begin();
      onBegun(exchange);
    });
  return { lanes, send };
}

test('lanes end with what failed, was refused or was broken off', async () => {
  const connect: Connect = () => new Socket().destroy(new Error('refused'));
  const { lanes, send } = harness(connect);
  for (let n = 0; n < 200; n += 1) {
    await send(new URL(`https://gone${n}.test/`));
    await send(new URL(`https://down${n}.test/`));
    await send(new URL(`https://10.0.${n}.1/`));
    await send(new URL(`https://late${n}.test/`), (exchange) => exchange.breakOff());
  }
  expect(lanes.size).toBe(0);
});

test('lanes end with their connections', async () => {
  const rig = await httpsRig((response) => response.end());
  const { lanes, send } = harness();
  for (let n = 0; n < 40; n += 1) await send(rig.url('/', `n${n}.receiver.test`));
  await eventually(() => expect(lanes.size).toBe(40));
  for (const socket of rig.accepted) socket.end();
  await eventually(() => expect(lanes.size).toBe(0));
});
