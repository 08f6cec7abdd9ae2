/** The pool keeps nothing of an origin that has no connection. */
import { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemTimers } from '#src/system/timers.ts';
import { CA, CUSTOMER, eventually, LOOPBACK, startHttpsServer } from '#test/egress/harness.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Connector } from './connector.ts';
import { type Connect, tcpConnect } from './dial.ts';
import { Exchange } from './exchange.ts';

function harness(connect: Connect = tcpConnect) {
  const resolve = (name: string) => Promise.resolve(name.startsWith('gone') ? [] : ['127.0.0.1']);
  const options = { allow: LOOPBACK, allowHttp: false, certificates: CA };
  const pool = new ConnectionPool(
    new Connector(options, { timers: systemTimers, connect, resolve }),
    systemTimers,
    false,
  );
  onTestFinished(() => pool.close());
  const send = (url: URL, onStarted: (exchange: Exchange) => void = () => {}) =>
    new Promise((resolve) => {
      const options = { method: 'GET', path: '/' } as const;
      const exchange = new Exchange(
        { pool, timers: systemTimers },
        { url, customer: CUSTOMER, isOverdue: false, excerptBytesMax: 0 },
        options,
        {
          onEnd: resolve,
          onConnected: () => {},
        },
      );
      exchange.start();
      onStarted(exchange);
    });
  return { pool, send };
}

test('connections that failed, were refused or were aborted leave the pool', async () => {
  const connect: Connect = () => new Socket().destroy(new Error('refused'));
  const { pool, send } = harness(connect);
  for (let n = 0; n < 200; n += 1) {
    await send(new URL(`https://gone${n}.test/`));
    await send(new URL(`https://down${n}.test/`));
    await send(new URL(`https://10.0.${n}.1/`));
    await send(new URL(`https://late${n}.test/`), (exchange) => exchange.abort());
  }
  expect(pool.size).toBe(0);
});

test('connections that the server closes leave the pool', async () => {
  const server = await startHttpsServer((response) => response.end());
  const { pool, send } = harness();
  for (let n = 0; n < 40; n += 1) await send(server.url('/', `n${n}.receiver.test`));
  await eventually(() => expect(pool.size).toBe(40));
  for (const socket of server.accepted) socket.end();
  await eventually(() => expect(pool.size).toBe(0));
});
